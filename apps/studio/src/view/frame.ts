/**
 * The section of a plane that a panel shows, and the outline of a domain in it. A frame has the
 * coordinates u of the plane only; the code that makes it maps points of a sphere or a triangle to
 * them.
 */

export interface Frame {
  /** The lower left corner, and the length of the sides. */
  readonly low: readonly [number, number];
  readonly size: number;
  /** The corners of the domain, u₁ u₂ …, if it has a boundary. */
  readonly outline?: readonly number[];
}

/** A regular lattice over the frame: u₁ u₂ of each point, rows from below. */
export function lattice({ low, size }: Frame, n: number): Float64Array {
  const out = new Float64Array(2 * n * n);
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++) {
      out[2 * (i * n + j)] = low[0] + (size * (j + 0.5)) / n;
      out[2 * (i * n + j) + 1] = low[1] + (size * (i + 0.5)) / n;
    }
  return out;
}

/** Equidistant horizontal and vertical lines over a frame, with `along` points each. */
export function gridLines({ low, size }: Frame, lines: number, along: number): Float64Array[] {
  const out: Float64Array[] = [];
  for (let k = 0; k <= lines; k++)
    for (const turned of [0, 1]) {
      const points = new Float64Array(2 * along);
      for (let i = 0; i < along; i++) {
        points[2 * i + turned] = low[turned] + (size * i) / (along - 1);
        points[2 * i + 1 - turned] = low[1 - turned] + (size * k) / lines;
      }
      out.push(points);
    }
  return out;
}

const MARGIN = 0.08;

/** A frame around a domain with the given corners. */
export function around(outline: readonly number[]): Frame {
  const [us, vs] = [0, 1].map((axis) => outline.filter((_, i) => i % 2 === axis));
  const [left, right, below, above] = [
    Math.min(...us),
    Math.max(...us),
    Math.min(...vs),
    Math.max(...vs),
  ];
  const size = Math.max(right - left, above - below) * (1 + 2 * MARGIN);
  return { low: [(left + right - size) / 2, (below + above - size) / 2], size, outline };
}

/** The corners of a box. */
export const boxOutline = (a: number, b: number, c: number, d: number): number[] => [
  a,
  c,
  b,
  c,
  b,
  d,
  a,
  d,
];
/** A circle around 0 as a polygon. */
export const circleOutline = (radius: number): number[] =>
  Array.from({ length: 180 }, (_, k) => [
    radius * Math.cos((k * Math.PI) / 90),
    radius * Math.sin((k * Math.PI) / 90),
  ]).flat();
