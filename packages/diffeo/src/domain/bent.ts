/**
 * A domain whose map starts with an increasing function of every coordinate, so that data have
 * lighter tails, or are Gaussian, in x. With the argument z of the domain's own map:
 *
 *   sinh      z = c + s sinh x                    nearly linear within s of c, then x ~ log|z − c|
 *   spline    z = l + (h − l)(f(x) + B)/2B        f a rational-quadratic spline of [−B, B]
 *
 * The spline has bins of equal width in x. Outside [−B, B] it continues with its mean slope inside.
 */
import {
  affine,
  type Bijector,
  chain,
  coordinatewise,
  rationalQuadraticSpline,
} from "../bijector/index.ts";
import {
  add,
  asinh,
  constant,
  div,
  fail,
  log,
  log1p,
  mul,
  sinh,
  square,
  sub,
  type Tensor,
} from "../graph/index.ts";
import { type Domain, startOf } from "./domain.ts";
import { type Bend, LEAST_HEIGHT, type PlainSpec } from "./spec.ts";

/** B */
export const SPLINE_BOUND = 3;

/** ℓ = log s + log cosh x = log s + ½ log(1 + sinh² x) */
const sinhMap = (centre: readonly number[], scale: readonly number[]): Bijector => {
  const c = (x: Tensor): Tensor => constant(centre, x.dtype);
  const s = (x: Tensor): Tensor => constant(scale, x.dtype);
  return coordinatewise({
    name: "sinh",
    forward: (x) => add(mul(sinh(x), s(x)), c(x)),
    inverse: (z) => asinh(div(sub(z, c(z)), s(z))),
    logSlope: (x) => add(mul(log1p(square(sinh(x))), 0.5), log(s(x))),
  });
};

/** The spline's parameter p of a slope, softplus(p + softplus⁻¹(1 − LEAST)) + LEAST. */
const slopeParameter = (slope: number): number =>
  Math.log(Math.expm1(Math.max(slope - LEAST_HEIGHT, LEAST_HEIGHT))) -
  Math.log(Math.expm1(1 - LEAST_HEIGHT));

function splineMap({ low, high, heights, slopes }: Extract<Bend, { kind: "spline" }>): Bijector {
  const spline = rationalQuadraticSpline({
    widths: heights.map((shares) => shares.map(() => 0)),
    heights: heights.map((shares) => shares.map((share) => Math.log(share - LEAST_HEIGHT))),
    slopes: slopes.map((some) => some.map(slopeParameter)),
    bound: SPLINE_BOUND,
  });
  const scale = low.map((l, j) => (high[j] - l) / (2 * SPLINE_BOUND));
  return chain(spline, affine({ scale, shift: low.map((l, j) => l + SPLINE_BOUND * scale[j]) }));
}

/** Describes why a bend does not fit n coordinates; undefined if it does. */
function fault(bend: Bend, n: number): string | undefined {
  const lists =
    bend.kind === "sinh"
      ? [bend.centre, bend.scale]
      : [bend.low, bend.high, bend.heights, bend.slopes];
  const odd = lists.find((list) => list.length !== n);
  if (odd) return `${odd.length} numbers for ${n} coordinates`;
  if (bend.kind === "sinh") return undefined;
  const [{ length: bins }] = bend.heights;
  return bend.heights.every((heights) => heights.length === bins && heights.length >= 2) &&
    bend.slopes.every((slopes) => slopes.length === bins - 1) &&
    bend.low.every((low, j) => low < bend.high[j])
    ? undefined
    : "the numbers of bins, slopes and ends do not match";
}

/** A domain with bent coordinates. The domain must be one of the library's numeric domains. */
export function bent(domain: Domain, bend: Bend): Domain {
  const wrong = fault(bend, domain.dimension);
  if (wrong !== undefined) fail("usage", `bent: ${wrong}`, "give numbers for every coordinate");
  if (
    domain.spec &&
    ["category", "mixed", "empirical", "date", "bent", "product"].includes(domain.spec.kind)
  )
    fail(
      "usage",
      `bent: a domain of kind ${domain.spec.kind} cannot be bent`,
      "give a domain of numbers",
    );
  const map = chain(
    bend.kind === "sinh" ? sinhMap(bend.centre, bend.scale) : splineMap(bend),
    domain.map,
  );
  return {
    ...domain,
    ...(domain.spec && { spec: { kind: "bent", domain: domain.spec as PlainSpec, bend } }),
    map,
    start: startOf(map, domain.dimension),
  };
}
