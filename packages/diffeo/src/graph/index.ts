/** diffeo/graph: tensors as expressions, differentiated to any order and written as ONNX. */
export {
  backward,
  grad,
  gradEach,
  hvp,
  type Jacobian,
  jacobian,
  jvp,
  laplacian,
  traceJacobian,
  valueAndGrad,
  vjp,
} from "./autodiff.ts";
export { averagePool, type ConvOptions, conv2d, maxPool, upsampleNearest } from "./conv.ts";
export {
  abs,
  add,
  addAll,
  clip,
  cos,
  div,
  erf,
  exp,
  expm1,
  floor,
  log,
  log1p,
  logSigmoid,
  maximum,
  minimum,
  mul,
  neg,
  pow,
  sigmoid,
  sign,
  sin,
  softplus,
  sqrt,
  square,
  sub,
  tanh,
} from "./elementwise.ts";
export { DiffeoError, type ErrorKind, fail } from "./error.ts";
export { reference } from "./evaluate.ts";
export { argmax, argsort, argTop, oneHot, sort, take, takeAlong, top } from "./gather.ts";
export { dot, inverse, logAbsDet, matmul, matvec, solve, squaredNorm } from "./linalg.ts";
export { equal, greater, greaterEqual, less, lessEqual, logicalAnd, logicalNot, logicalOr, where } from "./logic.ts";
export {
  allocate,
  convert,
  type DType,
  type FloatType,
  flattenNested,
  isFloat,
  isNdArray,
  type NdArray,
  type Nested,
  ndarray,
  type Shape,
  showShape,
  sizeOf,
  type TypedArray,
  toFloat64,
} from "./ndarray.ts";
export { groupNorm, silu } from "./norm.ts";
export { type OnnxModel, type Port, writeOnnx } from "./onnx.ts";
export { at, concat, flip, pad, slice, split, stack } from "./pieces.ts";
export { cumsum, logSoftmax, logSumExp, max, mean, softmax, sum } from "./reduce.ts";
export { expand, expandDims, reshape, squeeze, swapAxes, transpose } from "./shape.ts";
export { lower, simplify } from "./simplify.ts";
export {
  type Attributes,
  constant,
  fill,
  input,
  type Operand,
  onesLike,
  type Primitive,
  primitive,
  type Target,
  Tensor,
  zerosLike,
} from "./tensor.ts";
export { topological } from "./topological.ts";
export { fitsShape, isSpec, type Spec, showOpenShape, type Trace, trace } from "./trace.ts";
export { leavesOf, mapTree, type Tree, withLeaves } from "./tree.ts";
export { cast, eye, iota, stopGradient } from "./value.ts";
