/**
 * Subtrees of the no-U-turn sampler (nuts.ts) as code of a module: the U-turn criterion, the
 * sampled leaf, and the merge of two subtrees. They are on a stack in memory; a merge writes into
 * the lower of the two.
 */
import { apply, Code, type Expr, f64, i32, int, select } from "../engine/wasm/code.ts";
import { lanes } from "../engine/wasm/lanes.ts";
import { callFunction, type Module } from "../engine/wasm/module.ts";
import type { ChainSite } from "./chain-code.ts";
import type { ChainLayout } from "./chain-layout.ts";
import { copy, eachPair, load, loadInteger, store, storeInteger, total } from "./vector-code.ts";

const { one, many } = lanes.f64;
const at = i32;

/** The address of a field, in a local variable. */
export const field = (code: Code, base: Expr, offset: number): Expr =>
  code.let(int.add(base, i32(offset)));

/** (v, w, a, b): whether v · (a + b) > 0 and w · (a + b) > 0. */
function straightFunction(module: Module, vector: number): number {
  return module.function("straight", () => {
    const code = new Code(["i32", "i32", "i32", "i32"]);
    const [v, w, a, b] = [0, 1, 2, 3].map((i) => code.parameter(i));
    const [first, last] = [total(code), total(code)];
    eachPair(code, vector, (pair) => {
      const sum = code.let(many.add(pair.load(a), pair.load(b)));
      first.add(many.mul(pair.load(v), sum));
      last.add(many.mul(pair.load(w), sum));
    });
    const positive = (x: Expr): Expr => one.lt(f64(0), x);
    return code.finish([int.and(positive(first.value()), positive(last.value()))]);
  });
}

/**
 * (a's first and last momentum, its ρ, b): the same for two consecutive subtrees, and across their
 * seam. A velocity is stored behind its momentum.
 */
function straightOnFunction(module: Module, { vector, subtree: part }: ChainLayout): number {
  const straight = straightFunction(module, vector);
  const isStraight = (...addresses: readonly [Expr, Expr, Expr, Expr]): Expr =>
    apply("i32", callFunction(straight), ...addresses);
  return module.function("straightOn", () => {
    const code = new Code(["i32", "i32", "i32", "i32"]);
    const [first, last, sum, b] = [0, 1, 2, 3].map((i) => code.parameter(i));
    const velocity = (momentum: Expr): Expr => int.add(momentum, i32(vector));
    const of = (offset: number): Expr => int.add(b, i32(offset));
    const out = code.local("i32");
    code.set(out, isStraight(velocity(first), of(part.lastVelocity), sum, of(part.sum)));
    code.when(out, () =>
      code.set(
        out,
        isStraight(velocity(first), of(part.firstVelocity), sum, of(part.firstMomentum)),
      ),
    );
    code.when(out, () =>
      code.set(out, isStraight(velocity(last), of(part.lastVelocity), of(part.sum), last)),
    );
    return code.finish([out]);
  });
}

/** log(eᵃ + eᵇ) */
function logAddFunction(module: Module): number {
  return module.function("logAdd", () => {
    const code = new Code(["f64", "f64"]);
    const [a, b] = [code.parameter(0), code.parameter(1)];
    const [most, least] = [code.let(one.max(a, b)), code.let(one.min(a, b))];
    const sum = code.let(module.call("exp", one, [one.sub(least, most)]));
    const value = code.let(one.add(most, module.call("log1p", one, [sum])));
    const none = one.eq(most, f64(Number.NEGATIVE_INFINITY));
    return code.finish([select(none, most, value)]);
  });
}

/** (from, to): copies the sampled leaf of one subtree to another. */
function chooseFunction(module: Module, { vector, subtree: part }: ChainLayout): number {
  return module.function("choose", () => {
    const code = new Code(["i32", "i32"]);
    const [from, to] = [code.parameter(0), code.parameter(1)];
    for (const offset of [part.x, part.slope])
      copy(code, vector, field(code, from, offset), field(code, to, offset));
    for (const offset of [part.value, part.energy]) store(code, to, offset, load(from, offset));
    return code.finish([]);
  });
}

/**
 * Writes the join of subtrees a and b: with `biased` the weight of b is compared with that of a,
 * else with that of both.
 */
type Join = (code: Code, a: Expr, b: Expr, biased: boolean) => void;

