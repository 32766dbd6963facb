/**
 * Makes the plan of a graph (`plan.ts`): assigns values to groups as roots, by stage (`stages.ts`).
 */
import { type Shape, sizeOf, type Tensor, topological } from "../../graph/index.ts";
import { stridesOf } from "../../graph/ndarray.ts";
import { isInput, uniformValue } from "../../graph/tensor.ts";
import {
  type Affine,
  counter,
  fixed,
  flatten,
  type Index,
  isScalar,
  isView,
  unreshaped,
  viewIndex,
} from "./affine.ts";
import { isBlock } from "./blocks.ts";
import { elements } from "./operations.ts";
import {
  type Block,
  type Buffer,
  type Group,
  isJoin,
  isLeaf,
  isProduct,
  isReduction,
  type Loop,
  type Plan,
  type Root,
} from "./plan.ts";
import { Stages } from "./stages.ts";

class Planner {
  readonly #order: readonly Tensor[];
  readonly #outputs: ReadonlySet<Tensor>;
  readonly #stages: Stages;
  readonly #buffers = new Map<Tensor, Buffer>();
  readonly #groups = new Map<string, Group>();
  readonly #blocks: Block[] = [];
  readonly #registers = new Set<Tensor>();

  constructor(outputs: readonly Tensor[]) {
    this.#outputs = new Set(outputs.map(unreshaped));
    this.#order = topological(outputs);
    this.#stages = new Stages(this.#order, this.#outputs);
  }

  plan(): Plan {
    // Loops with sums come first, so that values that are only stored can join them.
    const sums = (t: Tensor): boolean => isReduction(t) || isProduct(t);
    for (const node of this.#order) if (sums(node)) this.#place(node);
    for (const node of this.#order) if (!sums(node)) this.#place(node);
    const steps = [...this.#groups.values(), ...this.#blocks].sort((a, b) => a.stage - b.stage);
    const stored = new Map<Tensor, { buffer: Buffer; stage: number }>();
    for (const [node, buffer] of this.#buffers) {
      const { run } = this.#stages.of(node);
      stored.set(node, { buffer, stage: isLeaf(node) ? -1 : run });
    }
    return { steps, stored, registers: this.#registers, buffers: [...this.#buffers.values()] };
  }
  #buffer(t: Tensor): Buffer {
    const known = this.#buffers.get(t);
    if (known) return known;
    const bytes = sizeOf(t.shape) * elements[t.dtype].bytes;
    const buffer: Buffer = {
      bytes,
      address: 0,
      first: Infinity,
      last: -1,
      kept: isLeaf(t) || this.#outputs.has(t),
    };
    this.#buffers.set(t, buffer);
    return buffer;
  }

  /** Makes the root of a value, or its block. */
  #place(node: Tensor): void {
    if (isLeaf(node)) {
      if (
        uniformValue(node) === undefined ||
        this.#outputs.has(node) ||
        isInput(node) ||
        this.#feedsBlock(node)
      )
        this.#buffer(node);
      return;
    }
    const fact = this.#stages.of(node);
    if (isBlock(node)) {
      this.#buffer(node);
      this.#blocks.push({ stage: fact.run, node });
    } else if (isJoin(node)) this.#join(node);
    else if (isReduction(node)) this.#reduction(node);
    else if (isProduct(node)) this.#product(node);
    else if (fact.stored) {
      const at = rowMajor(node.shape);
      this.#add(node.shape, fact.run, node, {
        node,
        kind: "store",
        bodies: [{ tensor: node, index: at.index }],
        to: { buffer: this.#buffer(node), at: at.flat },
      });
    }
  }

  #feedsBlock(t: Tensor): boolean {
    return this.#order.some((n) => isBlock(n) && n.inputs.some((x) => unreshaped(x) === t));
  }

