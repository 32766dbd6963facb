/**
 * diffeo/model: networks for scores and densities. Parameters are trees of arrays, a model a
 * function of them and of x.
 */
export {
  type CouplingFlow,
  type CouplingFlowOptions,
  couplingFlow,
  couplingsFor,
  normalised,
} from "./coupling-flow.ts";
export {
  BASE_VARIANCE,
  type Dkef,
  type DkefOptions,
  type DkefSizes,
  dkefInit,
  dkefLogDensity,
  dkefScore,
  dkefShapes,
  pairs,
} from "./dkef.ts";
export {
  type LinearSystem,
  type NormalEquations,
  normalEquations,
  solveAlpha,
  trainedAlpha,
} from "./dkef-alpha.ts";
export {
  type Affine,
  asConstants,
  conv,
  convInit,
  initialise,
  linear,
  linearInit,
  type Norm,
  normInit,
  type Shaped,
  type Source,
  timeFeatures,
} from "./layers.ts";
export {
  type Limit,
  mapShapes,
  type Network,
  type NetworkSpec,
  networkOf,
  networks,
  type Parameters,
  parameterCount,
} from "./networks.ts";
export { type ResidualOptions, velocityScore } from "./residual.ts";
export {
  type Transformer,
  type TransformerOptions,
  transformer,
  transformerInit,
} from "./transformer.ts";
export { type UNet, type UNetOptions, unet, unetInit } from "./unet.ts";
