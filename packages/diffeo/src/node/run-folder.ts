/**
 * A training run on disk:
 *   config.json      the options, seed and version; a resumed run must have the same
 *   metrics.jsonl    one line per report
 *   step-N.safetensors   state after N steps, written whole or not at all; the newest two are kept
 *
 * A process may end at any moment. What it leaves is a run at its newest checkpoint: opening it
 * clears away files that were being written, and reports of steps that will be run again.
 */
import { existsSync } from "node:fs";
import { appendFile, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { DiffeoError, fail } from "../graph/index.ts";
import type { Checkpoint, RunStore } from "../train/run-store.ts";
import { cannotWrite, writeFileAtomic } from "./atomic.ts";
import { readSafetensors, writeSafetensors } from "./safetensors-file.ts";

const checkpointName = /^step-(\d+)\.safetensors$/;
const temporary = /\.\d+(-[0-9a-f]{8}\.diffeo)?\.tmp$/;
const KEPT = 2;

/** What decides the numbers of a run, as its folder keeps it. */
export interface RunConfig {
  /** Of the program that began the run: for the record, any may continue it. */
  readonly version?: string;
  /** Where its data lay: for the record, they may have moved. */
  readonly files?: unknown;
  /** What shapes the run's numbers. */
  readonly [setting: string]: unknown;
}

/** The first setting in which two configurations differ, by its path. */
function difference(
  before: unknown,
  now: unknown,
  path = "",
): { path: string; before: unknown; now: unknown } | undefined {
  const isTree = (value: unknown): value is object => typeof value === "object" && value !== null;
  if (!isTree(before) || !isTree(now) || Array.isArray(before) || Array.isArray(now))
    return JSON.stringify(before) === JSON.stringify(now) ? undefined : { path, before, now };
  for (const name of new Set([...Object.keys(now), ...Object.keys(before)])) {
    const below = path === "" ? name : `${path}.${name}`;
    const found = difference(before[name as keyof object], now[name as keyof object], below);
    if (found) return found;
  }
  return undefined;
}

const settingsOf = ({ version: _, files: __, ...settings }: RunConfig): RunConfig => settings;

const show = (value: unknown): string => (value === undefined ? "nothing" : JSON.stringify(value));

/**
 * The step a line of metrics is about; a line cut off by a crash is about none that was reached.
 */
function stepOf(line: string): number {
  try {
    return (JSON.parse(line) as { step: number }).step;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** What a run was begun with; nothing where there is no run. */
async function readConfig(path: string): Promise<RunConfig | undefined> {
  if (!existsSync(path)) return undefined;
  try {
    return { ...(JSON.parse(await readFile(path, "utf8")) as RunConfig) };
  } catch (error) {
    throw new DiffeoError(
      "data",
      `${path} cannot be read as JSON`,
      "restore it, or begin a new run from model.safetensors of this one",
      { cause: error },
    );
  }
}

/** A folder that keeps a run: configuration, metrics and checkpoints. */
export class RunFolder implements RunStore {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** A new run's folder; an existing run is never overwritten. */
  static async create(path: string, config: RunConfig): Promise<RunFolder> {
    if (existsSync(join(path, "config.json")))
      fail("usage", `${path} already holds a run`, "open it to continue, or choose another folder");
    await writeFileAtomic(join(path, "config.json"), `${JSON.stringify(config, undefined, 2)}\n`);
    return new RunFolder(path);
  }

  /**
   * A run to be continued, as it was at its newest checkpoint. Its settings must be those it began
   * with.
   */
  static async open(path: string, config: RunConfig): Promise<RunFolder> {
    const begun = await readConfig(join(path, "config.json"));
    if (begun === undefined) fail("usage", `${path} holds no run`, "create it to begin one");
    const odd = difference(settingsOf(begun), JSON.parse(JSON.stringify(settingsOf(config))));
    if (odd)
      fail(
        "usage",
        `${path} was begun with ${odd.path} = ${show(odd.before)}, now it is ${show(odd.now)}`,
        "give the same settings, or begin a new run",
      );
    const folder = new RunFolder(path);
    await folder.#tidy();
    return folder;
  }

  async #tidy(): Promise<void> {
    // The folder is one process's at a time: what was being written here is nobody's.
    for (const name of await readdir(this.path))
      if (temporary.test(name)) await rm(join(this.path, name));
    const metrics = join(this.path, "metrics.jsonl");
    if (!existsSync(metrics)) return;
    const reached = (await this.reached()) ?? 0;
    const lines = (await readFile(metrics, "utf8"))
      .split("\n")
      .filter((line) => stepOf(line) <= reached);
    await writeFileAtomic(metrics, lines.map((line) => `${line}\n`).join(""));
  }

  async log(record: { readonly step: number }): Promise<void> {
    const path = join(this.path, "metrics.jsonl");
    await appendFile(path, `${JSON.stringify(record)}\n`).catch((error: unknown) => {
      throw cannotWrite(path, error);
    });
  }

  async #steps(): Promise<number[]> {
    const names = await readdir(this.path);
    return names
      .flatMap((name) => checkpointName.exec(name)?.slice(1).map(Number) ?? [])
      .sort((a, b) => a - b);
  }

  async save({ step, ...tensors }: Checkpoint): Promise<void> {
    await writeSafetensors(join(this.path, `step-${step}.safetensors`), tensors);
    for (const old of (await this.#steps()).slice(0, -KEPT))
      await rm(join(this.path, `step-${old}.safetensors`));
  }

  /** The step of the newest checkpoint, if there is one. */
  async reached(): Promise<number | undefined> {
    return (await this.#steps()).at(-1);
  }

  /** The newest checkpoint, if there is one. */
  async latest(): Promise<Checkpoint | undefined> {
    const [step, before] = (await this.#steps()).reverse();
    if (step === undefined) return undefined;
    const file = join(this.path, `step-${step}.safetensors`);
    const tensors = await readSafetensors(file).catch(
      (error: Error & { cause?: NodeJS.ErrnoException }) => {
        if (!(error instanceof DiffeoError) || error.cause?.code) throw error;
        const from = before === undefined ? "its beginning" : `step ${before}`;
        throw new DiffeoError(
          "data",
          `the newest checkpoint, ${file}, is damaged`,
          `delete it, and the run continues from ${from}`,
          { cause: error },
        );
      },
    );
    return { step, ...tensors };
  }
}