  /**
   * Adds a root to the group of its loops, which are the axes of `shape` with sizes other than 1.
   */
  #add(shape: Shape, stage: number, of: Tensor, root: Root, cleared?: Buffer): void {
    const sizes = shape.filter((d) => d !== 1);
    const loops = sizes.map((size) => ({ size, reduced: false }));
    this.#group(stage, loops, sizes.length - 1, of, root, cleared);
  }

  #group(
    stage: number,
    loops: readonly Loop[],
    vector: number,
    of: Tensor,
    root: Root,
    cleared?: Buffer,
  ): void {
    const sizes = `${stage} ${of.dtype} ${loops.map((l) => l.size)}`;
    const flags = loops.map((l) => (l.reduced ? 1 : 0)).join("");
    const plain = root.kind === "store";
    // A value that is only stored joins any loops over the same domain.
    const some = plain ? [...this.#groups].find(([key]) => key.startsWith(`${sizes} `)) : undefined;
    const key = some?.[0] ?? `${sizes} ${flags} ${vector} ${root.kind === "dot" ? "dot" : ""}`;
    const group = this.#groups.get(key) ?? { stage, loops, vector, roots: [], cleared: [] };
    group.roots.push(root);
    if (cleared && !group.cleared.includes(cleared)) group.cleared.push(cleared);
    this.#groups.set(key, group);
  }

  /** Every part is stored at its place in the result. */
  #join(node: Tensor): void {
    const buffer = this.#buffer(node);
    const strides = stridesOf(node.shape);
    const pad = node.op.name === "pad";
    let start = 0;
    for (const x of node.inputs) {
      const { index } = rowMajor(x.shape);
      const loops = x.shape.filter((d) => d !== 1).length;
      const offset = pad
        ? (node.attributes.before as number[]).reduce((total, b, a) => total + b * strides[a], 0)
        : start * strides[node.attributes.axis as number];
      const flat = flatten(index, strides, loops);
      const at = { ...flat, base: flat.base + offset };
      const root: Root = {
        node,
        kind: "store",
        bodies: [{ tensor: x, index }],
        to: { buffer, at },
      };
      if (sizeOf(x.shape) > 0)
        this.#add(x.shape, this.#stages.of(x).ready, node, root, pad ? buffer : undefined);
      if (!pad) start += x.shape[node.attributes.axis as number];
    }
  }

  #reduction(node: Tensor): void {
    const [x] = node.inputs;
    const axes = node.attributes.axes as number[];
    const { index } = rowMajor(x.shape);
    const real = [...x.shape.keys()].filter((a) => x.shape[a] !== 1);
    const loops = real.map((a) => ({ size: x.shape[a], reduced: axes.includes(a) }));
    const strides = stridesOf(node.shape);
    const kept = index.map((a, axis) => (node.shape[axis] === 1 ? fixed(0, loops.length) : a));
    const register = isScalar(node);
    if (register) this.#registers.add(node);
    const stays = register && !this.#outputs.has(node) && !this.#feedsBlock(node);
    this.#group(this.#stages.of(node).run, loops, loops.length - 1, x, {
      node,
      kind: node.op.name as "sum" | "max",
      bodies: [{ tensor: x, index }],
      to: stays
        ? undefined
        : { buffer: this.#buffer(node), at: flatten(kept, strides, loops.length) },
    });
  }

  /** Σ_k a[…, i, k] b[…, k, j]: loops over the batch, i, j and k. */
  #product(node: Tensor): void {
    const [a, b] = node.inputs;
    const rank = node.shape.length;
    const k = a.shape[a.shape.length - 1];
    const sizes = [...node.shape, k];
    const real = sizes.map((_, i) => i).filter((i) => sizes[i] !== 1);
    const count = real.length;
    const at = (axis: number): Affine =>
      sizes[axis] === 1 ? fixed(0, count) : counter(real.indexOf(axis), count);
    const batch = (t: Tensor): Affine[] =>
      t.shape
        .slice(0, -2)
        .map((d, i) => (d === 1 ? fixed(0, count) : at(i + rank - t.shape.length)));
    const left = [...batch(a), at(rank - 2), at(rank)];
    const right = [...batch(b), at(rank), at(rank - 1)];
    const loops = real.map((axis) => ({ size: sizes[axis], reduced: axis === rank }));
    const bodies = [
      { tensor: a, index: left },
      { tensor: b, index: right },
    ];
    const flat = flatten(
      node.shape.map((_, i) => at(i)),
      stridesOf(node.shape),
      count,
    );
    const [column, inner] = [real.indexOf(rank - 1), real.indexOf(rank)];
    const own = loops.map((l) => l.size);
    const step = (of: number): (number | undefined)[] =>
      bodies.map(({ tensor, index }) => (of < 0 ? undefined : stepOf(tensor, index, own, of)));
    const [byColumn, byInner] = [step(column), step(inner)];
    const along =
      inner >= 0 && byInner.every((s) => s === 1) && !(column >= 0 && byColumn[1] === 1);
    const vector = along || column < 0 ? inner : column;
    this.#group(this.#stages.of(node).run, loops, vector, node, {
      node,
      kind: "dot",
      bodies,
      to: { buffer: this.#buffer(node), at: flat },
    });
  }
}

/**
 * The distance in memory between neighbours of a loop; undefined if the tensor is not in memory.
 */
function stepOf(
  tensor: Tensor,
  index: Index,
  sizes: readonly number[],
  loop: number,
): number | undefined {
  let t = tensor;
  let at = index;
  while (isView(t)) {
    const next = viewIndex(t, at, sizes);
    if (!next) return undefined;
    at = next;
    [t] = t.inputs;
  }
  return flatten(at, stridesOf(t.shape), sizes.length).coef[loop];
}

/** The loops over a shape, the indices of its axes by these loops, and the flat index. */
function rowMajor(shape: Shape): { index: Index; flat: Affine } {
  const count = shape.filter((d) => d !== 1).length;
  let next = 0;
  const index = shape.map((d) => (d === 1 ? fixed(0, count) : counter(next++, count)));
  return { index, flat: flatten(index, stridesOf(shape), count) };
}

/** The plan of a graph. */
export const planOf = (outputs: readonly Tensor[]): Plan => new Planner(outputs).plan();
