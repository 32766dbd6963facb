/**
 * Unfinished chains on disk: config.json has the options, and chains.json the states of the chains.
 * Both are written atomically. If a process ends, the next one continues from the last saved
 * transitions.
 */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
// Not imported from the index, because commands that read other files load this module, but not the
// code of chains.
import { parseChains, serializeChains } from "../mcmc/checkpoint.ts";
import type { ChainStore } from "../mcmc/draw-options.ts";
import { readBytes, writeFileAtomic } from "./atomic.ts";
import { type RunConfig, RunFolder } from "./run-folder.ts";

/** The file of the states in a folder of chains. */
export const chainsFile = (folder: string): string => join(folder, "chains.json");

/**
 * Opens a folder as a store of chains, so that an interrupted run can continue.
 *
 * @param resume whether to continue the saved run. Default false: a new run starts, in a folder
 * without a run, and chains without a configuration are deleted
 * @throws DiffeoError of kind `usage`: with `resume`, if the folder has no run or its run has
 * another configuration; without, if it has a run
 */
export async function openChainFolder(
  path: string,
  config: RunConfig,
  { resume = false, every }: { readonly resume?: boolean; readonly every?: number } = {},
): Promise<ChainStore> {
  await (resume ? RunFolder.open(path, config) : RunFolder.create(path, config));
  const file = chainsFile(path);
  if (!resume) await rm(file, { force: true });
  return {
    every,
    load: async () => {
      if (!existsSync(file)) return undefined;
      return parseChains(new TextDecoder().decode(await readBytes(file)), file);
    },
    save: (chains) => writeFileAtomic(file, serializeChains(chains)),
  };
}
