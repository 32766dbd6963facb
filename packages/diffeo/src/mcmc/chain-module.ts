/**
 * Complete transitions of a chain as a WebAssembly module: the compiled log-density and its
 * gradient, with the leapfrog step (`leapfrog-code.ts`), its momentum (`momentum-code.ts`), the
 * sampler (`nuts-code.ts`, `hmc-code.ts`) and the chain's random numbers (`random/code.ts`). The
 * computations are those of nuts.ts, hmc.ts and adaptive-chain.ts in the same order, so that both
 * give the same numbers to rounding.
 *
 *   run()                                      log p and its gradient at the point in memory
 *   transitions(leapfrogs, until) → how many   continues where the last call stopped
 *   probe() → H₀ − H after one step            for the search of a step size
 *
 * A call ends after a number of leapfrog steps, possibly in the middle of a transition. All state
 * of a chain is one block of memory (`ChainLayout.state`), so one module serves all chains.
 */
import { apply, Code, type Expr, i32, int, select } from "../engine/wasm/code.ts";
import { lanes } from "../engine/wasm/lanes.ts";
import { callFunction, type Module } from "../engine/wasm/module.ts";
import { compileTrace } from "../engine/wasm/session.ts";
import { DiffeoError, gradEach, type Tensor, trace } from "../graph/index.ts";
import { unitAt, writeFold, writeThreefry } from "../random/code.ts";
import { type ChainCode, type ChainSite, methodNumber, type TargetCode } from "./chain-code.ts";
import { type ChainLayout, layOutChain, RECORD_HEAD } from "./chain-layout.ts";
import type { ChainTarget } from "./chain-step.ts";
import { fixedLengthCode } from "./hmc-code.ts";
import { leapfrogFunction } from "./leapfrog-code.ts";
import type { MetricForm } from "./metric.ts";
import { momentumFunction } from "./momentum-code.ts";
import { nutsCode } from "./nuts-code.ts";
import { copy, every, load, loadInteger, store, storeInteger } from "./vector-code.ts";

const { one, many } = lanes.f64;

/** A module and the addresses its caller uses. */
export interface ChainModule {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly layout: ChainLayout;
  /** n */
  readonly size: number;
  /** The form of M⁻¹. */
  readonly form: MetricForm;
  /** Addresses of the point and of the target's results there. */
  readonly target: { readonly x: number; readonly value: number; readonly slope: number };
  /** Addresses of the target's inputs, by name. */
  readonly inputs: Readonly<Record<string, number | undefined>>;
}

const at = (address: number): Expr => i32(address);

/** The next uniform number; each sub-key of the transition's stream gives 32 of them. */
function uniformFunction(module: Module, layout: ChainLayout): number {
  return module.function("uniform", () => {
    const code = new Code();
    const i = code.let(loadInteger(at(layout.uniforms)));
    const [key, block] = [at(layout.uniformKey), at(layout.block)];
    code.when(int.eqz(int.and(i, i32(31))), () =>
      writeFold(module, code, at(layout.treeKey), int.shrU(i, i32(5)), key),
    );
    code.when(int.eqz(int.and(i, i32(1))), () => {
      const counter = int.shrU(int.and(i, i32(31)), i32(1));
      writeThreefry(module, code, key, [counter, i32(0), i32(0), i32(0)], block);
    });
    storeInteger(code, at(layout.uniforms), 0, int.add(i, i32(1)));
    const [first, second] = [code.let(unitAt(block, 0)), code.let(unitAt(block, 1))];
    return code.finish([select(int.and(i, i32(1)), second, first)]);
  });
}

