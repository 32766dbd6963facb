/** A run's options resolved, its samples in batches, and its graphs: compiled once a run, freed at its end. */
import { type Compiled, type CompileOptions, compile, type OpenSpecs } from "../engine/index.ts";
import { constant, type FloatType, fail, input, type NdArray, type Shape } from "../graph/index.ts";
import { showShape } from "../graph/ndarray.ts";
import { batches, rowsOf, stacked } from "../host/index.ts";
import type { Process } from "../sde/index.ts";
import type { SampleOptions, SampleResult } from "./options.ts";

/** What one batch works with. */
export interface Batch {
  readonly process: Process;
  readonly options: SampleOptions;
  readonly type: FloatType;
  /** Samples first … first + count. */
  readonly first: number;
  readonly count: number;
  /** The shape of one event in x. */
  readonly event: Shape;
  readonly build: Build;
}

/**
 * `compile` for the run's device and type. A name is compiled once, and again only for batches of another size: the
 * function must depend on the run alone, and leave the batch's axis open in its specs.
 */
export type Build = <X extends readonly unknown[], Y>(
  name: string,
  f: (...args: X) => Y,
  specs: { readonly [I in keyof X]: OpenSpecs<X[I]> },
) => Compiled<X, Y>;

export async function withCompiler<T>(
  options: CompileOptions,
  type: FloatType,
  work: (build: Build) => Promise<T>,
): Promise<T> {
  const open = new Map<string, { dispose(): Promise<void> }>();
  const build: Build = <X extends readonly unknown[], Y>(
    name: string,
    f: (...args: X) => Y,
    specs: { readonly [I in keyof X]: OpenSpecs<X[I]> },
  ) => {
    const compiled = (open.get(name) as Compiled<X, Y> | undefined) ?? compile(f, specs, { ...options, type });
    open.set(name, compiled);
    return compiled;
  };
  try {
    return await work(build);
  } finally {
    for (const compiled of open.values()) await compiled.dispose();
  }
}

export const floatType = ({ type, device }: CompileOptions): FloatType =>
  type ?? (device === "reference" ? "float64" : "float32");

/** A list as a record: as a spec, an empty list would read as the shape of a single number. */
export const numbered = <T>(list: readonly T[]): Readonly<Record<string, T>> =>
  Object.fromEntries(list.map((value, i) => [i, value]));

/** Runs `each` on batch after batch. */
export async function inBatches(
  process: Process,
  options: SampleOptions,
  each: (batch: Batch) => Promise<SampleResult>,
): Promise<SampleResult> {
  const { start, first = 0 } = options;
  const event = options.shape ?? (start && startEvent(process, start));
  if (!event) fail("usage", "the shape of an event is not known", "give shape, as in shape: [2], or start");
  if (event.length !== process.eventRank)
    fail(
      "shape",
      `an event of shape ${showShape(event)} in a process whose events have rank ${process.eventRank}`,
      "give the shape of one event, without the batch",
    );
  const count = options.count ?? start?.shape[0];
  if (count === undefined) fail("usage", "count is missing", "say how many samples, or give start");
  if (start && start.shape[0] !== count)
    fail("shape", `start has ${start.shape[0]} points, count is ${count}`, "leave count out, or make them agree");
  const type = floatType(options);
  return withCompiler(options, type, async (build) => {
    const parts: SampleResult[] = [];
    for (const [from, rows] of batches(count, options.batch)) {
      const own = start ? { ...options, start: rowsOf(start, from, rows) } : options;
      parts.push(await each({ process, options: own, type, first: first + from, count: rows, event, build }));
    }
    return joined(parts);
  });
}

/** The shape in x of one of the points to start from: that of y, unless φ embeds. */
function startEvent({ phi, horizon }: Process, { shape }: NdArray): Shape {
  const y = input("y", [1, ...shape.slice(1)]);
  return (phi ? phi.inverse(y, constant(horizon, y.dtype)) : y).shape.slice(1);
}

function joined(parts: readonly SampleResult[]): SampleResult {
  const total = (of: (part: SampleResult) => number): number => parts.reduce((n, part) => n + of(part), 0);
  const most = (of: (part: SampleResult) => number): number => Math.max(...parts.map(of));
  return {
    samples: stacked(parts.map((part) => part.samples)),
    steps: most((part) => part.steps),
    rejected: most((part) => part.rejected),
    scoreEvaluations: most((part) => part.scoreEvaluations),
    exits: total((part) => part.exits),
    clamps: total((part) => part.clamps),
    times: parts[0].times,
  };
}
