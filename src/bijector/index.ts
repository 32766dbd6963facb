/** diffeo/bijector: smooth invertible maps y = φ(x, t), and everything that follows from their three functions. */
export { type Bijector, bijector, type Diffusion } from "./bijector.ts";
export {
  contains,
  gradLogDet,
  itoTrace,
  jacobianOf,
  pullCovector,
  pullDiffusion,
  pullVector,
  pushCovector,
  pushDiffusion,
  pushVector,
  timeDerivative,
  withoutClosedForms,
} from "./derive.ts";
export { alignToEvent, sumEvent } from "./event.ts";
