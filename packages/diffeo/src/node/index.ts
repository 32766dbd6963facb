/**
 * diffeo/node: what needs Node: files written whole or not at all, run folders, models on disk,
 * worker processes.
 */
export { cannotWrite, followLinks, readBytes, tidyTemporaries, writeFileAtomic } from "./atomic.ts";
export { chainsFile, openChainFolder } from "./chain-folder.ts";
export { loadModel, modelDigest, saveModel } from "./denoiser-file.ts";
export { type JsonKind, parseJson, readJson } from "./json-file.ts";
export type { JobLimits } from "./limits.ts";
export { inFolder, onFile } from "./lock.ts";
export {
  type JobParent,
  type JobRunner,
  openPool,
  type Pool,
  type PoolJob,
  serveJobs,
} from "./pool.ts";
export { type RunConfig, RunFolder } from "./run-folder.ts";
export { readSafetensors, writeSafetensors } from "./safetensors-file.ts";
