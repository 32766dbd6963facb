/**
 * diffeo/graph: tensors as expressions, with derivatives of any order, that are written as ONNX.
 */
export { gelu, relu, silu, squaredRelu } from "./activation.ts";
export {
  abs,
  add,
  addAll,
  clip,
  div,
  floor,
  maximum,
  minimum,
  mul,
  neg,
  sign,
  square,
  sub,
} from "./arithmetic.ts";
export { type AttentionOptions, attention } from "./attention.ts";
export { grad, gradEach, hvp, jvp, valueAndGrad, vjp } from "./autodiff.ts";
export { expand, sum } from "./broadcast.ts";
export { columns, concat, split, stack } from "./concat.ts";
export { averagePool, type ConvOptions, conv2d, maxPool, upsampleNearest } from "./conv.ts";
export type { OnnxModel, Port } from "./emitter.ts";
export { erf, erfc } from "./erf.ts";
export { DiffeoError, type ErrorKind } from "./error.ts";
export { reference } from "./evaluate.ts";
export { logGamma, polygamma } from "./gamma.ts";
export { oneHot, take, takeAlong } from "./gather.ts";
export { type Jacobian, jacobian, laplacian, traceJacobian } from "./jacobian.ts";
export { type LayerNormOptions, layerNorm } from "./layer-norm.ts";
export { dot, matmul, matvec, squaredNorm } from "./linalg.ts";
export {
  equal,
  greater,
  greaterEqual,
  less,
  lessEqual,
  logicalAnd,
  logicalNot,
  logicalOr,
  where,
} from "./logic.ts";
export {
  type DType,
  type FloatType,
  type NdArray,
  type Nested,
  ndarray,
  type Shape,
  type TypedArray,
  toFloat64,
} from "./ndarray.ts";
export { groupNorm } from "./norm.ts";
export { type OdeOptions, solveOde } from "./ode.ts";
export { writeOnnx } from "./onnx.ts";
export { argmax, argsort, argTop, sort, top } from "./order.ts";
export { type DifferentiableBy, type OutsideFunction, outside } from "./outside.ts";
export { erfInverse, normalQuantile } from "./quantile.ts";
export { cumsum, logSoftmax, logSumExp, max, mean, softmax } from "./reduce.ts";
export { rotary } from "./rotary.ts";
export { combineAll, linearRecurrence, scan } from "./scan.ts";
export { expandDims, reshape, squeeze, swapAxes, transpose } from "./shape.ts";
export { at, flip, pad, slice } from "./slice.ts";
export { inverse, logAbsDet, solve } from "./solve.ts";
export {
  type Attributes,
  constant,
  fill,
  input,
  type Operand,
  type Outside,
  type OutsideCall,
  onesLike,
  type Place,
  type Primitive,
  type Target,
  Tensor,
  zerosLike,
} from "./tensor.ts";
export { type Trace, trace } from "./trace.ts";
export {
  asinh,
  atan,
  cos,
  cosh,
  exp,
  expm1,
  log,
  log1p,
  logSigmoid,
  pow,
  sigmoid,
  sin,
  sinh,
  softplus,
  sqrt,
  tanh,
} from "./transcendental.ts";
export type { Tree } from "./tree.ts";
export { cholesky, symmetric } from "./triangle.ts";
export { cast, eye, iota, stopGradient } from "./value.ts";
export { type BatchAxes, vmap } from "./vmap.ts";

// For other packages of this repository; published types leave them out.

/** @internal */
export { backward } from "./backward.ts";
/** @internal */
export { unexpanded } from "./broadcast.ts";
/** @internal */
export { fail } from "./error.ts";
/** @internal */
export {
  allocate,
  convert,
  flattenNested,
  isFloat,
  isNdArray,
  showShape,
  sizeOf,
} from "./ndarray.ts";
/** @internal */
export { lower, simplify } from "./simplify.ts";
/** @internal */
export { primitive } from "./tensor.ts";
/** @internal */
export { topological } from "./topological.ts";
/** @internal */
export { fitsShape, isSpec, type Spec, showOpenShape } from "./trace.ts";
/** @internal */
export { leavesOf, mapTree, withLeaves } from "./tree.ts";
