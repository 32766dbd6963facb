/**
 * Every map by name, at a typical size. `diffeo check` and the property tests run over this list.
 */
import { add, constant, cos, exp, fail, mul, type Shape, sin, sum, tanh } from "../graph/index.ts";
import { additiveLogistic } from "./additive-logistic.ts";
import { affine, affineMatrix } from "./affine.ts";
import { affineCoupling } from "./affine-coupling.ts";
import type { Bijector } from "./bijector.ts";
import { blocks } from "./blocks.ts";
import { chain } from "./chain.ts";
import { correlationMap } from "./correlation.ts";
import { each } from "./each.ts";
import { expMap } from "./exp.ts";
import { identity } from "./identity.ts";
import { invert } from "./invert.ts";
import { isometricLogRatio } from "./isometric-log-ratio.ts";
import { logCholesky } from "./log-cholesky.ts";
import { ordered } from "./ordered.ts";
import { permutation } from "./permutation.ts";
import { sigmoidMap } from "./sigmoid.ts";
import { softplusMap } from "./softplus.ts";
import { rationalQuadraticSpline } from "./spline.ts";
import { stereographic } from "./stereographic.ts";
import { stickBreaking } from "./stick-breaking.ts";
import { tanhMap } from "./tanh.ts";
import { timeAffine } from "./time-affine.ts";
import { unitBall } from "./unit-ball.ts";
import { whereMask } from "./where-mask.ts";

/** A map of the catalogue, with an event shape for tests. */
export interface MapEntry {
  readonly name: string;
  readonly map: Bijector;
  /** The shape of one event of x. */
  readonly event: Shape;
  /** The domain of y. */
  readonly domain: string;
  /** A map from Rⁿ onto the domain of x, if that is not all of Rⁿ. */
  readonly from?: Bijector;
}

const simplex = "y > 0, Σy < 1";
const coupling = (flip: boolean): Bijector =>
  affineCoupling({
    keep: 2,
    flip,
    conditioner: (kept) => ({
      logScale: mul(tanh(kept), 0.8),
      shift: add(sin(kept), mul(kept, 0.3)),
    }),
  });
/** A coupling that changes the coordinates outside a mask. */
const masked = (keep: readonly number[]): Bijector =>
  affineCoupling({
    keep,
    conditioner: (kept) => {
      const total = sum(kept, -1, { keepDims: true });
      const wave = mul(total, constant([0.3, -0.5, 0.7], kept.dtype));
      return { logScale: tanh(wave), shift: add(sin(wave), 0.2) };
    },
  });
const spline = rationalQuadraticSpline({
  widths: [
    [0.3, -0.5, 0.8, 0, -0.2],
    [-0.4, 0.6, 0.1, 0.9, -0.7],
    [0, 0.2, 0.4, -0.6, 0.5],
  ],
  heights: [
    [-0.2, 0.7, -0.6, 0.4, 0.1],
    [0.5, -0.3, 0.2, -0.8, 0.6],
    [0.9, -0.1, -0.5, 0.3, 0],
  ],
  slopes: [
    [0.4, -0.6, 1.1, -0.3],
    [-0.9, 0.5, 0.2, 0.7],
    [0.1, 0.8, -0.4, -0.7],
  ],
});
const matrix = [
  [1.2, -0.3, 0.5],
  [0.4, 0.9, -0.7],
  [-0.2, 0.6, 1.1],
];

