/** Transitions of fixed length (hmc.ts) as code of a module. */
import { apply, type Expr, f64, i32, int, select } from "../engine/wasm/code.ts";
import { lanes } from "../engine/wasm/lanes.ts";
import { type ChainCode, type ChainSite, methodNumber } from "./chain-code.ts";
import type { ChainMethodName } from "./method.ts";
import { DIVERGED } from "./trajectory.ts";
import { copy, load, loadInteger, store, storeInteger } from "./vector-code.ts";

const { one } = lanes.f64;

export function fixedLengthCode(site: ChainSite): ChainCode {
  const { module, layout, leaf, uniform } = site;
  const { vector, ends, end } = layout;
  const at = i32;
  const is = (name: ChainMethodName): Expr =>
    int.eq(loadInteger(at(layout.method)), i32(methodNumber(name)));
  return {
    begin: (code) => {
      copy(code, vector, at(layout.x), at(ends + end.x));
      copy(code, vector, at(layout.slope), at(ends + end.slope));
      copy(code, vector, at(layout.momentum), at(ends + end.momentum));
      storeInteger(code, at(layout.steps), 0, i32(1));
      code.when(is("hmc"), () => {
        const most = one.sub(one.mul(f64(2), load(at(layout.meanSteps))), f64(1));
        const length = apply("i32", [0xfc, 0x02], one.floor(one.mul(uniform(), most)));
        storeInteger(code, at(layout.steps), 0, int.add(i32(1), length));
      });
      // A number below every acceptance, so that all moves are accepted.
      store(code, at(layout.u), 0, f64(-1));
      code.when(int.eqz(is("ula")), () => store(code, at(layout.u), 0, uniform()));
    },
    advance: (code) => {
      site.step(code, at(ends), load(at(layout.stepSize)));
      const leaves = code.let(int.add(loadInteger(at(layout.leaves)), i32(1)));
      storeInteger(code, at(layout.leaves), 0, leaves);
      const energy = code.let(load(at(layout.leafEnergy)));
      const change = code.let(one.sub(load(at(layout.startEnergy)), energy));
      const diverged = code.let(int.eqz(one.lt(f64(-DIVERGED), change)));
      copy(code, vector, leaf.x, at(ends + end.x));
      copy(code, vector, leaf.slope, at(ends + end.slope));
      copy(code, vector, at(layout.momentum), at(ends + end.momentum));
      const last = int.le(loadInteger(at(layout.steps)), leaves);
      code.when(int.or(diverged, last), () => {
        const likely = one.min(f64(1), module.call("exp", one, [change]));
        const acceptance = code.let(select(diverged, f64(0), likely));
        const passes = one.lt(load(at(layout.u)), acceptance);
        const moves = code.let(int.and(int.eqz(diverged), passes));
        site.finish(code, {
          x: select(moves, leaf.x, at(layout.x)),
          slope: select(moves, leaf.slope, at(layout.slope)),
          value: select(moves, leaf.value(), load(at(layout.value))),
          energy: select(moves, energy, load(at(layout.startEnergy))),
          acceptance,
          depth: i32(0),
          diverged,
        });
      });
    },
  };
}
