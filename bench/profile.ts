/**
 * Where the time of a session goes, by the runtime's own profiler. ONNX Runtime profiles sessions
 * that are created with an option; while `profiled` runs its task, every session has it.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as ort from "onnxruntime-node";

/**
 * Milliseconds per run of a session: the mean over all runs but the first on the host, over all
 * runs on a GPU.
 */
export interface Profile {
  readonly run: number;
  /**
   * The time in which the host executes the graph: all of it on a CPU, the encoding of commands for
   * a GPU.
   */
  readonly execute: number;
  /** By operator, on the host. */
  readonly operators: ReadonlyMap<string, number>;
  /** By operator, on the GPU, where there is one with timestamps. */
  readonly kernels: ReadonlyMap<string, number>;
}

interface TraceEvent {
  readonly cat: "Session" | "Node" | "Api";
  readonly name: string;
  /** Start in microseconds since the session began, and duration. */
  readonly ts: number;
  readonly dur: number;
  readonly args?: { readonly op_name?: string };
}

const runsOf = (events: readonly TraceEvent[]): TraceEvent[] =>
  events.filter((e) => e.name === "model_run").sort((a, b) => a.ts - b.ts);

function byName(
  events: readonly TraceEvent[],
  nameOf: (e: TraceEvent) => string,
  runs: number,
): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const e of events) sums.set(nameOf(e), (sums.get(nameOf(e)) ?? 0) + e.dur / 1000 / runs);
  return sums;
}

/**
 * The profile of the (first) session that ran most often. The times of a GPU's kernels are in the
 * trace of the session that collects them next, such as the one that reads a result, so they are
 * taken from all traces.
 */
function profileOf(traces: readonly (readonly TraceEvent[])[]): Profile {
  const [main] = traces.toSorted((a, b) => runsOf(b).length - runsOf(a).length);
  const [, second, ...more] = main ? runsOf(main) : [];
  if (!second) throw new Error("no session ran more than once, so there is nothing to profile");
  const runs = 1 + more.length;
  const later = main.filter((e) => e.ts >= second.ts);
  const session = byName(
    later.filter((e) => e.cat === "Session"),
    (e) => e.name,
    runs,
  );
  return {
    run: session.get("model_run") ?? 0,
    execute: session.get("SequentialExecutor::Execute") ?? 0,
    operators: byName(
      later.filter((e) => e.cat === "Node" && e.name.endsWith("_kernel_time")),
      (e) => e.args?.op_name ?? e.name,
      runs,
    ),
    // "Sub_1381&Sub&Sub": the node, its operator, and the program that ran.
    kernels: byName(
      traces.flat().filter((e) => e.cat === "Api"),
      (e) => e.name.split("&")[1] ?? e.name,
      runs + 1,
    ),
  };
}

/**
 * Runs a task that creates, runs and frees sessions, and returns the profile of the one that ran
 * most often.
 */
export async function profiled(task: () => Promise<void>): Promise<Profile> {
  const folder = mkdtempSync(join(tmpdir(), "diffeo-profile-"));
  const factory = ort.InferenceSession as {
    create: (...args: unknown[]) => Promise<ort.InferenceSession>;
  };
  const { create } = factory;
  let count = 0;
  factory.create = async (bytes, options) => {
    const file = { enableProfiling: true, profileFilePrefix: join(folder, `session-${count++}`) };
    const session = await create.call(factory, bytes, { ...(options as object), ...file });
    // The trace is written when profiling ends, which a session cannot do after it was freed.
    const release = session.release.bind(session);
    session.release = () => {
      session.endProfiling();
      return release();
    };
    return session;
  };
  try {
    await task();
    // In the order in which sessions began.
    const names = readdirSync(folder).sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    return profileOf(
      names.map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as TraceEvent[]),
    );
  } finally {
    factory.create = create;
    rmSync(folder, { recursive: true });
  }
}

const sum = (times: ReadonlyMap<string, number>): number =>
  [...times.values()].reduce((a, b) => a + b, 0);

const largest = (times: ReadonlyMap<string, number>, count = 10): string =>
  [...times]
    .sort((a, b) => b[1] - a[1])
    .slice(0, count)
    .map(([name, ms]) => `${name} ${ms.toFixed(1)}`)
    .join(", ");

/** A profile in words, one line for each part of it. */
export function describeProfile({ run, execute, operators, kernels }: Profile): string[] {
  const ms = (x: number): string => `${x.toFixed(1)} ms`;
  return kernels.size === 0
    ? [`${ms(run)} per run, operators ${ms(sum(operators))}: ${largest(operators)}`]
    : [
        `${ms(run)} per run: the host encodes for ${ms(execute)}, kernels take ${ms(sum(kernels))}`,
        `kernels: ${largest(kernels, 14)}`,
      ];
}
