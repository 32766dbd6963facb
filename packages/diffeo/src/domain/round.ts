/**
 * Balls, spheres and angles.
 *
 *   ball     ‖y‖ < r in Rⁿ: y = r x/√(1 + ‖x‖²)
 *   sphere   ‖y‖ = 1 in Rⁿ, by stereographic projection of Rⁿ⁻¹ from the pole opposite to `centre`
 *   angle    the circle, the sphere of R²: θ ↦ (sin(θ − c), −cos(θ − c))
 *
 * No chart of Rᵐ covers a sphere. What is lost: the pole itself, to which no finite x belongs; near
 * it a density that is smooth on the sphere has tails in x like ‖x‖^{−2m}, and a model in x need
 * not meet itself there from all sides. So the pole belongs where there is least mass: `centre` is
 * the direction, or the angle, that data are around. A raw value closer to the pole than 10⁻⁵ goes
 * in as one at that distance. Densities are with respect to area on the sphere, and for angles to
 * the angle.
 */
import { affine, chain, stereographic, unitBall } from "../bijector/index.ts";
import { fail, matmul } from "../graph/index.ts";
import { type Cell, type Domain, domain, partCount } from "./domain.ts";

const norm = (values: readonly number[]): number => Math.hypot(...values);

/** Points of Rⁿ within a radius of 0; their coordinates by number or by name. */
export function ball(
  parts: number | readonly string[],
  { radius = 1 }: { readonly radius?: number } = {},
): Domain {
  const size = partCount(parts, 1, "ball");
  if (!(radius > 0 && Number.isFinite(radius)))
    fail("usage", `ball: the radius is ${radius}`, "give a number above 0");
  return domain({
    kind: "ball",
    spec: {
      kind: "ball",
      size: typeof parts === "number" ? parts : [...parts],
      ...(radius !== 1 && { radius }),
    },
    ...(typeof parts !== "number" && { names: parts }),
    map: radius === 1 ? unitBall() : chain(unitBall(), affine({ scale: radius })),
    dimension: size,
    fault: (y) =>
      norm(y) < radius ? undefined : `a point ${norm(y)} away from 0 is not within ${radius}`,
    decode: (y) => {
      const length = norm(Array.from(y));
      // A few roundings of a sum of squares inside.
      const shrink = length < radius ? 1 : (radius / length) * (1 - (size + 4) * Number.EPSILON);
      return Array.from(y, (v) => v * shrink);
    },
  });
}

/** How far the length of a point may be from 1, which is then made 1. */
const TOLERANCE = 1e-6;

/** Unit vectors of Rⁿ; their coordinates by number or by name. */
export function sphere(
  parts: number | readonly string[],
  { centre }: { readonly centre?: readonly number[] } = {},
): Domain {
  const size = partCount(parts, 2, "sphere");
  if (centre && (centre.length !== size || !(norm(centre) > 0 && Number.isFinite(norm(centre)))))
    fail(
      "usage",
      `sphere: the centre [${centre}] is not a direction in ${size} dimensions`,
      `give ${size} numbers, not all 0`,
    );
  const turn = centre ? reflection(centre) : (y: readonly number[]): number[] => [...y];
  const unit = (y: readonly number[]): number[] => y.map((v) => v / norm(y));
  return domain({
    kind: "sphere",
    spec: {
      kind: "sphere",
      size: typeof parts === "number" ? parts : [...parts],
      ...(centre && { centre: [...centre] }),
    },
    ...(typeof parts !== "number" && { names: parts }),
    map: stereographic(),
    dimension: size - 1,
    size,
    fault: (y) =>
      Math.abs(norm(y) - 1) > TOLERANCE
        ? `a vector of length ${norm(y)} is not a unit vector`
        : undefined,
    encode: (cells: readonly Cell[]) => offPole(turn(unit(cells as readonly number[]))),
    decode: (y) => unit(turn(Array.from(y))),
    // A reflection is linear: row i is where the i-th direction goes, and it is its own inverse.
    ...(centre && {
      values: (y) =>
        matmul(
          y,
          centre.map((_, i) => turn(centre.map((_, j) => (i === j ? 1 : 0)))),
        ),
    }),
  });
}

/**
 * Angles nearer to the pole than this go in as this, so that x and what is computed from it have
 * digits left.
 */
const NEAREST = 1e-5;

/** A unit vector, or the nearest that is not too near to the pole (0, …, 0, 1). */
function offPole(y: readonly number[]): number[] {
  const across = y.slice(0, -1);
  const length = norm(across);
  if (y[y.length - 1] < 0 || length >= Math.sin(NEAREST)) return [...y];
  const away = length > 0 ? across.map((v) => v / length) : across.map((_, i) => (i === 0 ? 1 : 0));
  return [...away.map((v) => v * Math.sin(NEAREST)), Math.cos(NEAREST)];
}

/** The reflection that takes a direction to (0, …, 0, −1), and that back to it. */
function reflection(centre: readonly number[]): (y: readonly number[]) => number[] {
  const length = norm(centre);
  const along = centre.map((v, i) => v / length - (i === centre.length - 1 ? -1 : 0));
  const squared = along.reduce((total, v) => total + v * v, 0);
  if (squared === 0) return (y) => [...y];
  return (y) => {
    const twice = (2 * y.reduce((total, v, i) => total + v * along[i], 0)) / squared;
    return y.map((v, i) => v - twice * along[i]);
  };
}

/** What a whole turn is. */
export interface AngleOptions {
  /** What a whole turn is: 360 for degrees, 24 for the hours of a day. Default 2π. */
  readonly period?: number;
  /** The angle that data are around, opposite to where the circle is cut. Default 0. */
  readonly centre?: number;
  /**
   * The least angle that comes out; all are within a period from it. Default half a period below
   * the centre.
   */
  readonly from?: number;
}

/** Angles, equal where they differ by whole turns. */
export function angle(options: AngleOptions = {}): Domain {
  const { period = 2 * Math.PI, centre = 0, from } = options;
  if (!(period > 0 && Number.isFinite(period)))
    fail("usage", `angle: the period is ${period}`, "give a number above 0");
  if (!Number.isFinite(centre))
    fail("usage", `angle: the centre is ${centre}`, "give a finite number");
  if (from !== undefined && !Number.isFinite(from))
    fail("usage", `angle: what comes out is from ${from}`, "give a finite number");
  /** Between 0 and a whole turn, the end not in it. */
  const within = (turned: number): number => ((turned % period) + period) % period;
  const radians = (cell: number): number => (2 * Math.PI * (cell - centre)) / period;
  return domain({
    kind: "angle",
    spec: { kind: "angle", ...options },
    map: stereographic(),
    dimension: 1,
    size: 2,
    cells: 1,
    logUnit: Math.log((2 * Math.PI) / period),
    fault: () => undefined,
    encode: ([cell]) =>
      offPole([Math.sin(radians(cell as number)), -Math.cos(radians(cell as number))]),
    decode: (y) => {
      const cell = centre + (period * Math.atan2(y[0], -y[1])) / (2 * Math.PI);
      if (from === undefined) return [cell];
      const turned = from + within(cell - from);
      // A sum may be rounded up to a whole turn.
      return [turned < from + period ? turned : from];
    },
  });
}
