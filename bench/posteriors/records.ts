/**
 * What was measured, one small file of JSON a piece: a benchmark that was stopped goes on where it
 * was.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ChainStore } from "diffeo/mcmc";
import { openChainFolder } from "diffeo/node";

const FOLDER = "studies/posteriors";

/** The record of a piece, measured where there is none, or again. */
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

/** Rows as a table of Markdown, the first column to the left. */
export const markdown = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map((_, i) => (i === 0 ? "---" : "---:")), ...rows]
    .map((row) => `| ${row.join(" | ")} |`)
    .join("\n");

/** What is under way, until it has a record. */
const UNDER_WAY = join(tmpdir(), "diffeo-posteriors");

/** Of this process: other work on the machine does not count. */
export const processorSeconds = (): number =>
  (process.cpuUsage().user + process.cpuUsage().system) / 1e6;

/** What a loop had come to when it was stopped. */
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

/** Chains that go on where a run before was stopped, and the processor's seconds of all of them. */
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
