/** diffeo/node: what needs Node: files written whole or not at all, run folders, models on disk. */
export { cannotWrite, readBytes, writeFileAtomic } from "./atomic.ts";
export { loadModel, modelDigest, saveModel } from "./denoiser-file.ts";
export { type RunConfig, RunFolder } from "./run-folder.ts";
export { readSafetensors, writeSafetensors } from "./safetensors-file.ts";
