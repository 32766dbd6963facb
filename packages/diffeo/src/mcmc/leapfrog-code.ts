/** The leapfrog step (leapfrog.ts) as code of a module. */
import { Code, type Expr, f64, i32, int, select } from "../engine/wasm/code.ts";
import { lanes } from "../engine/wasm/lanes.ts";
import type { Module } from "../engine/wasm/module.ts";
import type { TargetCode } from "./chain-code.ts";
import type { ChainLayout } from "./chain-layout.ts";
import type { MetricForm } from "./metric.ts";
import { addMultiple, dot, eachPair, load, loadInteger, type Pair, store } from "./vector-code.ts";

const { one, many } = lanes.f64;
const at = i32;

/** M⁻¹p, M⁻¹ row by row. */
function denseVelocity(code: Code, layout: ChainLayout, n: number): void {
  const { vector, inverse, momentum, velocity } = layout;
  code.loop(i32(0), i32(n), 1, (i) => {
    const row = code.let(int.add(int.mul(i, i32(vector)), i32(inverse)));
    store(code, int.shl(i, i32(3)), velocity, dot(code, vector, row, at(momentum)));
  });
}

/** M⁻¹p = Dp + Σ (λ − 1) (w · p) w, w = D^½u. */
function lowRankVelocity(code: Code, layout: ChainLayout): void {
  const { vector, inverse, momentum, velocity, scaled, excess } = layout;
  const [p, v] = [at(momentum), at(velocity)];
  eachPair(code, vector, (pair) => pair.store(v, many.mul(pair.load(at(inverse)), pair.load(p))));
  code.loop(i32(0), loadInteger(at(layout.rank)), 1, (k) => {
    const w = code.let(int.add(int.mul(k, i32(vector)), i32(scaled)));
    const along = one.mul(dot(code, vector, w, p), load(int.shl(k, i32(3)), excess.square));
    addMultiple(code, vector, v, w, along);
  });
}

/** (address of an end, ε): x, p, M⁻¹p, ∇, log p and H after one step. */
export function leapfrogFunction(
  module: Module,
  layout: ChainLayout,
  target: TargetCode,
  n: number,
  form: MetricForm,
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
    const diagonal = form === "diagonal";
    const velocity = (): void => {
      if (form === "dense") denseVelocity(code, layout, n);
      if (form === "low-rank") lowRankVelocity(code, layout);
    };
    const speed = (pair: Pair, kicked: Expr): Expr =>
      diagonal ? many.mul(pair.load(at(layout.inverse)), kicked) : pair.load(v);
    eachPair(code, vector, (pair) => {
      const kicked = code.let(many.add(pair.load(momentum), many.mul(pair.load(slope), half)));
      pair.store(p, kicked);
      if (diagonal)
        pair.store(at(target.x), many.add(pair.load(x), many.mul(speed(pair, kicked), whole)));
    });
    if (!diagonal) {
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
      if (diagonal) pair.store(v, speed(pair, kicked));
    });
    velocity();
    const kinetic = one.mul(dot(code, vector, p, v), f64(0.5));
    const energy = code.let(one.sub(kinetic, load(at(target.value))));
    const known = select(one.eq(energy, energy), energy, f64(Number.POSITIVE_INFINITY));
    store(code, at(layout.leafEnergy), 0, known);
    return code.finish([]);
  });
}