/** One map of every kind, by name. The property tests and `diffeo check` run over it. */
export const catalogue: readonly MapEntry[] = [
  { name: "identity", map: identity(), event: [3], domain: "Rⁿ" },
  {
    name: "affine",
    map: affine({ scale: [2, -0.5, 1.5], shift: [1, 0, -2] }),
    event: [3],
    domain: "Rⁿ",
  },
  { name: "affineMatrix", map: affineMatrix(matrix, [0.5, -1, 2]), event: [3], domain: "Rⁿ" },
  { name: "expMap", map: expMap(), event: [3], domain: "y > 0" },
  { name: "softplusMap", map: softplusMap(), event: [3], domain: "y > 0" },
  { name: "sigmoidMap", map: sigmoidMap(-1, 3), event: [3], domain: "−1 < y < 3" },
  { name: "tanhMap", map: tanhMap(), event: [3], domain: "−1 < y < 1" },
  { name: "additiveLogistic", map: additiveLogistic(), event: [4], domain: simplex },
  { name: "isometricLogRatio", map: isometricLogRatio(), event: [4], domain: simplex },
  { name: "stickBreaking", map: stickBreaking(), event: [4], domain: simplex },
  {
    name: "stickBreakingPlain",
    map: stickBreaking({ centred: false }),
    event: [4],
    domain: simplex,
  },
  { name: "ordered", map: ordered(), event: [4], domain: "y₁ < y₂ < … < y_n" },
  { name: "unitBall", map: unitBall(), event: [3], domain: "‖y‖ < 1" },
  {
    name: "stereographic",
    map: stereographic(),
    event: [3],
    domain: "‖y‖ = 1 in Rⁿ⁺¹, less one pole",
  },
  {
    name: "logCholesky",
    map: logCholesky(),
    event: [6],
    domain: "lower triangles of positive-definite matrices",
  },
  {
    name: "correlationMap",
    map: correlationMap(),
    event: [3],
    domain: "correlations of a positive-definite matrix",
  },
  { name: "affineCoupling", map: coupling(false), event: [4], domain: "Rⁿ" },
  { name: "affineCouplingMask", map: masked([1, 0, 0, 1, 0]), event: [5], domain: "Rⁿ" },
  { name: "permutation", map: permutation([2, 0, 3, 1]), event: [4], domain: "Rⁿ" },
  { name: "rationalQuadraticSpline", map: spline, event: [3], domain: "Rⁿ" },
  {
    name: "timeAffine",
    map: timeAffine({ scale: (t) => exp(mul(t, -0.7)), shift: (t) => cos(mul(t, 3)) }),
    event: [3],
    domain: "Rⁿ",
  },
  {
    name: "chain",
    map: chain(coupling(false), coupling(true), additiveLogistic()),
    event: [4],
    domain: simplex,
  },
  {
    name: "chainStereographic",
    map: chain(affineMatrix(matrix), stereographic()),
    event: [3],
    domain: "‖y‖ = 1 in Rⁿ⁺¹",
  },
  { name: "invertExpMap", map: invert(expMap()), event: [3], domain: "Rⁿ", from: expMap() },
  {
    name: "invertAdditiveLogistic",
    map: invert(additiveLogistic()),
    event: [3],
    domain: "Rⁿ",
    from: additiveLogistic(),
  },
  {
    name: "eachAdditiveLogistic",
    map: each(additiveLogistic(), 2),
    event: [2, 2, 3],
    domain: `${simplex} on every site`,
  },
  {
    name: "eachTimeAffine",
    map: each(
      chain(timeAffine({ scale: (t) => add(mul(t, 0.5), 1), shift: (t) => sin(t) }), sigmoidMap()),
      1,
    ),
    event: [2, 3],
    domain: "0 < y < 1",
  },
  {
    name: "blocks",
    map: blocks([
      { map: unitBall(), size: 2 },
      { map: stereographic(), size: 2, sizeY: 3 },
      { map: expMap(), size: 1 },
    ]),
    event: [5],
    domain: "a ball, a sphere, a positive number",
  },
  {
    name: "whereMask",
    map: whereMask([1, 0, 1], sigmoidMap(), softplusMap()),
    event: [3],
    domain: "0 < y < 1 or y > 0",
  },
  {
    name: "eachWhereMask",
    map: each(whereMask([1, 0, 1], additiveLogistic(), unitBall())),
    event: [3, 2],
    domain: `${simplex} on some sites, ‖y‖ < 1 on others`,
  },
];

/** The entry with the given name. The error for an unknown name lists all names. */
export const mapNamed = (name: string): MapEntry =>
  catalogue.find((entry) => entry.name === name) ??
  fail(
    "usage",
    `unknown map "${name}"`,
    `use one of ${catalogue.map((entry) => entry.name).join(", ")}`,
  );
