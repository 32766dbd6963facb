/** diffeo/train: optimisers inside the graph, the loop around it, and its files. */
export { type AdamOptions, type AdamState, adam } from "./adam.ts";
export { writeFileAtomic } from "./atomic.ts";
export { flatten, flattenTensors, unflatten } from "./flat.ts";
export { stateOf, type TrainOptions, type TrainReport, train } from "./loop.ts";
export { type Checkpoint, RunFolder } from "./run-folder.ts";
export { makeSafetensors, parseSafetensors, readSafetensors, type Tensors, writeSafetensors } from "./safetensors.ts";
export { rateAt, type Schedule } from "./schedule.ts";
export { compileStep, initialState, type Step, type StepOptions, type StepResult, type TrainState } from "./step.ts";
