/**
 * Whole transitions of a chain as a WebAssembly module: the compiled log-density and its gradient,
 * and around it the leapfrog step (leapfrog.ts), the sampler (`nuts-code.ts`, `hmc-code.ts`) and
 * the chain's random numbers (`random/code.ts`). The mathematics is that of nuts.ts, hmc.ts and
 * adaptive-chain.ts, in the same order, so that both give the same numbers to rounding.
 *
 *   run()                                      log p and its gradient at the point in memory
 *   transitions(leapfrogs, until) → how many   goes on where the last call stopped
 *   probe() → H₀ − H after one step            for the search of a step size
 *
 * A call ends after a number of leapfrog steps, in the middle of a transition if need be: what a
 * chain keeps is a stretch of memory (`ChainLayout.state`), so one module serves all chains.
 */
import { apply, Code, type Expr, f64, i32, int, select } from "../engine/wasm/code.ts";
import { lanes } from "../engine/wasm/lanes.ts";
import { callFunction, type Module } from "../engine/wasm/module.ts";
import { compileTrace } from "../engine/wasm/session.ts";
import { DiffeoError, gradEach, type Tensor, trace } from "../graph/index.ts";
import { normalOf, unitAt, writeFold, writeThreefry } from "../random/code.ts";
import { type ChainCode, type ChainSite, methodNumber } from "./chain-code.ts";
import { type ChainLayout, layOutChain, RECORD_HEAD } from "./chain-layout.ts";
import type { ChainTarget } from "./chain-step.ts";
import { fixedLengthCode } from "./hmc-code.ts";
import { nutsCode } from "./nuts-code.ts";
import {
  copy,
  dot,
  eachPair,
  every,
  load,
  loadInteger,
  store,
  storeInteger,
} from "./vector-code.ts";

const { one, many } = lanes.f64;

/** A module and the addresses its caller uses. */
export interface ChainModule {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly layout: ChainLayout;
  /** n */
  readonly size: number;
  /** Whether M⁻¹ is a matrix. */
  readonly dense: boolean;
  /** Addresses of the point and of what the target is there. */
  readonly target: { readonly x: number; readonly value: number; readonly slope: number };
  /** Where the inputs of the target are, by name. */
  readonly inputs: Readonly<Record<string, number | undefined>>;
}

const at = (address: number): Expr => i32(address);

/** p, M⁻¹p and H₀ of a fresh momentum, by the stream whose key is at `streamKey`. */
function kickFunction(module: Module, layout: ChainLayout, n: number, dense: boolean): number {
  const { vector } = layout;
  return module.function("kick", () => {
    const code = new Code();
    const [key, block, z] = [at(layout.uniformKey), at(layout.block), layout.z];
    writeFold(module, code, at(layout.streamKey), "momentum", key);
    code.loop(
      i32(0),
      i32(n),
      2,
      (j) => {
        const counter = int.shrU(j, i32(1));
        writeThreefry(module, code, key, [counter, i32(0), i32(0), i32(0)], block);
        const address = code.let(int.shl(j, i32(3)));
        store(code, address, z, normalOf(module, unitAt(block, 0)));
        code.when(int.lt(int.add(j, i32(1)), i32(n)), () =>
          store(code, address, z + 8, normalOf(module, unitAt(block, 1))),
        );
      },
      true,
    );
    const [p, v, root] = [at(layout.momentum), at(layout.velocity), at(layout.root)];
    if (dense) denseKick(code, layout, n);
    else
      eachPair(code, vector, (pair) => {
        const [own, l] = [code.let(pair.load(at(z))), code.let(pair.load(root))];
        pair.store(p, many.div(own, l));
        pair.store(v, many.mul(own, l));
      });
    const kinetic = one.mul(dot(code, vector, p, v), f64(0.5));
    store(code, at(layout.startEnergy), 0, one.sub(kinetic, load(at(layout.value))));
    return code.finish([]);
  });
}

/** p = L⁻ᵀz from the last row upwards, and M⁻¹p = Lz. */
function denseKick(code: Code, { root, vector, momentum, velocity, z }: ChainLayout, n: number) {
  const entry = (i: Expr, j: Expr): Expr =>
    load(int.add(int.mul(i, i32(vector)), int.shl(j, i32(3))), root);
  const number = (base: number, i: Expr): Expr => load(int.shl(i, i32(3)), base);
  const sum = code.local("f64");
  code.loop(i32(0), i32(n), 1, (back) => {
    const i = code.let(int.sub(i32(n - 1), back));
    code.set(sum, number(z, i));
    code.loop(int.add(i, i32(1)), i32(n), 1, (k) =>
      code.set(sum, one.sub(sum, one.mul(entry(k, i), number(momentum, k)))),
    );
    store(code, int.shl(i, i32(3)), momentum, one.div(sum, entry(i, i)));
  });
  code.loop(i32(0), i32(n), 1, (i) => {
    code.set(sum, f64(0));
    code.loop(i32(0), int.add(i, i32(1)), 1, (k) =>
      code.set(sum, one.add(sum, one.mul(entry(i, k), number(z, k)))),
    );
    store(code, int.shl(i, i32(3)), velocity, sum);
  });
}

