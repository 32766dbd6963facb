/**
 * Steps of a sampler as a WebAssembly module: the compiled graph of one step in a loop over the
 * grid, with its noise and the checks of run.ts,
 *
 *   steps(first, n) → how many        for k = first … first + n − 1:
 *                                       t, dt, since ← the call's list
 *                                       z ← normal(fold(keys, k))          the numbers of noise.ts
 *                                       graph
 *                                       stop if a point is NaN or lost, or an index has no entry
 *                                       exits, clamps += …;   point ← next
 *
 * If a step stops the loop, the point before it is kept for the error message.
 */
import { apply, Code, type Expr, i32, int, memory, simd } from "../engine/wasm/code.ts";
import { lanes } from "../engine/wasm/lanes.ts";
import { aligned, callFunction, type Module } from "../engine/wasm/module.ts";
import { elements, floatOf, loadMany, loadOne } from "../engine/wasm/operations.ts";
import { type Around, compileTrace } from "../engine/wasm/session.ts";
import { type FloatType, type Shape, sizeOf, type Tensor, type Trace } from "../graph/index.ts";
import {
  foldFunction,
  groupedBytes,
  layOutNormals,
  type NormalsMemory,
  normalsFunction,
} from "../random/normals-code.ts";

/** The results of the graph of a step: those of `guardExits`, and the solver's memory. */
export interface StepResult {
  readonly next: Tensor;
  readonly exits: Tensor;
  readonly clamps: Tensor;
  readonly lost: Tensor;
  readonly landed?: Tensor;
  readonly memory?: Tensor;
}

/** The positions of a step's inputs among the inputs of the trace. */
export interface StepInputPlaces {
  readonly point: number;
  readonly t: number;
  readonly dt: number;
  readonly noise: readonly number[];
  /** The first input that is the same for all steps. */
  readonly fixed: number;
  /** The memory of the previous step, and the time at which it started. */
  readonly value?: number;
  readonly since?: number;
}

/** The most steps of a call of the module. */
export const MOST_STEPS = 1024;

/** Addresses that the caller of a module writes and reads. */
interface StepsLayout {
  /** Keys of the samples, in groups of four. */
  readonly keys: number;
  /** t, dt and since of each step of a call, as floats of the graph's type. */
  readonly times: Readonly<Record<"t" | "dt" | "since", number>>;
  /** Exits and clamps of a call: two float64 numbers. */
  readonly counts: number;
  readonly end: number;
}

/** A module of steps, and the addresses its caller uses. */
export interface StepsModule {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly layout: StepsLayout;
  /** Addresses of the graph's inputs, in the order of the trace, and of its results by name. */
  readonly inputs: readonly (number | undefined)[];
  readonly results: ResultPlaces;
  readonly faults: Module["faults"];
}

type ResultPlaces = { readonly [K in keyof StepResult]: number };

interface Memory extends StepsLayout {
  /** Keys of one step, and of a further request of noise in it. */
  readonly own: number;
  readonly further: number;
  readonly normals: NormalsMemory;
}

function layOut(start: number, count: number, sizes: readonly number[], bytes: number): Memory {
  const keyBytes = groupedBytes(count);
  const keys = aligned(start);
  const own = aligned(keys + keyBytes);
  const further = aligned(own + keyBytes);
  const t = aligned(further + keyBytes);
  const dt = aligned(t + MOST_STEPS * bytes);
  const since = aligned(dt + MOST_STEPS * bytes);
  const counts = aligned(since + MOST_STEPS * bytes);
  const normals = layOutNormals(counts + 16, sizes);
  return { keys, own, further, times: { t, dt, since }, counts, normals, end: normals.end };
}

const copyBytes = (code: Code, to: Expr, from: Expr, bytes: number): void => {
  if (bytes > 0) code.run([0xfc, 0x0a, 0, 0], to, from, i32(bytes));
};

/** A function: whether all of `size` numbers at an address are finite. */
function finiteFunction(module: Module, size: number, dtype: FloatType): number {
  return module.function(`finite ${size} ${dtype}`, () => {
    const code = new Code(["i32"]);
    const at = code.parameter(0);
    const { bytes } = elements[dtype];
    const { one, many } = lanes[floatOf(dtype) as "f32" | "f64"];
    const all = code.local("v128");
    const rest = code.local("i32");
    const isTrue = (l: typeof one, x: Expr): Expr =>
      l.lt(l.abs(x), l.constant(Number.POSITIVE_INFINITY));
    code.set(all, many.eq(many.constant(0), many.constant(0)));
    code.set(rest, i32(1));
    const whole = size - (size % many.width);
    code.loop(i32(0), i32(whole * bytes), 16, (i) => {
      code.set(all, many.and(all, isTrue(many, loadMany(int.add(at, i), 0))));
    });
    for (let k = whole; k < size; k++)
      code.set(rest, int.and(rest, isTrue(one, loadOne(dtype, at, k * bytes))));
    return code.finish([int.and(rest, apply("i32", simd(0xa3), all))]);
  });
}

