/**
 * diffeo/model: networks for scores and densities. Parameters are trees of arrays; a model is a
 * function of them and x.
 */
export type { CouplingFlow, CouplingFlowOptions } from "./coupling-flow.ts";
export { type Dkef, type DkefOptions, dkefInit, dkefLogDensity, dkefScore } from "./dkef.ts";
export {
  type LinearSystem,
  type NormalEquations,
  normalEquations,
  solveAlpha,
  trainedAlpha,
} from "./dkef-alpha.ts";
export { type Affine, asConstants, type Norm, type Shaped, type Source } from "./layers.ts";
export {
  type Limit,
  type Network,
  type NetworkSpec,
  networkOf,
  networks,
  type Parameters,
  parameterCount,
} from "./networks.ts";
export type { ResidualOptions } from "./residual.ts";
export type { Transformer, TransformerOptions } from "./transformer.ts";
export type { UNet, UNetOptions } from "./unet-parameters.ts";

// For other packages of this repository; published types leave them out.

/** @internal */
export { couplingFlow, couplingsFor, normalised } from "./coupling-flow.ts";
/** @internal */
export { BASE_VARIANCE, dkefShapes, pairs } from "./dkef.ts";
/** @internal */
export { initialise, linear, linearInit } from "./layers.ts";
/** @internal */
export { mapShapes } from "./networks.ts";
/** @internal */
export { velocityScore } from "./residual.ts";
/** @internal */
export { transformer } from "./transformer.ts";
/** @internal */
export { unet } from "./unet.ts";
/** @internal */
export { unetInit } from "./unet-parameters.ts";