interface Target {
  /** Calls log p and its gradient. */
  readonly run: (code: Code) => void;
  readonly x: number;
  readonly value: number;
  readonly slope: number;
}

/** (address of an end, ε): x, p, M⁻¹p, ∇, log p and H of where one step leads. */
function stepFunction(
  module: Module,
  layout: ChainLayout,
  target: Target,
  n: number,
  dense: boolean,
): number {
  const { vector, end } = layout;
  return module.function("leapfrog", () => {
    const code = new Code(["i32", "f64"]);
    const [from, size] = [code.parameter(0), code.parameter(1)];
    const [p, v] = [at(layout.momentum), at(layout.velocity)];
    const half = code.let(many.splat(one.mul(size, f64(0.5))));
    const whole = code.let(many.splat(size));
    const part = (offset: number): Expr => code.let(int.add(from, i32(offset)));
    const [x, momentum, slope] = [part(end.x), part(end.momentum), part(end.slope)];
    const velocity = (): void => {
      if (!dense) return;
      // Rows of M⁻¹, each of a vector's bytes.
      code.loop(i32(0), i32(n), 1, (i) => {
        const row = code.let(int.add(int.mul(i, i32(vector)), i32(layout.inverse)));
        store(code, int.shl(i, i32(3)), layout.velocity, dot(code, vector, row, p));
      });
    };
    const speed = (pair: Parameters<Parameters<typeof eachPair>[2]>[0], kicked: Expr): Expr =>
      dense ? pair.load(v) : many.mul(pair.load(at(layout.inverse)), kicked);
    eachPair(code, vector, (pair) => {
      const kicked = code.let(many.add(pair.load(momentum), many.mul(pair.load(slope), half)));
      pair.store(p, kicked);
      if (!dense)
        pair.store(at(target.x), many.add(pair.load(x), many.mul(speed(pair, kicked), whole)));
    });
    if (dense) {
      velocity();
      eachPair(code, vector, (pair) =>
        pair.store(at(target.x), many.add(pair.load(x), many.mul(pair.load(v), whole))),
      );
    }
    target.run(code);
    eachPair(code, vector, (pair) => {
      const pull = many.mul(pair.load(at(target.slope)), half);
      const kicked = code.let(many.add(pair.load(p), pull));
      pair.store(p, kicked);
      if (!dense) pair.store(v, speed(pair, kicked));
    });
    velocity();
    const kinetic = one.mul(dot(code, vector, p, v), f64(0.5));
    const energy = code.let(one.sub(kinetic, load(at(target.value))));
    const known = select(one.eq(energy, energy), energy, f64(Number.POSITIVE_INFINITY));
    store(code, at(layout.leafEnergy), 0, known);
    return code.finish([]);
  });
}

/** The next uniform number, 32 of them by each sub-key of the transition's stream. */
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

/** (x, ∇, log p, H, acceptance, depth, diverged): keeps the point and writes the record. */
function finishFunction(module: Module, layout: ChainLayout, target: Target): number {
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
    // What is no number ends a transition as a divergence, at the leaf of the last step.
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

function writeDriver(
  module: Module,
  target: Target,
  layout: ChainLayout,
  n: number,
  dense: boolean,
): void {
  const kick = kickFunction(module, layout, n, dense);
  const step = stepFunction(module, layout, target, n, dense);
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
  const either = (code: Code, write: (own: ChainCode) => void): void =>
    code.when(
      isNuts(),
      () => write(nuts),
      () => write(fixed),
    );
  const begin = module.function("begin", () => {
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
  const advance = module.function("advance", () => {
    const code = new Code();
    either(code, (own) => own.advance(code));
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

/** Whatever the target has to say of one chain, it says again, better, of all of them. */
function traceOne<Y>(make: () => Y): Y | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof DiffeoError) return undefined;
    throw error;
  }
}

/**
 * The module of a target for inputs of the given shapes; undefined where the compiler lacks an
 * operation of it, or where the target is not one of single chains.
 */
export function chainModule(
  { size: n, logDensity }: ChainTarget,
  shapes: Readonly<Record<string, readonly number[]>>,
  dense: boolean,
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
    // A log-density that does not depend on the point.
    if (x === undefined) return undefined;
    const layout = layOutChain(end, n, dense);
    const target = { x, value: outputs[0], slope: outputs[1] };
    const run = (code: Code): void => code.run(callFunction(call));
    writeDriver(module, { ...target, run }, layout, n, dense);
    own = { layout, target };
    return layout.total;
  });
  if (!compiled || !own) return undefined;
  const names = Object.keys(shapes);
  return {
    ...own,
    bytes: compiled.bytes,
    size: n,
    dense,
    inputs: Object.fromEntries(names.map((name, i) => [name, compiled.inputs[i]])),
  };
}
