/**
 * Which values of a graph are kept in memory, and in which loops they are computed.
 *
 * Most operations are not computed anywhere by themselves: they are part of the expression that a
 * loop stores or adds up (`kernel.ts`). A loop, called a group, computes all roots of one domain that
 * may be computed together. The plan walks the graph twice:
 *
 *   forwards   the stage of every value: one more than that of the reductions, products and blocks
 *              it needs, for these end a loop. A value that a later operation would compute many
 *              times over is stored, and ends a loop as well.
 *   backwards  a value that groups of several stages or domains need is stored if it costs more
 *              than to be read again.
 */
import { type Shape, sizeOf, type Tensor, topological } from "../../graph/index.ts";
import { stridesOf } from "../../graph/ndarray.ts";
import { constantValue, isInput, uniformValue } from "../../graph/tensor.ts";
import {
  type Affine,
  counter,
  fixed,
  flatten,
  type Index,
  isScalar,
  isView,
  splitsOnly,
  unreshaped,
  viewIndex,
} from "./affine.ts";
import { isBlock } from "./blocks.ts";
import { costOf, elements, floatOf, isMap } from "./operations.ts";

/** A stretch of memory; its address is known once all are. */
export interface Buffer {
  readonly bytes: number;
  address: number;
  /** Numbers of the first and last step that use it. */
  first: number;
  last: number;
  /** Inputs are written, and outputs read, from outside. */
  kept: boolean;
}

interface Loop {
  readonly size: number;
  readonly reduced: boolean;
}

/** One value that a group stores, adds up or compares. */
export interface Root {
  readonly node: Tensor;
  readonly kind: "store" | "sum" | "max" | "dot";
  /** The factors of a dot; else one tensor. */
  readonly bodies: readonly { readonly tensor: Tensor; readonly index: Index }[];
  /** Where the result goes, by the loops that are not reduced; a sum of all stays in a local. */
  readonly to?: { readonly buffer: Buffer; readonly at: Affine };
}

export interface Group {
  readonly stage: number;
  readonly loops: readonly Loop[];
  /** The loop that may run on vectors; −1 is none. */
  readonly vector: number;
  readonly roots: Root[];
  /** Buffers that are 0 where no root writes. */
  readonly cleared: Buffer[];
}

interface Block {
  readonly stage: number;
  readonly node: Tensor;
}

export interface Plan {
  readonly steps: readonly (Group | Block)[];
  /** Where a value is stored, and from which stage on it may be read there. */
  readonly stored: ReadonlyMap<Tensor, { readonly buffer: Buffer; readonly stage: number }>;
  /** Sums of all: values of one number that are kept in locals. */
  readonly registers: ReadonlySet<Tensor>;
  readonly buffers: readonly Buffer[];
}

const isReduction = (t: Tensor): boolean => t.op.name === "sum" || t.op.name === "max";
const isProduct = (t: Tensor): boolean => t.op.name === "matmul";
const isJoin = (t: Tensor): boolean => t.op.name === "concat" || t.op.name === "pad";

/** Whether this engine computes a node. */
export const isSupported = (t: Tensor): boolean =>
  isInput(t) ||
  constantValue(t) !== undefined ||
  isMap(t) ||
  isView(t) ||
  isReduction(t) ||
  (isProduct(t) && floatOf(t.dtype) !== undefined) ||
  isJoin(t) ||
  isBlock(t);

/** Of two operations, one is repeated rather than stored. */
const CHEAP = 2;

/**
 * Operations on top of each other of which one is stored: the kernel writes an expression from its
 * end to its beginnings, one call of a function within the other.
 */
const DEEP = 200;

const isLeaf = (t: Tensor): boolean => isInput(t) || constantValue(t) !== undefined;

interface Fact {
  /** The stage of the group that computes it, and from which it can be read. */
  run: number;
  ready: number;
  /** What one number takes, where it is computed in place. */
  cost: number;
  /** Operations on top of each other in its expression. */
  depth: number;
  stored: boolean;
}

