/**
 * The stages of a plan determine when each value of a graph is computed, and whether it is stored.
 *
 *   forwards   the stage of every value: one more than that of the reductions, products and blocks
 *              that it needs, because these end a loop. A value that a later operation would
 *              compute many times is stored, and ends a loop as well.
 *   backwards  a value that groups of several stages or domains need is stored if computing it
 *              costs more than reading it again.
 */
import { type Shape, sizeOf, type Tensor } from "../../graph/index.ts";
import { isScalar, isView, splitsOnly, unreshaped } from "./affine.ts";
import { isBlock } from "./blocks.ts";
import { costOf, isMap } from "./operations.ts";
import { domainOf, isJoin, isLeaf, isProduct, isReduction } from "./plan.ts";

/** The cost, in operations, below which a value is recomputed rather than stored. */
const CHEAP = 2;

/**
 * The depth of nested operations above which a value is stored: the kernel writes an expression
 * recursively from its end.
 */
const DEEP = 200;

/** What is known of a value. */
export interface Fact {
  /** The stage of the group that computes it, and from which it can be read. */
  run: number;
  ready: number;
  /** The cost of one number, if it is computed in place. */
  cost: number;
  /** The depth of nested operations in its expression. */
  depth: number;
  stored: boolean;
}
/** Decides the stage of every value, and which values are stored. */
export class Stages {
  readonly #order: readonly Tensor[];
  readonly #outputs: ReadonlySet<Tensor>;
  readonly #facts = new Map<Tensor, Fact>();
  readonly #uses = new Map<Tensor, number>();

  /** `order` lists every value after those that it needs. */
  constructor(order: readonly Tensor[], outputs: ReadonlySet<Tensor>) {
    this.#order = order;
    this.#outputs = outputs;
    for (const node of order)
      for (const x of node.inputs) this.#uses.set(x, (this.#uses.get(x) ?? 0) + 1);
    for (const node of order) this.#facts.set(node, this.#forward(node));
    this.#backward();
  }

  /** What is known of a value. */
  of(t: Tensor): Fact {
    return this.#facts.get(t) as Fact;
  }

  /** Whether a value is computed within the expressions that need it. */
  #inline(t: Tensor): boolean {
    return isMap(t) || isView(t);
  }

  /** Stores a value in memory: values that need it are computed a stage later. */
  #store(t: Tensor): number {
    const fact = this.of(t);
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
      const run = Math.max(0, ...node.inputs.map((x) => this.of(x).ready));
      return { run, ready: run + 1, cost: 0, depth: 0, stored: true };
    }
    if (isReduction(node) || isProduct(node)) {
      const run = Math.max(0, ...node.inputs.map((x, i) => this.#needed(node, x, i)));
      const register = isReduction(node) && isScalar(node);
      return { run, ready: run + 1, cost: 0, depth: 0, stored: !register };
    }
    const run = Math.max(0, ...node.inputs.map((x, i) => this.#needed(node, x, i)));
    const below = node.inputs.map((x) => this.of(x)).filter((fact) => !fact.stored);
    const depth = 1 + Math.max(0, ...below.map((fact) => fact.depth));
    if (isScalar(node)) return { run, ready: run, cost: 0, depth, stored: false };
    const own = isView(node) ? 0 : costOf(node);
    const cost = node.inputs.reduce((total, x) => {
      const fact = this.of(x);
      return total + (fact.stored ? 0.5 : fact.cost);
    }, own);
    return { run, ready: run, cost, depth, stored: false };
  }

  /** The stage from which the operand x allows `node` to be computed. */
  #needed(node: Tensor, x: Tensor, i: number): number {
    const fact = this.of(x);
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

  /** Whether two tensors have the same loops. */
  #aligned(node: Tensor, x: Tensor): boolean {
    if (isView(node) && node.op.name !== "reshape") return false;
    return domainOf(node.shape) === domainOf(x.shape);
  }

  /**
   * Finds the groups that compute each value in place; a value of several groups is stored if that
   * is cheaper.
   */
  #backward(): void {
    const users = new Map<Tensor, Set<string>>();
    const use = (t: Tensor, names: Iterable<string>): void => {
      const set = users.get(t) ?? new Set();
      for (const n of names) set.add(n);
      users.set(t, set);
    };
    for (const node of [...this.#order].reverse()) {
      const fact = this.of(node);
      if (isLeaf(node)) continue;
      if (!this.#inline(node)) {
        const domain = isReduction(node) ? domainOf(node.inputs[0].shape) : node.op.name;
        for (const x of node.inputs)
          use(x, [
            isJoin(node) ? `${domainOf(x.shape)}|${this.of(x).ready}` : `${domain}|${fact.run}`,
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
}

/** Whether x is only repeated along inner axes, so that it is computed outside of these. */
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
