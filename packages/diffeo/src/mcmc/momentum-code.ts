/** A fresh momentum p ~ N(0, M), its velocity M⁻¹p and H₀, as code of a module. */
import { Code, type Expr, f64, i32, int } from "../engine/wasm/code.ts";
import { lanes } from "../engine/wasm/lanes.ts";
import type { Module } from "../engine/wasm/module.ts";
import { normalOf, unitAt, writeFold, writeThreefry } from "../random/code.ts";
import type { ChainLayout } from "./chain-layout.ts";
import type { MetricForm } from "./metric.ts";
import { addMultiple, copy, dot, eachPair, load, loadInteger, store } from "./vector-code.ts";

const { one, many } = lanes.f64;
const at = i32;

/** p, M⁻¹p and H₀ of a fresh momentum, from the stream whose key is at `streamKey`. */
export function momentumFunction(
  module: Module,
  layout: ChainLayout,
  n: number,
  form: MetricForm,
): number {
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
    if (form === "dense") denseKick(code, layout, n);
    else if (form === "low-rank") lowRankKick(code, layout);
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

/** p = D^−½ (z + Σ (λ^−½ − 1) (u · z) u), and M⁻¹p = D^½ (z + Σ (λ^½ − 1) (u · z) u). */
function lowRankKick(code: Code, layout: ChainLayout): void {
  const { root, vector, momentum, velocity, directions, excess } = layout;
  const [p, v, z] = [at(momentum), at(velocity), at(layout.z)];
  copy(code, vector, z, p, v);
  code.loop(i32(0), loadInteger(at(layout.rank)), 1, (k) => {
    const u = code.let(int.add(int.mul(k, i32(vector)), i32(directions)));
    const number = (base: number): Expr => load(int.shl(k, i32(3)), base);
    const along = code.let(dot(code, vector, u, z));
    addMultiple(code, vector, p, u, one.mul(number(excess.inverse), along));
    addMultiple(code, vector, v, u, one.mul(number(excess.root), along));
  });
  eachPair(code, vector, (pair) => {
    const l = code.let(pair.load(at(root)));
    pair.store(p, many.div(pair.load(p), l));
    pair.store(v, many.mul(pair.load(v), l));
  });
}
