/**
 * Fair timing of two tasks on a noisy machine: in turns, in one run, as a ratio of medians.
 */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1];

export async function milliseconds(task: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await task();
  return performance.now() - start;
}

/** Orders versions such as 2.13.0+cpu, number by number. */
const later = (a: string, b: string): number => a.localeCompare(b, "en", { numeric: true });

/**
 * The Python with the newest version of a library that passes a check, if there is one. Candidates
 * are $PYTHON, the first python3 on the path (that of an active virtual environment) and
 * /usr/bin/python3, to which Debian's packages belong.
 */
export function pythonWith(library: string, check = "True"): string | undefined {
  const look = `import ${library}; assert ${check}; print(${library}.__version__)`;
  const candidates = [process.env.PYTHON, "python3", "/usr/bin/python3"].flatMap((python) => {
    if (!python) return [];
    const { status, stdout } = spawnSync(python, ["-c", look], { encoding: "utf8" });
    return status === 0 ? [{ python, version: stdout.trim() }] : [];
  });
  return candidates.toSorted((a, b) => later(b.version, a.version))[0]?.python;
}

/** The Python with the newest torch that sees the device, if there is one. */
export const pythonWithTorch = (device: "cpu" | "cuda" = "cpu"): string | undefined =>
  pythonWith("torch", device === "cpu" ? "True" : "torch.cuda.is_available()");

/**
 * A PyTorch program that runs a task on every line `run NAME` and answers with its milliseconds.
 */
export class TorchPeer {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;

  private constructor(python: string, script: string, threads: number, more: readonly string[]) {
    this.#child = spawn(python, [script, String(threads), ...more]);
    this.#child.stderr.pipe(process.stderr);
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /** Waits until the program has answered with its version. */
  static async start(
    python: string,
    script: string,
    threads: number,
    ...more: readonly string[]
  ): Promise<[TorchPeer, string]> {
    const peer = new TorchPeer(python, script, threads, more);
    return [peer, await peer.#line()];
  }

  async #line(): Promise<string> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error("the PyTorch program ended early; its error is above");
    return value;
  }

  async run(task: string): Promise<number> {
    this.#child.stdin.write(`run ${task}\n`);
    return Number(await this.#line());
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  stop(): void {
    this.#child.kill();
  }
}

/** The use of a process: processor milliseconds, and page faults. */
export interface Use {
  readonly processor: number;
  readonly faults: number;
}

const TICK = 10;

/** The use so far, where the system has /proc. */
function useOf(pid: number): Use | undefined {
  const path = `/proc/${pid}/stat`;
  if (!existsSync(path)) return undefined;
  // After the name, which ends with the last bracket: state, …, minflt (8th), …, utime and stime
  // (12th and 13th).
  const fields = readFileSync(path, "utf8").split(") ").at(-1)!.split(" ").map(Number);
  return { processor: TICK * (fields[11] + fields[12]), faults: fields[7] };
}

export interface Comparison {
  readonly task: string;
  readonly ours: number;
  readonly theirs: number | undefined;
  /** The use per run of the first task of each side, where the system reports it. */
  readonly use?: { readonly ours: Use | undefined; readonly theirs: Use | undefined };
}

/** Idle threads of one side keep spinning for a while and would slow the other side. */
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 250));

/** Milliseconds of consecutive runs: at least `least` runs, and as many as fit in `long` ms. */
async function runs(run: () => Promise<number>, least: number, long: number): Promise<number[]> {
  const times: number[] = [];
  const end = performance.now() + long;
  while (times.length < least || performance.now() < end) times.push(await run());
  return times;
}

/**
 * Warm-up: runs that wake threads, fill caches and raise the clock are not counted.
 */
async function burst(run: () => Promise<number>): Promise<number[]> {
  await settle();
  await runs(run, 1, 100);
  return runs(run, 3, 100);
}

/** Medians of tasks that run in turns, over `rounds` rounds. */
export async function inTurns(
  tasks: readonly (() => Promise<number>)[],
  rounds: number,
): Promise<number[]> {
  const times: number[][] = tasks.map(() => []);
  for (let i = 0; i < rounds; i++)
    for (const [k, task] of tasks.entries()) times[k].push(...(await burst(task)));
  return times.map(median);
}

/** Counts the runs of a task in a process, and reports the use per run at the end. */
function metered(pid: number, run: () => Promise<number>) {
  const before = useOf(pid);
  let count = 0;
  return {
    run: () => {
      count++;
      return run();
    },
    use: (): Use | undefined => {
      const after = useOf(pid);
      return before && after && count > 0
        ? {
            processor: (after.processor - before.processor) / count,
            faults: (after.faults - before.faults) / count,
          }
        : undefined;
    },
  };
}

/**
 * Medians over `rounds` turns. Each side runs in several settings (one thread, two). The fastest
 * counts, because a second thread slows small tasks on either side.
 */
export async function compare(
  task: string,
  ours: readonly (() => Promise<unknown>)[],
  peers: readonly TorchPeer[],
  rounds: number,
): Promise<Comparison> {
  // The first run, which includes preparation, is not counted.
  for (const peer of peers) await peer.run(task);
  const mine = ours.map((run) => metered(process.pid, () => milliseconds(run)));
  const other = peers.map((peer) => metered(peer.pid, () => peer.run(task)));
  const all = await inTurns(
    [...mine, ...other].map(({ run }) => run),
    rounds,
  );
  const best = (times: readonly number[]): number => Math.min(...times);
  return {
    task,
    ours: best(all.slice(0, ours.length)),
    theirs: other.length > 0 ? best(all.slice(ours.length)) : undefined,
    use: { ours: mine[0]?.use(), theirs: other[0]?.use() },
  };
}

const cell = (text: string, width: number): string => text.padStart(width);

export function printComparisons(rows: readonly Comparison[], version: string | undefined): void {
  process.stdout.write(
    `${"task".padEnd(34)}${cell("diffeo ms", 12)}${cell(version ?? "no torch", 20)}${cell("ratio", 8)}\n`,
  );
  for (const { task, ours, theirs } of rows)
    process.stdout.write(
      `${task.padEnd(34)}${cell(ours.toFixed(2), 12)}${cell(theirs?.toFixed(2) ?? "–", 20)}${cell(theirs ? (ours / theirs).toFixed(2) : "–", 8)}\n`,
    );
}

const used = (use: Use | undefined): string =>
  use
    ? `${use.processor.toFixed(0)} ms of processors and ${use.faults.toFixed(0)} page faults`
    : "unknown";

/**
 * The use of the machine per run of a comparison: on a shared machine a fairer measure than time.
 */
export const describeUse = ({ task, use }: Comparison): string =>
  `${task}: a run takes ${used(use?.ours)}, a run of PyTorch ${used(use?.theirs)}`;