/** (x, ∇, log p, H, acceptance, depth, diverged): stores the point and writes the record. */
function finishFunction(module: Module, layout: ChainLayout, target: TargetCode): number {
  const { vector } = layout;
  return module.function("finish", () => {
    const code = new Code(["i32", "i32", "f64", "f64", "f64", "i32", "i32"]);
    const [x, slope, value, energy, acceptance, depth, diverged] = [0, 1, 2, 3, 4, 5, 6].map((i) =>
      code.parameter(i),
    );
    const count = code.let(loadInteger(at(layout.count)));
    const row = code.let(int.add(int.mul(count, i32(layout.record.bytes)), i32(layout.records)));
    const leaves = apply("f64", 0xb7, loadInteger(at(layout.leaves)));
    const number = (n: Expr): Expr => apply("f64", 0xb7, n);
    [value, energy, acceptance, number(depth), leaves, number(diverged)].forEach((e, i) => {
      store(code, row, 8 * i, e);
    });
    copy(code, vector, x, code.let(int.add(row, i32(8 * RECORD_HEAD))), at(layout.x));
    copy(code, vector, slope, at(layout.slope));
    store(code, at(layout.value), 0, value);
    storeInteger(code, at(layout.active), 0, i32(0));
    storeInteger(code, at(layout.count), 0, int.add(count, i32(1)));
    const done = loadInteger(at(layout.done));
    storeInteger(code, at(layout.done), 0, int.add(done, i32(1)));
    // NaN ends a transition as a divergence at the leaf of the last step.
    code.when(diverged, () => {
      const given = code.let(load(at(target.value)));
      const numbers = every(code, vector, (pair) => {
        const s = code.let(pair.load(at(target.slope)));
        return many.eq(s, s);
      });
      const isNumber = code.let(int.and(one.eq(given, given), numbers));
      const finite = code.let(
        every(code, vector, (pair) =>
          many.lt(many.abs(pair.load(at(target.x))), many.constant(Number.POSITIVE_INFINITY)),
        ),
      );
      code.when(int.and(int.eqz(isNumber), finite), () => {
        const before = code.let(loadInteger(at(layout.undefinedCount)));
        code.when(int.eqz(before), () => copy(code, vector, at(target.x), at(layout.undefinedAt)));
        storeInteger(code, at(layout.undefinedCount), 0, int.add(before, i32(1)));
      });
    });
    return code.finish([]);
  });
}

/** The functions of a module that a transition calls. */
interface Parts {
  readonly kick: number;
  readonly step: number;
  /** Writes the code of the chain's method. */
  readonly either: (code: Code, write: (own: ChainCode) => void) => void;
}

/** Starts a transition: its stream, a momentum, and the start of its method. */
function beginFunction(module: Module, layout: ChainLayout, { kick, either }: Parts): number {
  return module.function("begin", () => {
    const code = new Code();
    const stream = at(layout.streamKey);
    writeFold(module, code, at(layout.transitionKey), loadInteger(at(layout.done)), stream);
    code.run(callFunction(kick));
    writeFold(module, code, stream, "tree", at(layout.treeKey));
    storeInteger(code, at(layout.uniforms), 0, i32(0));
    storeInteger(code, at(layout.leaves), 0, i32(0));
    storeInteger(code, at(layout.active), 0, i32(1));
    either(code, (own) => own.begin(code));
    return code.finish([]);
  });
}

/**
 * (leapfrogs, until): runs transitions until `until` of them are done or `leapfrogs` steps are
 * taken.
 */
function writeTransitions(module: Module, layout: ChainLayout, parts: Parts): void {
  const begin = beginFunction(module, layout, parts);
  const advance = module.function("advance", () => {
    const code = new Code();
    parts.either(code, (own) => own.advance(code));
    return code.finish([]);
  });
  module.function("transitions", () => {
    const code = new Code(["i32", "i32"]);
    const [leapfrogs, until] = [code.parameter(0), code.parameter(1)];
    storeInteger(code, at(layout.count), 0, i32(0));
    storeInteger(code, at(layout.undefinedCount), 0, i32(0));
    const active = (): Expr => loadInteger(at(layout.active));
    const more = (): Expr =>
      int.and(
        int.lt(loadInteger(at(layout.done)), until),
        int.lt(loadInteger(at(layout.count)), i32(layout.record.rows)),
      );
    code.while(
      () => int.and(int.lt(i32(0), leapfrogs), int.or(active(), more())),
      () => {
        code.when(int.eqz(active()), () => code.run(callFunction(begin)));
        code.set(leapfrogs, int.sub(leapfrogs, i32(1)));
        code.run(callFunction(advance));
      },
    );
    return code.finish([loadInteger(at(layout.count))], "transitions");
  });
}