/** What the code of the loop uses. */
interface Site extends Around {
  readonly own: Memory;
  readonly places: StepInputPlaces;
  readonly results: ResultPlaces;
  /** The number of numbers of all points, and those of one event per request of noise. */
  readonly size: number;
  readonly draws: readonly number[];
  readonly count: number;
  readonly dtype: FloatType;
}

/** Writes the noise of step k to where the graph reads it. */
function writeNoise(code: Code, site: Site, k: Expr): void {
  const { module, own, count, dtype, draws, places, inputs } = site;
  const wanted = draws.filter((_, i) => inputs[places.noise[i]] !== undefined);
  if (wanted.length === 0) return;
  const fold = callFunction(foldFunction(module, count));
  code.run(fold, i32(own.keys), k, i32(own.own));
  draws.forEach((size, i) => {
    const address = inputs[places.noise[i]];
    if (address === undefined) return;
    if (i > 0) code.run(fold, i32(own.own), i32(i), i32(own.further));
    const normals = normalsFunction(module, own.normals, { count, size, dtype });
    code.run(callFunction(normals), i32(i > 0 ? own.further : own.own), i32(address));
  });
}

function writeLoop(site: Site): void {
  const { module, own, places, results, inputs, dtype, size } = site;
  const { bytes } = elements[dtype];
  const float = floatOf(dtype) as "f32" | "f64";
  const finite = finiteFunction(module, size, dtype);
  const count = (k: 0 | 1, address: number): void => {
    const given = loadOne(dtype, i32(address), 0);
    const more = float === "f32" ? apply("f64", 0xbb, given) : given;
    const before = loadOne("float64", i32(own.counts), 8 * k);
    code.run(
      memory(elements.float64.store, 8 * k),
      i32(own.counts),
      lanes.f64.one.add(before, more),
    );
  };
  const code = new Code(["i32", "i32"]);
  const [first, n] = [code.parameter(0), code.parameter(1)];
  const s = code.local("i32");
  const going = code.local("i32");
  code.set(s, i32(0));
  code.set(going, i32(1));
  code.while(
    () => int.and(going, int.lt(s, n)),
    () => {
      const at = code.let(int.mul(s, i32(bytes)));
      for (const name of ["t", "dt", "since"] as const) {
        const to = inputs[places[name] ?? -1];
        if (to !== undefined) copyBytes(code, i32(to), int.add(at, i32(own.times[name])), bytes);
      }
      writeNoise(code, site, code.let(int.add(first, s)));
      code.run(callFunction(site.call));
      const numbers = apply("i32", callFunction(finite), i32(results.landed ?? results.next));
      const none = lanes[float].one.eq(
        loadOne(dtype, i32(results.lost), 0),
        lanes[float].one.constant(0),
      );
      const fault = module.faults?.address;
      const fine = fault === undefined ? i32(1) : int.eqz(loadOne("int32", i32(fault), 0));
      code.set(going, int.and(int.and(numbers, none), fine));
      code.when(going, () => {
        count(0, results.exits);
        count(1, results.clamps);
        const past = inputs[places.value ?? -1];
        if (past !== undefined && results.memory !== undefined)
          copyBytes(code, i32(past), i32(results.memory), size * bytes);
        const point = inputs[places.point];
        if (point !== undefined) copyBytes(code, i32(point), i32(results.next), size * bytes);
        code.set(s, int.add(s, i32(1)));
      });
    },
  );
  module.define(module.reserve(), code.finish([s], "steps"));
}

/**
 * The module of a step's graph for `count` samples; undefined if the compiler lacks an operation of
 * it.
 *
 * @param outputs the results of the graph, in the primitives of the compiler
 * @param draws the shapes of the normals of one event
 */
export function stepsModule(
  traced: Trace<StepResult>,
  outputs: readonly Tensor[],
  places: StepInputPlaces,
  draws: readonly Shape[],
): StepsModule | undefined {
  const { shape, dtype } = traced.inputs[places.point];
  const sizes = draws.map(sizeOf);
  let own: Pick<StepsModule, "layout" | "results"> | undefined;
  const compiled = compileTrace(
    traced as Trace<unknown>,
    (around) => {
      const layout = layOut(around.end, shape[0], sizes, elements[dtype].bytes);
      const results = Object.fromEntries(
        Object.entries(traced.result).map(([name, tensor]) => {
          const i = traced.outputs.findIndex((o) => o.tensor === tensor);
          return [name, around.outputs[i]];
        }),
      ) as ResultPlaces;
      own = { layout, results };
      writeLoop({
        ...around,
        own: layout,
        places,
        results,
        size: sizeOf(shape),
        draws: sizes,
        count: shape[0],
        dtype: dtype as FloatType,
      });
      return layout.end;
    },
    outputs,
  );
  return compiled && own && { ...compiled, ...own };
}
