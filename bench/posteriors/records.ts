/**
 * Records of measurements, one small JSON file each, from which an interrupted benchmark continues.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ChainStore } from "diffeo/mcmc";
import { openChainFolder } from "diffeo/node";

const FOLDER = "studies/posteriors";

/** The record of a measurement, which is measured if it has none, or again on request. */
export async function recorded<T>(
  name: string,
  measure: () => Promise<T>,
  again = false,
): Promise<T> {
  const file = join(FOLDER, `${name}.json`);
  if (existsSync(file) && !again) return JSON.parse(readFileSync(file, "utf8")) as T;
  const found = await measure();
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(file, `${JSON.stringify(found, undefined, 1)}\n`);
  process.stdout.write(`${name}: ${JSON.stringify(found)}\n`);
  return found;
}

/** Rows as a Markdown table, the first column left-aligned. */
export const markdown = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map((_, i) => (i === 0 ? "---" : "---:")), ...rows]
    .map((row) => `| ${row.join(" | ")} |`)
    .join("\n");

/** The folder of unfinished measurements. */
const UNDER_WAY = join(tmpdir(), "diffeo-posteriors");

/** The processor seconds of this process, which exclude other work on the machine. */
export const processorSeconds = (): number =>
  (process.cpuUsage().user + process.cpuUsage().system) / 1e6;

/** The state of a loop when it was interrupted. */
export function partial<T>(name: string, empty: T): { readonly now: T; keep(value: T): void } {
  const file = join(UNDER_WAY, `${name}.json`);
  return {
    now: existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as T) : empty,
    keep: (value) => {
      mkdirSync(UNDER_WAY, { recursive: true });
      writeFileSync(file, JSON.stringify(value));
    },
  };
}

/** Chains that continue an interrupted run, and the processor seconds of all its parts. */
export async function keptChains(
  name: string,
  draws: number,
): Promise<{ readonly store: ChainStore; seconds(): number }> {
  const path = join(UNDER_WAY, name);
  const clock = join(path, "seconds");
  const before = existsSync(clock) ? Number(readFileSync(clock, "utf8")) : 0;
  const begun = processorSeconds();
  const seconds = (): number => before + processorSeconds() - begun;
  const store = await openChainFolder(
    path,
    { name, draws },
    { resume: existsSync(join(path, "config.json")) },
  );
  const save: ChainStore["save"] = async (chains) => {
    await store.save(chains);
    writeFileSync(clock, String(seconds()));
  };
  return { store: { ...store, save }, seconds };
}
