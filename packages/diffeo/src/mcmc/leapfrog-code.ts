/** The leapfrog step (leapfrog.ts) as code of a module. */
import { Code, type Expr, f64, i32, int, select } from "../engine/wasm/code.ts";
import { lanes } from "../engine/wasm/lanes.ts";
import type { Module } from "../engine/wasm/module.ts";
import type { TargetCode } from "./chain-code.ts";
import type { ChainLayout } from "./chain-layout.ts";
import { dot, eachPair, load, type Pair, store } from "./vector-code.ts";

const { one, many } = lanes.f64;
const at = i32;

/** (address of an end, ε): x, p, M⁻¹p, ∇, log p and H of where one step leads. */
export function leapfrogFunction(
  module: Module,
  layout: ChainLayout,
  target: TargetCode,
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
    const speed = (pair: Pair, kicked: Expr): Expr =>
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
