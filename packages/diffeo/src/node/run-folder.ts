/**
 * A training run on disk:
 *   config.json      the options, seed and version; a resumed run must have the same
 *   metrics.jsonl    one line per report
 *   step-N.safetensors   state after N steps, written atomically; the newest two are kept
 *
 * If a process ends, the run continues from its newest checkpoint. Opening the folder removes
 * unfinished files, and reports of steps that will be repeated.
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

/** The configuration of a run, which is stored in its folder. */
export interface RunConfig {
  /** The version of the program that started the run. It is not compared. */
  readonly version?: string;
  /** The files of the data. They are not compared, because files may move. */
  readonly files?: unknown;
  /** All other settings, which determine the numbers of the run and are compared. */
  readonly [setting: string]: unknown;
}

/** The path of the first setting in which two configurations differ. */
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

/** The step of a line of metrics; ∞ for a line that was cut off by a crash. */
function stepOf(line: string): number {
  try {
    return (JSON.parse(line) as { step: number }).step;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** The configuration of a run; undefined if there is none. */
async function readConfig(path: string): Promise<RunConfig | undefined> {
  if (!existsSync(path)) return undefined;
  try {
    return { ...(JSON.parse(await readFile(path, "utf8")) as RunConfig) };
  } catch (error) {
    throw new DiffeoError(
      "data",
      `${path} cannot be read as JSON`,
      "restore it, or start a new run from model.safetensors of this one",
      { cause: error },
    );
  }
}

/** A folder with a training run: its configuration, metrics and checkpoints. */
export class RunFolder implements RunStore {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Creates the folder of a new run. An existing run is not overwritten. */
  static async create(path: string, config: RunConfig): Promise<RunFolder> {
    if (existsSync(join(path, "config.json")))
      fail(
        "usage",
        `${path} already contains a run`,
        "open it to continue, or choose another folder",
      );
    await writeFileAtomic(join(path, "config.json"), `${JSON.stringify(config, undefined, 2)}\n`);
    return new RunFolder(path);
  }

  /** Opens a run to continue it from its newest checkpoint. Its settings must be the same. */
  static async open(path: string, config: RunConfig): Promise<RunFolder> {
    const begun = await readConfig(join(path, "config.json"));
    if (begun === undefined) fail("usage", `${path} does not contain a run`, "create a new run");
    const odd = difference(settingsOf(begun), JSON.parse(JSON.stringify(settingsOf(config))));
    if (odd)
      fail(
        "usage",
        `the run in ${path} was started with ${odd.path} = ${show(odd.before)}, but now it ` +
          `is ${show(odd.now)}`,
        "use the same settings, or start a new run",
      );
    const folder = new RunFolder(path);
    await folder.#tidy();
    return folder;
  }

  async #tidy(): Promise<void> {
    // One process at a time uses the folder, so temporary files have no owner.
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
          `delete it to continue the run from ${from}`,
          { cause: error },
        );
      },
    );
    return { step, ...tensors };
  }
}
