/**
 * The no-U-turn sampler of nuts.ts as code of a module. Subtrees lie on a stack in memory; a merge
 * writes into the lower of the two.
 */
import { apply, Code, type Expr, f64, i32, int, select } from "../engine/wasm/code.ts";
import { lanes } from "../engine/wasm/lanes.ts";
import { callFunction } from "../engine/wasm/module.ts";
import type { ChainCode, ChainSite } from "./chain-code.ts";
import { DIVERGED } from "./trajectory.ts";
import { copy, eachPair, load, loadInteger, store, storeInteger, total } from "./vector-code.ts";

const { one, many } = lanes.f64;

export function nutsCode(site: ChainSite): ChainCode {
  const { module, layout, leaf, uniform } = site;
  const { vector, subtree: part, whole, stack, ends, end } = layout;
  const at = i32;
  const log = (x: Expr): Expr => module.call("log", one, [x]);
  const field = (code: Code, base: Expr, offset: number): Expr =>
    code.let(int.add(base, i32(offset)));

  /** (v, w, a, b): whether v · (a + b) > 0 and w · (a + b) > 0. */
  const straight = module.function("straight", () => {
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
  const isStraight = (...addresses: readonly [Expr, Expr, Expr, Expr]): Expr =>
    apply("i32", callFunction(straight), ...addresses);

  /**
   * (a's first and last momentum, its ρ, b): the same for two stretches that follow each other, and
   * across their seam. A velocity lies behind its momentum.
   */
  const straightOn = module.function("straightOn", () => {
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

  /** log(eᵃ + eᵇ) */
  const logAdd = module.function("logAdd", () => {
    const code = new Code(["f64", "f64"]);
    const [a, b] = [code.parameter(0), code.parameter(1)];
    const [most, least] = [code.let(one.max(a, b)), code.let(one.min(a, b))];
    const sum = code.let(module.call("exp", one, [one.sub(least, most)]));
    const value = code.let(one.add(most, module.call("log1p", one, [sum])));
    const none = one.eq(most, f64(Number.NEGATIVE_INFINITY));
    return code.finish([select(none, most, value)]);
  });

  /** (from, to): the leaf that was drawn from one stretch becomes that of another. */
  const choose = module.function("choose", () => {
    const code = new Code(["i32", "i32"]);
    const [from, to] = [code.parameter(0), code.parameter(1)];
    for (const offset of [part.x, part.slope])
      copy(code, vector, field(code, from, offset), field(code, to, offset));
    for (const offset of [part.value, part.energy]) store(code, to, offset, load(from, offset));
    return code.finish([]);
  });

  /** (a, b): b joins a, weighted against `against`: its own weight where it is 0, else a + b. */
  const join = (code: Code, a: Expr, b: Expr, biased: boolean): void => {
    const [own, other] = [code.let(load(a, part.logWeight)), code.let(load(b, part.logWeight))];
    const both = code.let(apply("f64", callFunction(logAdd), own, other));
    const share = one.sub(other, biased ? own : both);
    code.when(one.lt(log(uniform()), share), () => code.run(callFunction(choose), b, a));
    store(code, a, part.logWeight, both);
    const [sum, more] = [field(code, a, part.sum), field(code, b, part.sum)];
    eachPair(code, vector, (pair) => pair.store(sum, many.add(pair.load(sum), pair.load(more))));
    storeInteger(code, a, part.depth, int.add(loadInteger(a, part.depth), i32(1)));
  };

  const finish = (code: Code, diverged: Expr): void => {
    const leaves = apply("f64", 0xb7, loadInteger(at(layout.leaves)));
    site.finish(code, {
      x: at(whole + part.x),
      slope: at(whole + part.slope),
      value: load(at(whole), part.value),
      energy: load(at(whole), part.energy),
      acceptance: one.div(load(at(layout.accepted)), leaves),
      depth: loadInteger(at(whole), part.depth),
      diverged,
    });
  };

  /** The half that was built joins the whole. */
  const double = module.function("double", () => {
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
    // The new half's last leaf is the whole's end on its side; its velocity lies behind it.
    copy(code, 2 * vector, at(stack + part.lastMomentum), inner);
    const deep = int.le(loadInteger(at(layout.maxDepth)), loadInteger(at(whole), part.depth));
    code.when(
      int.or(int.eqz(goesOn), deep),
      () => finish(code, i32(0)),
      () => storeInteger(code, at(layout.forward), 0, one.lt(uniform(), f64(0.5))),
    );
    return code.finish([]);
  });

  /** The subtree on top of the stack merges with those of its depth; 0 where one turns. */
  const merge = module.function("merge", () => {
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

  return {
    begin: (code) => {
      const [p, v] = [at(layout.momentum), at(layout.velocity)];
      copy(
        code,
        vector,
        p,
        ...[part.firstMomentum, part.lastMomentum, part.sum].map((o) => at(whole + o)),
      );
      copy(code, vector, v, at(whole + part.firstVelocity), at(whole + part.lastVelocity));
      const both = (offset: number): Expr[] => [
        at(ends + offset),
        at(ends + layout.endBytes + offset),
      ];
      copy(code, vector, p, ...both(end.momentum));
      copy(code, vector, at(layout.x), at(whole + part.x), ...both(end.x));
      copy(code, vector, at(layout.slope), at(whole + part.slope), ...both(end.slope));
      store(code, at(whole), part.logWeight, f64(0));
      store(code, at(whole), part.value, load(at(layout.value)));
      store(code, at(whole), part.energy, load(at(layout.startEnergy)));
      storeInteger(code, at(whole), part.depth, i32(0));
      store(code, at(layout.accepted), 0, f64(0));
      storeInteger(code, at(layout.stackSize), 0, i32(0));
      storeInteger(code, at(layout.forward), 0, one.lt(uniform(), f64(0.5)));
    },
    advance: (code) => {
      const forward = code.let(loadInteger(at(layout.forward)));
      const size = code.let(load(at(layout.stepSize)));
      const from = code.let(select(forward, at(ends + layout.endBytes), at(ends)));
      site.step(code, from, select(forward, size, one.neg(size)));
      const energy = code.let(load(at(layout.leafEnergy)));
      const change = code.let(one.sub(load(at(layout.startEnergy)), energy));
      const leaves = int.add(loadInteger(at(layout.leaves)), i32(1));
      storeInteger(code, at(layout.leaves), 0, leaves);
      const likely = one.min(f64(1), module.call("exp", one, [change]));
      const accepted = select(one.eq(change, change), likely, f64(0));
      store(code, at(layout.accepted), 0, one.add(load(at(layout.accepted)), accepted));
      const [p, v] = [at(layout.momentum), at(layout.velocity)];
      const top = code.let(
        int.add(int.mul(loadInteger(at(layout.stackSize)), i32(part.bytes)), i32(stack)),
      );
      const of = (offset: number): Expr => field(code, top, offset);
      const own = (offset: number): Expr => field(code, from, offset);
      copy(code, vector, leaf.x, own(end.x), of(part.x));
      copy(code, vector, leaf.slope, own(end.slope), of(part.slope));
      copy(
        code,
        vector,
        p,
        own(end.momentum),
        of(part.firstMomentum),
        of(part.lastMomentum),
        of(part.sum),
      );
      copy(code, vector, v, of(part.firstVelocity), of(part.lastVelocity));
      store(code, top, part.logWeight, change);
      store(code, top, part.value, leaf.value());
      store(code, top, part.energy, energy);
      storeInteger(code, top, part.depth, i32(0));
      code.when(
        int.eqz(one.lt(f64(-DIVERGED), change)),
        () => finish(code, i32(1)),
        () => {
          const stacked = int.add(loadInteger(at(layout.stackSize)), i32(1));
          storeInteger(code, at(layout.stackSize), 0, stacked);
          code.when(
            apply("i32", callFunction(merge)),
            () => {
              const alone = int.eq(loadInteger(at(layout.stackSize)), i32(1));
              const depths = int.eq(
                loadInteger(at(stack), part.depth),
                loadInteger(at(whole), part.depth),
              );
              code.when(int.and(alone, depths), () => code.run(callFunction(double)));
            },
            () => finish(code, i32(0)),
          );
        },
      );
    },
  };
}
