/** diffeo/node: atomic file writes, run folders, models on disk, and worker processes, for Node. */
export { openChainFolder } from "./chain-folder.ts";
export { loadModel, saveModel } from "./denoiser-file.ts";
export { type RunConfig, RunFolder } from "./run-folder.ts";
export { readSafetensors, writeSafetensors } from "./safetensors-file.ts";

// For other packages of this repository; published types leave them out.

/** @internal */
export { cannotWrite, followLinks, readBytes, tidyTemporaries, writeFileAtomic } from "./atomic.ts";
/** @internal */
export { chainsFile } from "./chain-folder.ts";
/** @internal */
export { modelDigest } from "./denoiser-file.ts";
/** @internal */
export { type JsonKind, parseJson, readJson } from "./json-file.ts";
/** @internal */
export { inFolder, onFile } from "./lock.ts";
/** @internal */
export { openPool, type Pool } from "./pool.ts";
/** @internal */
export { type JobParent, serveJobs } from "./serve-jobs.ts";
