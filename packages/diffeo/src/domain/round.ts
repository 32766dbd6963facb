/**
 * Balls, spheres and angles.
 *
 *   ball     ‖y‖ < r in Rⁿ: y = r x/√(1 + ‖x‖²)
 *   sphere   ‖y‖ = 1 in Rⁿ, by stereographic projection of Rⁿ⁻¹ from the pole opposite to `centre`
 *   angle    the circle, the sphere of R²: θ ↦ (sin(θ − c), −cos(θ − c))
 *
 * No chart of Rᵐ covers a sphere: the pole has no finite x. Close to it a density that is smooth on
 * the sphere has tails in x like ‖x‖^{−2m}, and a model in x may be discontinuous there. So the
 * pole should be where there is least mass: `centre` is the direction, or the angle, around which
 * the data are. A raw value closer to the pole than 10⁻⁵ is encoded as one at that distance.
 * Densities are with respect to area on the sphere, and for angles with respect to the angle.
 */
import { affine, chain, stereographic, unitBall } from "../bijector/index.ts";
import { fail, matmul } from "../graph/index.ts";
import { type Cell, type Domain, domain, partCount } from "./domain.ts";

const norm = (values: readonly number[]): number => Math.hypot(...values);

/**
 * The domain of points of Rⁿ within a radius of 0; n is given as a number, or by the names of the
 * coordinates.
 */
export function ball(
  parts: number | readonly string[],
  { radius = 1 }: { readonly radius?: number } = {},
): Domain {
  const size = partCount(parts, 1, "ball");
  if (!(radius > 0 && Number.isFinite(radius)))
    fail("usage", `ball: \`radius\` is ${radius}`, "give a number above 0");
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
      norm(y) < radius
        ? undefined
        : `the distance ${norm(y)} from 0 is not below the radius ${radius}`,
    decode: (y) => {
      const length = norm(Array.from(y));
      // Smaller by a few roundings of a sum of squares.
      const shrink = length < radius ? 1 : (radius / length) * (1 - (size + 4) * Number.EPSILON);
      return Array.from(y, (v) => v * shrink);
    },
  });
}

/** The tolerance of the length of a point, which is then normalised. */
const TOLERANCE = 1e-6;

/** The domain of unit vectors of Rⁿ; n is given as a number, or by the names of the coordinates. */
export function sphere(
  parts: number | readonly string[],
  { centre }: { readonly centre?: readonly number[] } = {},
): Domain {
  const size = partCount(parts, 2, "sphere");
  if (centre && (centre.length !== size || !(norm(centre) > 0 && Number.isFinite(norm(centre)))))
    fail(
      "usage",
      `sphere: \`centre\` is [${centre}], not a direction in ${size} dimensions`,
      `give ${size} finite numbers that are not all 0`,
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
      Math.abs(norm(y) - 1) > TOLERANCE ? `the vector has length ${norm(y)}, not 1` : undefined,
    encode: (cells: readonly Cell[]) => offPole(turn(unit(cells as readonly number[]))),
    decode: (y) => unit(turn(Array.from(y))),
    // A reflection is linear and its own inverse; row i is the image of the i-th direction.
    ...(centre && {
      values: (y) =>
        matmul(
          y,
          centre.map((_, i) => turn(centre.map((_, j) => (i === j ? 1 : 0)))),
        ),
    }),
  });
}

/** Angles closer to the pole are encoded at this distance, so that x keeps enough digits. */
const NEAREST = 1e-5;

/** A unit vector, or the closest one that is not too close to the pole (0, …, 0, 1). */
function offPole(y: readonly number[]): number[] {
  const across = y.slice(0, -1);
  const length = norm(across);
  if (y[y.length - 1] < 0 || length >= Math.sin(NEAREST)) return [...y];
  const away = length > 0 ? across.map((v) => v / length) : across.map((_, i) => (i === 0 ? 1 : 0));
  return [...away.map((v) => v * Math.sin(NEAREST)), Math.cos(NEAREST)];
}

/** The reflection that exchanges a direction and (0, …, 0, −1). */
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

/** Options of `angle`. */
export interface AngleOptions {
  /** A full turn: 360 for degrees, 24 for the hours of a day. Default 2π. */
  readonly period?: number;
  /** The angle around which the data are; the circle is cut opposite to it. Default 0. */
  readonly centre?: number;
  /**
   * The least decoded angle; all are within a period from it. Default: half a period below the
   * centre.
   */
  readonly from?: number;
}

/** The domain of angles, which are equal if they differ by full turns. */
export function angle(options: AngleOptions = {}): Domain {
  const { period = 2 * Math.PI, centre = 0, from } = options;
  if (!(period > 0 && Number.isFinite(period)))
    fail("usage", `angle: \`period\` is ${period}`, "give a number above 0");
  if (!Number.isFinite(centre))
    fail("usage", `angle: \`centre\` is ${centre}`, "give a finite number");
  if (from !== undefined && !Number.isFinite(from))
    fail("usage", `angle: \`from\` is ${from}`, "give a finite number");
  /** Reduces an angle to at least 0 and less than a full turn. */
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
      // A sum may be rounded up to a full turn.
      return [turned < from + period ? turned : from];
    },
  });
}
