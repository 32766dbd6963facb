/** The lattices, arrows and grids of the two pictures. */
import type { NdArray } from "diffeo/graph";
import { type Frame, gridLines, lattice } from "../../view/frame.ts";
import type { Graphs } from "./graphs.ts";
import { plane, type Space } from "./maps.ts";
import { ARROWS, type Panel, SHADES } from "./shapes.ts";

/** Points of n coordinates as an array of the engine. */
export const points = (data: Float64Array, n: number): NdArray => ({
  shape: [data.length / n, n],
  dtype: "float64",
  data,
});
export const numbers = ({ data }: NdArray): Float64Array => data as Float64Array;

/**
 * Point or arrow i in the picture; of three coordinates the second is left out (seen from the
 * front).
 */
export const seen = (data: ArrayLike<number>, i: number, m: number): [number, number] =>
  m === 2 ? [data[2 * i], data[2 * i + 1]] : [data[3 * i], data[3 * i + 2]];

/** The points of a space at coordinates of its picture. */
export const lifted = (space: Space, u: Float64Array): Float64Array => space.lift?.(u) ?? u;

/** A frame for the image of a typed map: around the region where p has its mass. */
export function frameOf(y: Float64Array, logp: Float64Array): Frame {
  const most = logp
    .filter(Number.isFinite)
    .reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const ends = [0, 1].map((axis) => {
    const values = [...logp.keys()]
      .filter((i) => logp[i] > most - 3.6 && Number.isFinite(y[2 * i + axis]))
      .map((i) => y[2 * i + axis])
      .sort((a, b) => a - b);
    const at = (share: number): number => values[Math.floor(share * (values.length - 1))] ?? 0;
    return [at(0.005), at(0.995)] as const;
  });
  const size = 1.15 * Math.max(0.02, ...ends.map(([a, b]) => b - a));
  return { low: ends.map(([a, b]) => (a + b - size) / 2) as [number, number], size };
}

/**
 * The largest |s − d|∞ / max(1, |s|∞) among the points inside the domain, and how many there are;
 * the differences d come axis by axis.
 */
export function errorOf(
  score: Float64Array,
  differences: Float64Array,
  m: number,
  inside?: NdArray,
): [number, number] {
  const count = score.length / m;
  let [worst, used] = [0, 0];
  for (let i = 0; i < count; i++) {
    if (inside && !inside.data[i]) continue;
    let [gap, size] = [0, 1];
    for (let k = 0; k < m; k++) {
      gap = Math.max(gap, Math.abs(score[i * m + k] - differences[k * count + i]));
      size = Math.max(size, Math.abs(score[i * m + k]));
    }
    if (!Number.isFinite(gap / size)) continue;
    worst = Math.max(worst, gap / size);
    used++;
  }
  return [worst, used];
}

/** The grid of x, larger than its frame: points far out in x are near the boundary in y. */
const linesOf = (space: Space): Float64Array[] =>
  space.frame.outline
    ? gridLines(space.frame, 10, 161)
    : gridLines({ low: [-6, -6], size: 12 }, 12, 161);

export async function panelX({ logp, scoreX, map }: Graphs): Promise<Panel> {
  const { frame } = map.domain ?? plane;
  const where = lattice(frame, ARROWS);
  return {
    frame,
    shades: Float32Array.from(numbers(await logp(points(lattice(frame, SHADES), 2)))),
    points: Float32Array.from(where),
    arrows: Float32Array.from(numbers(await scoreX(points(where, 2)))),
    grid: linesOf(map.domain ?? plane).map((line) => Float32Array.from(line)),
  };
}

export async function gridY(
  { forward, map, dimension: m }: Graphs,
  t: number,
): Promise<Float32Array[]> {
  const lines = linesOf(map.domain ?? plane);
  const whole = Float64Array.from(lines.flatMap((line) => [...line]));
  const y = numbers(await forward(points(whole, 2), t));
  const along = lines[0].length / 2;
  return lines.map((_, k) => {
    const out = new Float32Array(2 * along);
    for (let i = 0; i < along; i++) {
      const front = map.image.front?.(y, k * along + i) ?? true;
      out.set(front ? seen(y, k * along + i, m) : [Number.NaN, Number.NaN], 2 * i);
    }
    return out;
  });
}