/** H₀ − H after one step from a fresh momentum. */
function writeProbe(module: Module, layout: ChainLayout, { kick, step }: Parts): void {
  module.function("probe", () => {
    const code = new Code();
    code.run(callFunction(kick));
    const { end, ends, vector } = layout;
    copy(code, vector, at(layout.x), at(ends + end.x));
    copy(code, vector, at(layout.momentum), at(ends + end.momentum));
    copy(code, vector, at(layout.slope), at(ends + end.slope));
    code.run(callFunction(step), at(ends), load(at(layout.stepSize)));
    const change = one.sub(load(at(layout.startEnergy)), load(at(layout.leafEnergy)));
    return code.finish([change], "probe");
  });
}

function writeDriver(
  module: Module,
  target: TargetCode,
  layout: ChainLayout,
  n: number,
  form: MetricForm,
): void {
  const kick = momentumFunction(module, layout, n, form);
  const step = leapfrogFunction(module, layout, target, n, form);
  const uniform = uniformFunction(module, layout);
  const finish = finishFunction(module, layout, target);
  const site: ChainSite = {
    module,
    layout,
    leaf: { x: at(target.x), slope: at(target.slope), value: () => load(at(target.value)) },
    uniform: () => apply("f64", callFunction(uniform)),
    step: (code, from, size) => code.run(callFunction(step), from, size),
    finish: (code, { x, slope, value, energy, acceptance, depth, diverged }) =>
      code.run(callFunction(finish), x, slope, value, energy, acceptance, depth, diverged),
  };
  const [nuts, fixed] = [nutsCode(site), fixedLengthCode(site)];
  const isNuts = (): Expr => int.eq(loadInteger(at(layout.method)), i32(methodNumber("nuts")));
  const either: Parts["either"] = (code, write) =>
    code.when(
      isNuts(),
      () => write(nuts),
      () => write(fixed),
    );
  writeTransitions(module, layout, { kick, step, either });
  writeProbe(module, layout, { kick, step, either });
}

/**
 * Undefined if the target throws for one chain: it will throw again, with a better message, for
 * all.
 */
function traceOne<Y>(make: () => Y): Y | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof DiffeoError) return undefined;
    throw error;
  }
}

/**
 * The module of a target for inputs of the given shapes; undefined if the compiler lacks an
 * operation of it, or if it cannot be evaluated for a single chain.
 */
export function chainModule(
  { size: n, logDensity }: ChainTarget,
  shapes: Readonly<Record<string, readonly number[]>>,
  form: MetricForm,
): ChainModule | undefined {
  const traced = traceOne(() =>
    trace(
      (inputs: Readonly<Record<string, Tensor>>, x: Tensor) => {
        const f = (y: Tensor): Tensor => logDensity(y, inputs);
        return { value: f(x), slope: gradEach(f)(x) };
      },
      [shapes, [1, n]],
      "float64",
    ),
  );
  if (!traced) return undefined;
  let own: Pick<ChainModule, "layout" | "target"> | undefined;
  const compiled = compileTrace(traced, ({ module, call, inputs, outputs, end }) => {
    const x = inputs.at(-1);
    // The log-density does not depend on the point.
    if (x === undefined) return undefined;
    const layout = layOutChain(end, n, form);
    const target = { x, value: outputs[0], slope: outputs[1] };
    const run = (code: Code): void => code.run(callFunction(call));
    writeDriver(module, { ...target, run }, layout, n, form);
    own = { layout, target };
    return layout.total;
  });
  if (!compiled || !own) return undefined;
  const names = Object.keys(shapes);
  return {
    ...own,
    bytes: compiled.bytes,
    size: n,
    form,
    inputs: Object.fromEntries(names.map((name, i) => [name, compiled.inputs[i]])),
  };
}