class Planner {
  readonly #order: readonly Tensor[];
  readonly #outputs: ReadonlySet<Tensor>;
  readonly #facts = new Map<Tensor, Fact>();
  readonly #uses = new Map<Tensor, number>();
  readonly #buffers = new Map<Tensor, Buffer>();
  readonly #groups = new Map<string, Group>();
  readonly #blocks: Block[] = [];
  readonly #registers = new Set<Tensor>();

  constructor(outputs: readonly Tensor[]) {
    this.#outputs = new Set(outputs.map(unreshaped));
    this.#order = topological(outputs);
    for (const node of this.#order)
      for (const x of node.inputs) this.#uses.set(x, (this.#uses.get(x) ?? 0) + 1);
  }

  #fact(t: Tensor): Fact {
    return this.#facts.get(t) as Fact;
  }

  /** Whether a value is computed within the expressions that need it. */
  #inline(t: Tensor): boolean {
    return isMap(t) || isView(t);
  }

  plan(): Plan {
    for (const node of this.#order) this.#facts.set(node, this.#forward(node));
    this.#backward();
    // Loops with sums come first: what is only stored goes along with them.
    const sums = (t: Tensor): boolean => isReduction(t) || isProduct(t);
    for (const node of this.#order) if (sums(node)) this.#place(node);
    for (const node of this.#order) if (!sums(node)) this.#place(node);
    const steps = [...this.#groups.values(), ...this.#blocks].sort((a, b) => a.stage - b.stage);
    const stored = new Map<Tensor, { buffer: Buffer; stage: number }>();
    for (const [node, buffer] of this.#buffers) {
      const { run } = this.#fact(node);
      stored.set(node, { buffer, stage: isLeaf(node) ? -1 : run });
    }
    return { steps, stored, registers: this.#registers, buffers: [...this.#buffers.values()] };
  }

  /** Keeps a value in memory: what needs it comes a stage later. */
  #store(t: Tensor): number {
    const fact = this.#fact(t);
    if (!this.#inline(t)) return fact.ready;
    fact.stored = true;
    return fact.run + 1;
  }

  #forward(node: Tensor): Fact {
    if (isLeaf(node)) return { run: -1, ready: 0, cost: 0, depth: 0, stored: true };
    if (isBlock(node)) {
      const run = Math.max(0, ...node.inputs.map((x) => this.#store(unreshaped(x))));
      return { run, ready: run + 1, cost: 0, depth: 0, stored: true };
    }
    if (isJoin(node)) {
      const run = Math.max(0, ...node.inputs.map((x) => this.#fact(x).ready));
      return { run, ready: run + 1, cost: 0, depth: 0, stored: true };
    }
    if (isReduction(node) || isProduct(node)) {
      const run = Math.max(0, ...node.inputs.map((x, i) => this.#needed(node, x, i)));
      const register = isReduction(node) && isScalar(node);
      return { run, ready: run + 1, cost: 0, depth: 0, stored: !register };
    }
    const run = Math.max(0, ...node.inputs.map((x, i) => this.#needed(node, x, i)));
    const below = node.inputs.map((x) => this.#fact(x)).filter((fact) => !fact.stored);
    const depth = 1 + Math.max(0, ...below.map((fact) => fact.depth));
    if (isScalar(node)) return { run, ready: run, cost: 0, depth, stored: false };
    const own = isView(node) ? 0 : costOf(node);
    const cost = node.inputs.reduce((total, x) => {
      const fact = this.#fact(x);
      return total + (fact.stored ? 0.5 : fact.cost);
    }, own);
    return { run, ready: run, cost, depth, stored: false };
  }

  /** The stage from which `node` can be computed, as far as its operand x is concerned. */
  #needed(node: Tensor, x: Tensor, i: number): number {
    const fact = this.#fact(x);
    if (!this.#inline(x)) return fact.ready;
    if (!fact.stored && fact.depth >= DEEP) return this.#store(x);
    if (isScalar(x)) return fact.stored ? fact.run + 1 : fact.ready;
    if (fact.stored) return this.#aligned(node, x) ? fact.ready : fact.run + 1;
    if (node.op.name === "reshape" && !splitsOnly(x.shape, node.shape)) return this.#store(x);
    if (fact.cost <= CHEAP) return fact.ready;
    if (isProduct(node)) {
      const many = node.shape[node.shape.length - (i === 0 ? 1 : 2)];
      return many > 1 ? this.#store(x) : fact.ready;
    }
    const repeated =
      sizeOf(node.shape) > sizeOf(x.shape) && !isReduction(node) && !outerOnly(x.shape, node.shape);
    const elsewhere = isView(node) && !this.#aligned(node, x) && (this.#uses.get(x) ?? 0) > 1;
    return repeated || elsewhere ? this.#store(x) : fact.ready;
  }

  /** Whether both have the same loops. */
  #aligned(node: Tensor, x: Tensor): boolean {
    if (isView(node) && node.op.name !== "reshape") return false;
    return domainOf(node.shape) === domainOf(x.shape);
  }

  /** Which groups compute each value in place; more than one, and it is stored where that pays. */
  #backward(): void {
    const users = new Map<Tensor, Set<string>>();
    const use = (t: Tensor, names: Iterable<string>): void => {
      const set = users.get(t) ?? new Set();
      for (const n of names) set.add(n);
      users.set(t, set);
    };
    for (const node of [...this.#order].reverse()) {
      const fact = this.#fact(node);
      if (isLeaf(node)) continue;
      if (!this.#inline(node)) {
        const domain = isReduction(node) ? domainOf(node.inputs[0].shape) : node.op.name;
        for (const x of node.inputs)
          use(x, [
            `${isJoin(node) ? `${domainOf(x.shape)}|${this.#fact(x).ready}` : `${domain}|${fact.run}`}`,
          ]);
        continue;
      }
      const own = `${domainOf(node.shape)}|${fact.run}`;
      const wanted = users.get(node) ?? new Set<string>();
      if (this.#outputs.has(node)) fact.stored = true;
      else if (!isScalar(node) && wanted.size > 1 && fact.cost > CHEAP) fact.stored = true;
      for (const x of node.inputs) use(x, fact.stored ? [own] : wanted);
    }
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
    const fact = this.#fact(node);
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

  /** Adds a root to the group of its loops, whose sizes are those of `shape` that are not 1. */
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
    // What is only stored goes along with any loops over the same domain.
    const some = plain ? [...this.#groups].find(([key]) => key.startsWith(`${sizes} `)) : undefined;
    const key = some?.[0] ?? `${sizes} ${flags} ${vector} ${root.kind === "dot" ? "dot" : ""}`;
    const group = this.#groups.get(key) ?? { stage, loops, vector, roots: [], cleared: [] };
    group.roots.push(root);
    if (cleared && !group.cleared.includes(cleared)) group.cleared.push(cleared);
    this.#groups.set(key, group);
  }

  /** Every part is stored at its place in the whole. */
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
        this.#add(x.shape, this.#fact(x).ready, node, root, pad ? buffer : undefined);
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
    this.#group(this.#fact(node).run, loops, loops.length - 1, x, {
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
    this.#group(this.#fact(node).run, loops, vector, node, {
      node,
      kind: "dot",
      bodies,
      to: { buffer: this.#buffer(node), at: flat },
    });
  }
}

/** How far apart in memory neighbours of a loop are; nothing where the tensor is not in memory. */
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

/** The loops over a shape, its axes by these loops, and the place of each entry. */
function rowMajor(shape: Shape): { index: Index; flat: Affine } {
  const count = shape.filter((d) => d !== 1).length;
  let next = 0;
  const index = shape.map((d) => (d === 1 ? fixed(0, count) : counter(next++, count)));
  return { index, flat: flatten(index, stridesOf(shape), count) };
}

const domainOf = (shape: Shape): string => shape.filter((d) => d !== 1).join("×");

/** Whether what repeats x repeats it along inner axes alone: then it is computed outside of these. */
function outerOnly(x: Shape, to: Shape): boolean {
  const lead = to.length - x.length;
  let repeats = false;
  for (let a = 0; a < to.length; a++) {
    const own = a < lead ? 1 : x[a - lead];
    if (own === 1 && to[a] > 1) repeats = true;
    else if (own > 1 && repeats) return false;
  }
  return true;
}

export const planOf = (outputs: readonly Tensor[]): Plan => new Planner(outputs).plan();
