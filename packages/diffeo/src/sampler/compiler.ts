/**
 * The graphs of an open sampler. Each is compiled when it is first needed, kept between calls, and
 * freed at the end.
 */
import { type Compiled, type CompileOptions, compile, type OpenSpecs } from "../engine/index.ts";
import type { FloatType, Tensor } from "../graph/index.ts";
import type { StepGraph, StepsSession } from "./steps-session.ts";

/**
 * `compile` for one device and type. A name is compiled once per batch size. The function must
 * depend on the name alone, and leave the axis of the batch open in its specs.
 */
export type Build = <X extends readonly unknown[], Y>(
  name: string,
  f: (...args: X) => Y,
  specs: { readonly [I in keyof X]: OpenSpecs<X[I]> },
) => Compiled<X, Y>;

/** A module of steps for a batch size, opened once; undefined if steps are run one by one. */
export type BuildSteps = (
  name: string,
  count: number,
  graph: () => StepGraph,
) => Promise<StepsSession | undefined>;

export interface Compiler {
  readonly build: Build;
  readonly buildSteps: BuildSteps;
  readonly dispose: () => Promise<void>;
}

export function compiler(options: CompileOptions, type: FloatType): Compiler {
  const open = new Map<string, { dispose(): Promise<void> }>();
  const modules = new Map<string, Promise<StepsSession | undefined>>();
  return {
    buildSteps: (name, count, graph) => {
      const key = `${name} ${count}`;
      const module = modules.get(key) ?? openSteps(graph, options);
      modules.set(key, module);
      return module;
    },
    build: <X extends readonly unknown[], Y>(
      name: string,
      f: (...args: X) => Y,
      specs: { readonly [I in keyof X]: OpenSpecs<X[I]> },
    ) => {
      const compiled =
        (open.get(name) as Compiled<X, Y> | undefined) ?? compile(f, specs, { ...options, type });
      open.set(name, compiled);
      return compiled;
    },
    dispose: async () => {
      modules.clear();
      for (const compiled of open.values()) await compiled.dispose();
    },
  };
}

async function openSteps(
  graph: () => StepGraph,
  options: CompileOptions,
): Promise<StepsSession | undefined> {
  const { device = "cpu" } = options;
  if (device !== "cpu" && device !== "wasm") return undefined;
  const { StepsSession } = await import("./steps-session.ts");
  return StepsSession.open(graph(), options);
}

export const floatType = ({ type, device }: CompileOptions): FloatType =>
  type ?? (device === "reference" ? "float64" : "float32");

/** Tensors by name, as an argument of a graph. */
export type NamedTensors = Readonly<Record<string, Tensor>>;

/** A list as a record, because an empty list as a spec would mean the shape of a number. */
export const byIndex = <T>(list: readonly T[]): Readonly<Record<string, T>> =>
  Object.fromEntries(list.map((value, i) => [i, value]));
