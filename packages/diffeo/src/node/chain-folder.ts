/**
 * Chains on disk, under way: config.json, the options, and chains.json, where they are, each
 * written whole or not at all. A process may end at any moment; the next one goes on from the last
 * whole transitions that were kept.
 */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
// Not by its index: commands that read other files load this one too, and have no use for chains.
import { parseChains, serializeChains } from "../mcmc/checkpoint.ts";
import type { ChainStore } from "../mcmc/draw-options.ts";
import { readBytes, writeFileAtomic } from "./atomic.ts";
import { type RunConfig, RunFolder } from "./run-folder.ts";

/** Where a folder of chains keeps them on the way. */
export const chainsFile = (folder: string): string => join(folder, "chains.json");

/**
 * Opens a folder that keeps chains, to be continued.
 *
 * @throws DiffeoError of kind `usage` where a kept run had another configuration
 *
 * @param resume whether a run is there to be continued, or is to be begun: chains that lie there
 * are then another's, and go
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
