/**
 * Where the state of a chain lies in the memory of its module (chain-module.ts). Vectors of n
 * numbers begin at multiples of 16 bytes and end in zeros, so that loops take two numbers at a time
 * without a rest.
 */
import { aligned } from "../engine/wasm/module.ts";
import { type MetricForm, mostRank } from "./metric.ts";

/** Parts of a stretch of leaves in bytes from its start; see nuts.ts. */
interface SubtreeLayout {
  readonly firstMomentum: number;
  readonly firstVelocity: number;
  readonly lastMomentum: number;
  readonly lastVelocity: number;
  readonly sum: number;
  /** The leaf that was drawn: x, ∇log p, log p, H. */
  readonly x: number;
  readonly slope: number;
  readonly logWeight: number;
  readonly value: number;
  readonly energy: number;
  readonly depth: number;
  readonly bytes: number;
}

/** An end of a trajectory. */
interface EndLayout {
  readonly x: number;
  readonly momentum: number;
  readonly slope: number;
}

export interface ChainLayout {
  /** Bytes of a vector of n numbers. */
  readonly vector: number;
  /** What a chain keeps from call to call: from here, so many bytes, and the stack behind them. */
  readonly state: { readonly address: number; readonly bytes: number };
  /** Keys of four words: of transitions, which the caller writes, and of the transition's own. */
  readonly transitionKey: number;
  readonly streamKey: number;
  readonly treeKey: number;
  readonly uniformKey: number;
  readonly block: number;
  /** Numbers of 32 bits. */
  readonly uniforms: number;
  readonly done: number;
  readonly active: number;
  readonly forward: number;
  readonly leaves: number;
  readonly stackSize: number;
  readonly steps: number;
  readonly method: number;
  readonly maxDepth: number;
  /** Numbers of 64 bits. */
  readonly stepSize: number;
  readonly value: number;
  readonly startEnergy: number;
  readonly accepted: number;
  readonly energy: number;
  readonly u: number;
  readonly meanSteps: number;
  /** Columns of U of the low-rank metric (metric.ts). */
  readonly rank: number;
  /** Vectors, or matrices of n rows of a vector where the metric is dense. */
  readonly x: number;
  readonly slope: number;
  readonly inverse: number;
  readonly root: number;
  /** Vectors D^½u and u, and the numbers λ − 1, λ^½ − 1, λ^−½ − 1, of so many columns. */
  readonly columns: number;
  readonly scaled: number;
  readonly directions: number;
  readonly excess: { readonly square: number; readonly root: number; readonly inverse: number };
  /** Backwards and forwards: two ends, each so many bytes. */
  readonly ends: number;
  readonly end: EndLayout;
  readonly endBytes: number;
  readonly whole: number;
  readonly stack: number;
  readonly subtree: SubtreeLayout;
  /** Of the leapfrog step: p and M⁻¹p of the leaf, H of it, and a vector of normal numbers. */
  readonly momentum: number;
  readonly velocity: number;
  readonly leafEnergy: number;
  readonly z: number;
  /** Counted in a call, and the first point at which log p or its slope is not a number. */
  readonly count: number;
  readonly undefinedCount: number;
  readonly undefinedAt: number;
  /** What ended transitions leave: rows of `record.bytes`. */
  readonly records: number;
  readonly record: { readonly rows: number; readonly bytes: number; readonly numbers: number };
  readonly total: number;
}

/** Numbers of a record in front of x: log p, H, acceptance, depth, leaves, whether it diverged. */
export const RECORD_HEAD = 6;

/** Subtrees that wait at once: a trajectory of 2³¹ leaves never ends. */
export const MOST_DEPTH = 31;

/** Bytes that records may take, and rows they need not exceed. */
const RECORD_BYTES = 1 << 20;
const RECORD_ROWS = 1024;

/** Where the parts of a subtree are, from its start. */
const layOutSubtree = (vector: number): SubtreeLayout => ({
  firstMomentum: 0,
  firstVelocity: vector,
  lastMomentum: 2 * vector,
  lastVelocity: 3 * vector,
  sum: 4 * vector,
  x: 5 * vector,
  slope: 6 * vector,
  logWeight: 7 * vector,
  value: 7 * vector + 8,
  energy: 7 * vector + 16,
  depth: 7 * vector + 24,
  bytes: 7 * vector + 32,
});

/** Numbers of 32 bits from an address, and numbers of 64 bits from another. */
const layOutNumbers = (words: number, numbers: number) => ({
  uniforms: words,
  done: words + 4,
  active: words + 8,
  forward: words + 12,
  leaves: words + 16,
  stackSize: words + 20,
  steps: words + 24,
  method: words + 28,
  maxDepth: words + 32,
  rank: words + 36,
  stepSize: numbers,
  value: numbers + 8,
  startEnergy: numbers + 16,
  accepted: numbers + 24,
  energy: numbers + 32,
  u: numbers + 40,
  meanSteps: numbers + 48,
});

/** The layout of a chain of n coordinates that begins at an address. */
export function layOutChain(start: number, n: number, form: MetricForm): ChainLayout {
  let at = aligned(start);
  const take = (bytes: number): number => {
    const address = at;
    at = aligned(at + bytes);
    return address;
  };
  const vector = aligned(8 * n);
  const matrix = form === "dense" ? n * vector : vector;
  const columns = form === "low-rank" ? mostRank(n) : 0;
  const subtree = layOutSubtree(vector);
  const rowBytes = 8 * (n + RECORD_HEAD);
  const rows = Math.max(1, Math.min(RECORD_ROWS, Math.floor(RECORD_BYTES / rowBytes)));
  const from = at;
  const key = (): number => take(16);
  const own = {
    vector,
    ...layOutNumbers(take(48), take(64)),
    transitionKey: key(),
    streamKey: key(),
    treeKey: key(),
    uniformKey: key(),
    block: key(),
    x: take(vector),
    slope: take(vector),
    inverse: take(matrix),
    root: take(matrix),
    columns,
    scaled: take(columns * vector),
    directions: take(columns * vector),
    excess: { square: take(8 * columns), root: take(8 * columns), inverse: take(8 * columns) },
    ends: take(6 * vector),
    end: { x: 0, momentum: vector, slope: 2 * vector },
    endBytes: 3 * vector,
    whole: take(subtree.bytes),
    subtree,
  };
  const state = { address: from, bytes: at - from };
  return {
    ...own,
    state,
    stack: take((MOST_DEPTH + 1) * subtree.bytes),
    momentum: take(vector),
    velocity: take(vector),
    leafEnergy: take(8),
    z: take(vector),
    count: take(8),
    undefinedCount: take(8),
    undefinedAt: take(vector),
    // A vector that is written to the last row may reach one number beyond it.
    records: take(rows * rowBytes + 16),
    record: { rows, bytes: rowBytes, numbers: n + RECORD_HEAD },
    total: at,
  };
}
