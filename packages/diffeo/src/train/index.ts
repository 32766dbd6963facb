/** diffeo/train: optimisers in the graph, the training loop, and checkpoints. */
export { type AdamOptions, type AdamState, adam } from "./adam.ts";
export { flatten, unflatten } from "./flat.ts";
export { type TrainOptions, type TrainReport, train } from "./loop.ts";
export { type Checkpoint, memoryStore, type RunStore } from "./run-store.ts";
export {
  parseSafetensors,
  type StoredType,
  serializeSafetensors,
  type Tensors,
} from "./safetensors.ts";
export { rateAt, type Schedule } from "./schedule.ts";
export {
  compileStep,
  initialState,
  type Step,
  type StepOptions,
  type StepResult,
  type TrainState,
} from "./step.ts";

// For other packages of this repository; published types leave them out.

/** @internal */
export { clipFactor } from "./clip.ts";
/** @internal */
export { flattenTensors } from "./flat.ts";
/** @internal */
export { jsonObject } from "./json-object.ts";
/** @internal */
export { stateOf } from "./loop.ts";
