/** diffeo/bijector: smooth invertible maps y = φ(x, t), and the quantities derived from them. */
export { additiveLogistic } from "./additive-logistic.ts";
export { type AffineOptions, affine, affineMatrix } from "./affine.ts";
export { type AffineCouplingOptions, affineCoupling } from "./affine-coupling.ts";
export { type Bijector, bijector, type ClosedForm, type Diffusion } from "./bijector.ts";
export { type Block, blocks } from "./blocks.ts";
export { catalogue, type MapEntry } from "./catalogue.ts";
export { chain } from "./chain.ts";
export { type Coordinate, coordinatewise } from "./coordinatewise.ts";
export { correlationMap } from "./correlation.ts";
export {
  contains,
  gradLogDet,
  itoTrace,
  jacobianOf,
  pullCovector,
  pullVector,
  pushCovector,
  pushVector,
  timeDerivative,
} from "./derive.ts";
export { each } from "./each.ts";
export { alignToEvent, sumEvent } from "./event.ts";
export { expMap } from "./exp.ts";
export { identity } from "./identity.ts";
export { invert } from "./invert.ts";
export { isometricLogRatio } from "./isometric-log-ratio.ts";
export { logCholesky } from "./log-cholesky.ts";
export { ordered } from "./ordered.ts";
export { permutation } from "./permutation.ts";
export { sigmoidMap } from "./sigmoid.ts";
export { softplusMap } from "./softplus.ts";
export { rationalQuadraticSpline, type SplineOptions } from "./spline.ts";
export { stereographic } from "./stereographic.ts";
export { type StickBreakingOptions, stickBreaking } from "./stick-breaking.ts";
export { tanhMap } from "./tanh.ts";
export { type TimeAffineOptions, timeAffine } from "./time-affine.ts";
export { unitBall } from "./unit-ball.ts";
export { whereMask } from "./where-mask.ts";

// For other packages of this repository; published types leave them out.

/** @internal */
export { mapNamed } from "./catalogue.ts";
/** @internal */
export { columnsOf, denseDiffusion, units } from "./coefficient.ts";
/** @internal */
export {
  pullDiffusion,
  pullItoTrace,
  pushDiffusion,
  pushedCovarianceDivergence,
  withoutClosedForms,
} from "./derive.ts";
