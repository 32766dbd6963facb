/** The properties of every map, including those of its closed forms. */
import {
  type Bijector,
  chain,
  contains,
  coordinatewise,
  type Diffusion,
  each,
  gradLogDet,
  invert,
  itoTrace,
  jacobianOf,
  pullCovector,
  pullVector,
  pushCovector,
  pushVector,
  timeDerivative,
  withoutClosedForms,
} from "../bijector/index.ts";
import {
  abs,
  add,
  addAll,
  at,
  cast,
  concat,
  exp,
  eye,
  grad,
  log,
  logAbsDet,
  matmul,
  mul,
  neg,
  onesLike,
  reshape,
  sign,
  sqrt,
  square,
  sub,
  sum,
  type Tensor,
  transpose,
  zerosLike,
} from "../graph/index.ts";
import { sameShape } from "../graph/ndarray.ts";
import { pullScore, pushScore } from "../score/score.ts";
import { closedFormProperties } from "./closed-form-properties.ts";
import { difference, type Probe, type Property, secondDifference } from "./property.ts";

const EXACT = 1e-9;

/** arsinh, a map to compose with φ that has small derivatives on all of R. */
const arsinh = coordinatewise({
  name: "arsinh",
  forward: (y) => mul(sign(y), log(add(abs(y), sqrt(add(square(y), 1))))),
  inverse: (z) => mul(sub(exp(z), exp(neg(z))), 0.5),
  logSlope: (y) => mul(log(add(square(y), 1)), -0.5),
});
const followed = (phi: Bijector): Bijector =>
  chain(phi, phi.eventRank > 1 ? each(arsinh, phi.eventRank - 1) : arsinh);
const thereAndBack = (phi: Bijector): Bijector => chain(phi, invert(phi));

/** Column k of a matrix diffusion as an event. */
const column = (diffusion: Diffusion, x: Tensor, k: number): Tensor =>
  reshape(at(diffusion.value, k, -1), x.shape);

/** Excludes embeddings, which have no two-sided inverse. */
const squareOnly = (_: Bijector, embeds: boolean): boolean => !embeds;

const ofChain = (symbol: string, f: (phi: Bijector, probe: Probe) => Tensor): Property => ({
  name: `chain, ${symbol}: composed = autodiff of the composition`,
  applies: squareOnly,
  sides: (phi, probe) => [f(followed(phi), probe), f(withoutClosedForms(followed(phi)), probe)],
  tolerance: EXACT,
  floor: 1e-12,
  remedy: "a closed form of the map disagrees with its forward, inverse and logDet",
});

