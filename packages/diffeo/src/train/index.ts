/** diffeo/train: optimisers inside the graph, the loop around it, and the bytes of its state. */
export { type AdamOptions, type AdamState, adam } from "./adam.ts";
export { clipFactor } from "./clip.ts";
export { flatten, flattenTensors, unflatten } from "./flat.ts";
export { jsonObject } from "./json-object.ts";
export { stateOf, type TrainOptions, type TrainReport, train } from "./loop.ts";
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
