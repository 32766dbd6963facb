/**
 * A training run on disk:
 *   config.json      what was asked for, with seed and version; a resumed run must ask for the same
 *   metrics.jsonl    one line a report
 *   step-N.safetensors   state after N steps, written whole or not at all; the newest two are kept
 */
import { existsSync } from "node:fs";
import { appendFile, mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { fail } from "../graph/index.ts";
import { writeFileAtomic } from "./atomic.ts";
import { readSafetensors, type Tensors, writeSafetensors } from "./safetensors.ts";

const checkpointName = /^step-(\d+)\.safetensors$/;
const KEPT = 2;

export interface Checkpoint extends Tensors {
  readonly step: number;
}

export class RunFolder {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** A new run's folder; an existing run is never overwritten. */
  static async create(path: string, config: object): Promise<RunFolder> {
    if (existsSync(join(path, "config.json")))
      fail("usage", `${path} already holds a run`, "continue it with --resume, or choose another folder");
    await mkdir(path, { recursive: true });
    await writeFileAtomic(join(path, "config.json"), `${JSON.stringify(config, undefined, 2)}\n`);
    return new RunFolder(path);
  }

  /** A run to be continued. Settings that shape its numbers must be those it began with. */
  static async open(path: string, config: object): Promise<RunFolder> {
    if (!existsSync(join(path, "config.json")))
      fail("usage", `${path} holds no run`, "leave out --resume to begin one");
    const before = JSON.parse(await readFile(join(path, "config.json"), "utf8")) as Record<string, unknown>;
    for (const [name, value] of Object.entries(config))
      if (JSON.stringify(before[name]) !== JSON.stringify(value))
        fail(
          "usage",
          `${path} was begun with ${name} = ${JSON.stringify(before[name])}, now it is ${JSON.stringify(value)}`,
          "give the same settings, or begin a new run",
        );
    return new RunFolder(path);
  }

  async log(record: object): Promise<void> {
    await appendFile(join(this.path, "metrics.jsonl"), `${JSON.stringify(record)}\n`);
  }

  async #steps(): Promise<number[]> {
    const names = await readdir(this.path);
    return names.flatMap((name) => checkpointName.exec(name)?.slice(1).map(Number) ?? []).sort((a, b) => a - b);
  }

  async save({ step, ...tensors }: Checkpoint): Promise<void> {
    await writeSafetensors(join(this.path, `step-${step}.safetensors`), tensors);
    for (const old of (await this.#steps()).slice(0, -KEPT)) await rm(join(this.path, `step-${old}.safetensors`));
  }

  /** The newest checkpoint, if there is one. */
  async latest(): Promise<Checkpoint | undefined> {
    const step = (await this.#steps()).at(-1);
    if (step === undefined) return undefined;
    return { step, ...(await readSafetensors(join(this.path, `step-${step}.safetensors`))) };
  }
}
