/**
 * The layout of a chain's state in the memory of its module (chain-module.ts). Vectors of n numbers
 * begin at multiples of 16 bytes and are padded with zeros, so that loops process two numbers at a
 * time without a remainder.
 */
import { aligned } from "../engine/wasm/module.ts";
import { type MetricForm, mostRank } from "./metric.ts";

/** The fields of a subtree as byte offsets from its start; see nuts.ts. */
interface SubtreeLayout {
  readonly firstMomentum: number;
  readonly firstVelocity: number;
  readonly lastMomentum: number;
  readonly lastVelocity: number;
  readonly sum: number;
  /** The sampled leaf: x, ∇log p, log p, H. */
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
  /**
   * The part that a chain keeps between calls: its first address, its length in bytes, and the
   * stack behind it.
   */
  readonly state: { readonly address: number; readonly bytes: number };
  /**
   * Keys of four words: the key of the transitions, written by the caller, and those of one
   * transition.
   */
  readonly transitionKey: number;
  readonly streamKey: number;
  readonly treeKey: number;
  readonly uniformKey: number;
  readonly block: number;
  /** Numbers of 32 bits each. */
  readonly uniforms: number;
  readonly done: number;
  readonly active: number;
  readonly forward: number;
  readonly leaves: number;
  readonly stackSize: number;
  readonly steps: number;
  readonly method: number;
  readonly maxDepth: number;
  /** Numbers of 64 bits each. */
  readonly stepSize: number;
  readonly value: number;
  readonly startEnergy: number;
  readonly accepted: number;
  readonly energy: number;
  readonly u: number;
  readonly meanSteps: number;
  /** Columns of U of the low-rank metric (metric.ts). */
  readonly rank: number;
  /** Vectors; for a dense metric, M⁻¹ and its root are matrices of n rows. */
  readonly x: number;
  readonly slope: number;
  readonly inverse: number;
  readonly root: number;
  /**
   * The number of columns, then for each column the vectors D^½u and u and the numbers λ − 1, λ^½ −
   * 1 and λ^−½ − 1.
   */
  readonly columns: number;
  readonly scaled: number;
  readonly directions: number;
  readonly excess: { readonly square: number; readonly root: number; readonly inverse: number };
  /** The two ends of the trajectory, backwards and forwards, and the bytes of each. */
  readonly ends: number;
  readonly end: EndLayout;
  readonly endBytes: number;
  readonly whole: number;
  readonly stack: number;
  readonly subtree: SubtreeLayout;
  /** Results of the leapfrog step: p, M⁻¹p and H of the leaf; and a vector of normal numbers. */
  readonly momentum: number;
  readonly velocity: number;
  readonly leafEnergy: number;
  readonly z: number;
  /** Counts of the current call, and the first point at which log p or its gradient is NaN. */
  readonly count: number;
  readonly undefinedCount: number;
  readonly undefinedAt: number;
  /** Records of completed transitions: rows of `record.bytes`. */
  readonly records: number;
  readonly record: { readonly rows: number; readonly bytes: number; readonly numbers: number };
  readonly total: number;
}

/** The numbers of a record before x: log p, H, acceptance, depth, leaves, whether it diverged. */
export const RECORD_HEAD = 6;

/** The most subtrees on the stack: a trajectory of 2³¹ leaves would never end. */
export const MOST_DEPTH = 31;

/** The most bytes and the most rows of all records. */
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
    // The padded vector in the last row may extend one number beyond it.
    records: take(rows * rowBytes + 16),
    record: { rows, bytes: rowBytes, numbers: n + RECORD_HEAD },
    total: at,
  };
}