function joinOf({ module, layout, uniform }: ChainSite): Join {
  const { vector, subtree: part } = layout;
  const logAdd = logAddFunction(module);
  const choose = chooseFunction(module, layout);
  const log = (x: Expr): Expr => module.call("log", one, [x]);
  return (code, a, b, biased) => {
    const [own, other] = [code.let(load(a, part.logWeight)), code.let(load(b, part.logWeight))];
    const both = code.let(apply("f64", callFunction(logAdd), own, other));
    const share = one.sub(other, biased ? own : both);
    code.when(one.lt(log(uniform()), share), () => code.run(callFunction(choose), b, a));
    store(code, a, part.logWeight, both);
    const [sum, more] = [field(code, a, part.sum), field(code, b, part.sum)];
    eachPair(code, vector, (pair) => pair.store(sum, many.add(pair.load(sum), pair.load(more))));
    storeInteger(code, a, part.depth, int.add(loadInteger(a, part.depth), i32(1)));
  };
}

/** Joins the new half to the tree. */
function doubleFunction(
  { module, layout, uniform }: ChainSite,
  straightOn: number,
  join: Join,
  finish: Finish,
): number {
  const { vector, subtree: part, whole, stack } = layout;
  return module.function("double", () => {
    const code = new Code();
    const half = at(stack);
    storeInteger(code, at(layout.stackSize), 0, i32(0));
    const forward = code.let(loadInteger(at(layout.forward)));
    const [left, right] = [at(whole + part.firstMomentum), at(whole + part.lastMomentum)];
    const outer = code.let(select(forward, left, right));
    const inner = code.let(select(forward, right, left));
    const goesOn = code.let(
      apply("i32", callFunction(straightOn), outer, inner, at(whole + part.sum), half),
    );
    join(code, at(whole), half, true);
    // The new half's last leaf is the tree's end on that side; its velocity is stored behind it.
    copy(code, 2 * vector, at(stack + part.lastMomentum), inner);
    const deep = int.le(loadInteger(at(layout.maxDepth)), loadInteger(at(whole), part.depth));
    code.when(
      int.or(int.eqz(goesOn), deep),
      () => finish(code, i32(0)),
      () => storeInteger(code, at(layout.forward), 0, one.lt(uniform(), f64(0.5))),
    );
    return code.finish([]);
  });
}

/** Merges the subtree on top of the stack with those of its depth; 0 if one makes a U-turn. */
function mergeFunction({ module, layout }: ChainSite, straightOn: number, join: Join): number {
  const { vector, subtree: part, stack } = layout;
  return module.function("merge", () => {
    const code = new Code();
    const [out, again] = [code.local("i32"), code.local("i32")];
    const size = code.local("i32");
    code.set(out, i32(1));
    code.set(again, i32(1));
    code.set(size, loadInteger(at(layout.stackSize)));
    code.while(
      () => int.and(again, int.lt(i32(1), size)),
      () => {
        const b = code.let(int.add(int.mul(size, i32(part.bytes)), i32(stack - part.bytes)));
        const a = code.let(int.sub(b, i32(part.bytes)));
        code.when(
          int.ne(loadInteger(a, part.depth), loadInteger(b, part.depth)),
          () => code.set(again, i32(0)),
          () => {
            const [first, last] = [
              field(code, a, part.firstMomentum),
              field(code, a, part.lastMomentum),
            ];
            const goesOn = apply(
              "i32",
              callFunction(straightOn),
              first,
              last,
              int.add(a, i32(part.sum)),
              b,
            );
            code.when(
              goesOn,
              () => {
                join(code, a, b, false);
                copy(code, 2 * vector, field(code, b, part.lastMomentum), last);
                code.set(size, int.sub(size, i32(1)));
              },
              () => {
                code.set(out, i32(0));
                code.set(again, i32(0));
              },
            );
          },
        );
      },
    );
    storeInteger(code, at(layout.stackSize), 0, size);
    return code.finish([out]);
  });
}

/** Writes the end of the transition. */
export type Finish = (code: Code, diverged: Expr) => void;

/** The functions of a module that grow the tree. */
export interface SubtreeCode {
  /** Joins the new half to the tree. */
  readonly double: number;
  /** Merges the subtrees on top of the stack; returns 0 if one makes a U-turn. */
  readonly merge: number;
}

export function subtreeCode(site: ChainSite, finish: Finish): SubtreeCode {
  const straightOn = straightOnFunction(site.module, site.layout);
  const join = joinOf(site);
  return {
    double: doubleFunction(site, straightOn, join, finish),
    merge: mergeFunction(site, straightOn, join),
  };
}