/** The properties that every map must have. */
export const mapProperties: readonly Property[] = [
  {
    name: "φ⁻¹(φ(x)) = x",
    sides: (phi, { x, t }) => [phi.inverse(phi.forward(x, t), t), x],
    tolerance: EXACT,
    floor: 1,
    remedy: "the inverse is not that of the map",
  },
  {
    name: "φ(x) is in the image of φ",
    sides: (phi, { x, t }) => {
      const inside = cast(contains(phi, phi.forward(x, t), t), x.dtype);
      return [inside, onesLike(inside)];
    },
    tolerance: 0,
    floor: 1,
    remedy: "the map's own `contains` rejects a point in its image, or its inverse is NaN there",
  },
  {
    name: "log|det J| = log|det| of the dense J",
    sides: (phi, { x, t }) => {
      const j = jacobianOf(withoutClosedForms(phi), x, t);
      const volume =
        j.shape.at(-1) === j.shape.at(-2)
          ? logAbsDet(j)
          : mul(logAbsDet(matmul(transpose(j), j)), 0.5);
      return [phi.logDet(x, t), volume];
    },
    tolerance: EXACT,
    floor: 1,
    hard: true,
    remedy: "logDet is not log|det J|, or J is singular there",
  },
  {
    name: "J v = finite differences of φ",
    sides: (phi, { x, v, t }) => [
      pushVector(phi, x, v, t),
      difference((z) => phi.forward(z, t), x, v),
    ],
    tolerance: 1e-7,
    floor: 1e-3,
    remedy: "the map is not smooth there, or its own pushVector is wrong",
  },
  {
    name: "J⁻¹J v = v",
    sides: (phi, { x, v, t }) => [pullVector(phi, x, pushVector(phi, x, v, t), t), v],
    tolerance: EXACT,
    floor: 0,
    hard: true,
    remedy: "the inverse, or the map's own pullVector, is wrong, or J is singular there",
  },
  {
    name: "Jᵀ J⁻ᵀ s = s",
    sides: (phi, { x, s, t }) => [pullCovector(phi, x, pushCovector(phi, x, s, t), t), s],
    tolerance: EXACT,
    floor: 0,
    hard: true,
    remedy: "the inverse, or the map's own pushCovector, is wrong, or J is singular there",
  },
  {
    name: "J J⁻¹ w = w",
    applies: squareOnly,
    sides: (phi, { x, w, t }) => [pushVector(phi, x, pullVector(phi, x, w, t), t), w],
    tolerance: EXACT,
    floor: 0,
    hard: true,
    remedy: "the inverse, or the map's own pullVector, is wrong, or J is singular there",
  },
  ...closedFormProperties,
  {
    name: "∂ₜφ = finite differences",
    applies: (phi) => phi.timeDependent === true,
    sides: (phi, { x, t }) => [
      timeDerivative(phi, x, t),
      difference((z) => phi.forward(x, z), t, onesLike(t)),
    ],
    tolerance: 1e-7,
    floor: 1e-3,
    remedy: "the map's own timeDerivative is wrong",
  },
  {
    name: "∇ log|det J| = finite differences of log|det J|",
    sides: (phi, { x, v, t }) => [
      sum(reshape(mul(gradLogDet(phi, x, t), v), [x.shape[0], -1]), -1),
      difference((z) => phi.logDet(z, t), x, v),
    ],
    tolerance: 1e-7,
    floor: 1,
    remedy: "the map's own gradLogDet is wrong",
  },
  {
    name: "Tr[GᵀHG] = second differences of φ",
    sides: (phi, { x, matrix, t }) => [
      itoTrace(phi, x, matrix, t),
      addAll(
        [0, 1].map((k) => secondDifference((z) => phi.forward(z, t), x, column(matrix, x, k))),
      ),
    ],
    tolerance: 1e-5,
    floor: 0.1,
    remedy: "the map is not twice differentiable there, or its own itoTrace is wrong",
  },
  {
    name: "J is diagonal, as the map claims",
    applies: (phi) => phi.coordinatewise === true,
    sides: (phi, { x, t }) => {
      const j = jacobianOf(withoutClosedForms(phi), x, t);
      return [j, mul(j, eye(j.shape.at(-1) as number, x.dtype))];
    },
    tolerance: 0,
    floor: 1,
    remedy: "the map is marked coordinatewise, but a coordinate of y depends on another of x",
  },
  {
    name: "score: push then pull = itself",
    sides: (phi, { x, s, t }) => [pullScore(phi, x, pushScore(phi, x, s, t), t), s],
    tolerance: EXACT,
    floor: 0,
    hard: true,
    remedy: "the map's Jacobian products are not inverse to each other",
  },
  {
    // With log p = −½‖x‖². Along the image of an embedding, gradients in the surrounding space
    // agree once pulled back.
    name: "pushed score = gradient of the pushed log density",
    sides: (phi, { x, t }) => {
      const y = phi.forward(x, t);
      const logDensity = (z: Tensor): Tensor => {
        const back = phi.inverse(z, t);
        return sub(mul(sum(square(back)), -0.5), sum(phi.logDet(back, t)));
      };
      const [pushed, gradient] = [pushScore(phi, x, neg(x), t), grad(logDensity)(y)];
      return sameShape(x.shape, y.shape)
        ? [pushed, gradient]
        : [pullCovector(phi, x, pushed, t), pullCovector(phi, x, gradient, t)];
    },
    tolerance: EXACT,
    floor: 1e-3,
    remedy: "the inverse, logDet and the closed forms do not match",
  },
  ofChain("J v", (phi, { x, v, t }) => pushVector(phi, x, v, t)),
  ofChain("∇ log|det J|", (phi, { x, t }) => gradLogDet(phi, x, t)),
  ofChain("Tr[GᵀHG]", (phi, { x, matrix, t }) => itoTrace(phi, x, matrix, t)),
  {
    name: "chain, score: one map after the other = through the chain",
    applies: squareOnly,
    sides: (phi, { x, s, t }) => {
      const next = followed(phi);
      const last = phi.eventRank > 1 ? each(arsinh, phi.eventRank - 1) : arsinh;
      const stepwise = pushScore(last, phi.forward(x, t), pushScore(phi, x, s, t));
      return [stepwise, pushScore(next, x, s, t)];
    },
    tolerance: EXACT,
    floor: 1e-3,
    remedy: "the map's gradLogDet and its Jacobian products do not match",
  },
  {
    name: "φ then φ⁻¹, as a chain, is the identity",
    applies: squareOnly,
    sides: (phi, { x, v, matrix, t }) => {
      const round = thereAndBack(phi);
      const side = (...parts: readonly Tensor[]): Tensor =>
        concat(parts.map((p) => reshape(p, [x.shape[0], -1])));
      const zero = zerosLike(x);
      const volume = round.logDet(x, t);
      return [
        side(
          pushVector(round, x, v, t),
          gradLogDet(round, x, t),
          itoTrace(round, x, matrix, t),
          volume,
        ),
        side(v, zero, zero, zerosLike(volume)),
      ];
    },
    tolerance: 1e-8,
    floor: 1,
    remedy: "the inverse is not that of the map",
  },
];
