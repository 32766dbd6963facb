/** The no-U-turn sampler of nuts.ts as code of a module. Its subtrees are in subtree-code.ts. */
import { apply, type Code, type Expr, f64, i32, int, select } from "../engine/wasm/code.ts";
import { lanes } from "../engine/wasm/lanes.ts";
import { callFunction } from "../engine/wasm/module.ts";
import type { ChainCode, ChainSite } from "./chain-code.ts";
import { type Finish, field, type SubtreeCode, subtreeCode } from "./subtree-code.ts";
import { DIVERGED } from "./trajectory.ts";
import { copy, load, loadInteger, store, storeInteger } from "./vector-code.ts";

const { one } = lanes.f64;
const at = i32;

/** Ends the transition at the sampled leaf. */
const finishOf =
  (site: ChainSite): Finish =>
  (code, diverged) => {
    const { layout } = site;
    const { subtree: part, whole } = layout;
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

/** The tree of one leaf, at the chain's point. */
function beginTree(code: Code, { layout, uniform }: ChainSite): void {
  const { vector, subtree: part, whole, ends, end } = layout;
  const [p, v] = [at(layout.momentum), at(layout.velocity)];
  copy(
    code,
    vector,
    p,
    ...[part.firstMomentum, part.lastMomentum, part.sum].map((o) => at(whole + o)),
  );
  copy(code, vector, v, at(whole + part.firstVelocity), at(whole + part.lastVelocity));
  const both = (offset: number): Expr[] => [at(ends + offset), at(ends + layout.endBytes + offset)];
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
}

/** H at a leaf, and H₀ − H. */
interface LeafEnergy {
  readonly energy: Expr;
  readonly change: Expr;
}

/** One leapfrog step, counted, and the energy of its leaf. */
function takeStep(
  code: Code,
  { module, layout, step }: ChainSite,
  from: Expr,
  size: Expr,
): LeafEnergy {
  step(code, from, size);
  const energy = code.let(load(at(layout.leafEnergy)));
  const change = code.let(one.sub(load(at(layout.startEnergy)), energy));
  const leaves = int.add(loadInteger(at(layout.leaves)), i32(1));
  storeInteger(code, at(layout.leaves), 0, leaves);
  const likely = one.min(f64(1), module.call("exp", one, [change]));
  const accepted = select(one.eq(change, change), likely, f64(0));
  store(code, at(layout.accepted), 0, one.add(load(at(layout.accepted)), accepted));
  return { change, energy };
}

/** Makes the leaf of the last step an end of the trajectory, and a subtree on top of the stack. */
function stackLeaf(
  code: Code,
  { layout, leaf }: ChainSite,
  from: Expr,
  { energy, change }: LeafEnergy,
): void {
  const { vector, subtree: part, stack, end } = layout;
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
}

/** Merges the subtrees on the stack; when a half is complete, joins it to the tree. */
function growTree(code: Code, { layout }: ChainSite, tree: SubtreeCode, finish: Finish): void {
  const { subtree: part, whole, stack } = layout;
  const stacked = int.add(loadInteger(at(layout.stackSize)), i32(1));
  storeInteger(code, at(layout.stackSize), 0, stacked);
  code.when(
    apply("i32", callFunction(tree.merge)),
    () => {
      const alone = int.eq(loadInteger(at(layout.stackSize)), i32(1));
      const depths = int.eq(loadInteger(at(stack), part.depth), loadInteger(at(whole), part.depth));
      code.when(int.and(alone, depths), () => code.run(callFunction(tree.double)));
    },
    () => finish(code, i32(0)),
  );
}

export function nutsCode(site: ChainSite): ChainCode {
  const { ends, endBytes, forward: direction, stepSize } = site.layout;
  const finish = finishOf(site);
  const tree = subtreeCode(site, finish);
  return {
    begin: (code) => beginTree(code, site),
    advance: (code) => {
      const forward = code.let(loadInteger(at(direction)));
      const size = code.let(load(at(stepSize)));
      const from = code.let(select(forward, at(ends + endBytes), at(ends)));
      const leaf = takeStep(code, site, from, select(forward, size, one.neg(size)));
      stackLeaf(code, site, from, leaf);
      code.when(
        int.eqz(one.lt(f64(-DIVERGED), leaf.change)),
        () => finish(code, i32(1)),
        () => growTree(code, site, tree, finish),
      );
    },
  };
}
