/**
 * Chains in lockstep. A complete transition, L leapfrog steps and the Metropolis test, is one
 * graph, which moves thousands of chains with one step size. The target is Σ w_k f_k with weights
 * that may change at each transition, as on an annealed path.
 *
 * The chains of a posterior (adaptive-chain.ts) cannot run this way. Trajectories of the no-U-turn
 * sampler have different lengths, and each chain adapts its own step size and metric. So each chain
 * has its own transitions, in a module (chain-module.ts) or step by step (stepped-chain.ts). Both
 * use the same step (leapfrog.ts).
 *
 * A transition has one key, or one key per chain. With the keys `fold(sampleKeys(key, count,
 * first), step)` the randomness of chain i at a step is a function of (key, i, step) alone, for any
 * number of threads and any grouping of chains.
 */
import { type Arrays, type CompileOptions, compile, type OpenSpecs } from "../engine/index.ts";
import { cast, fail, isNdArray, mapTree, type NdArray, sum, type Tensor } from "../graph/index.ts";
import { type Closable, disposable, partsOf, rowsOf, stackArrays } from "../host/index.ts";
import { fold, type Key, type Keys, normal, uniform } from "../random/index.ts";
import { type Chains, chainsAt, leapfrog, metropolis } from "./hamiltonian.ts";
import { adaptedStepSize, type StepSizeRule } from "./step-size.ts";

/** Σ_k w_k f_k(x; parameters) on Rⁿ. */
export interface WalkTarget<P> {
  /** n */
  readonly size: number;
  /** f_k, at points [B, n]. */
  readonly terms: readonly ((x: Tensor, parameters: P) => Tensor)[];
  /**
   * What the terms depend on besides the point: a tree of arrays, which are inputs of the graph.
   * May be `{}`.
   */
  readonly parameters: Arrays<P>;
}

/** Options of `openWalk`. */
export interface WalkOptions extends Pick<CompileOptions, "device" | "threads" | "type"> {
  /** Leapfrog steps per transition; 1 is the Metropolis-adjusted Langevin algorithm. */
  readonly leapfrog: number;
  /** Chains per call, which limits the memory. Default 1,000. */
  readonly part?: number;
}

/** The step size, the weights of the terms and the key of a transition. */
interface Move {
  /** ε */
  readonly stepSize: number;
  /** w, one per term. Default 1 each. */
  readonly weights?: readonly number[];
  /** One key for all chains, or one per chain. */
  readonly key: Key | Keys;
}

/** Chains after a transition, and which of them moved. */
interface Moved {
  readonly chains: Chains<NdArray>;
  /** Whether each chain moved: 1 or 0, [B]. */
  readonly accepted: NdArray;
  /** The share of chains that moved. */
  readonly share: number;
}

/** A compiled walk of many chains. */
export interface Walk extends Closable {
  /** Starts chains at the given points, rows of n numbers. */
  start(points: Float32Array | Float64Array): Promise<Chains<NdArray>>;
  /** One transition. */
  move(chains: Chains<NdArray>, move: Move): Promise<Moved>;
  dispose(): Promise<void>;
}

const eachArray = <T, U>({ x, values, slopes }: Chains<T>, f: (a: T) => U): Chains<U> => ({
  x: f(x),
  values: values.map(f),
  slopes: slopes.map(f),
});

const joined = (parts: readonly Chains<NdArray>[]): Chains<NdArray> => ({
  x: stackArrays(parts.map(({ x }) => x)),
  values: parts[0].values.map((_, k) => stackArrays(parts.map(({ values }) => values[k]))),
  slopes: parts[0].slopes.map((_, k) => stackArrays(parts.map(({ slopes }) => slopes[k]))),
});

/** The first evaluation of chains, and a transition of them, as graphs. */
function compileWalk<P>(
  { size: n, terms, parameters }: WalkTarget<P>,
  { leapfrog: steps, part: _, ...options }: WalkOptions,
) {
  const shapes = mapTree<NdArray, unknown>(
    parameters,
    ({ shape, dtype }) => ({ shape, dtype }),
    isNdArray,
  ) as OpenSpecs<P>;
  const evaluateAt = (p: P) => chainsAt(terms.map((f) => (x: Tensor) => f(x, p)));
  const [points, numbers] = [[null, n], [null]] as const;
  const begin = compile((p: P, x: Tensor) => evaluateAt(p)(x), [shapes, points], options);
  const transition = compile(
    (
      p: P,
      chains: Chains<Tensor>,
      momentum: Tensor,
      u: Tensor,
      weights: readonly Tensor[],
      size: Tensor,
    ) => {
      const before = { chains, momentum };
      const after = leapfrog(evaluateAt(p), before, weights, size, steps);
      const found = metropolis(before, after, weights, u);
      const accepted = cast(found.accepted, u.dtype);
      return { chains: found.chains, accepted, moved: sum(accepted) };
    },
    [
      shapes,
      { x: points, values: terms.map(() => numbers), slopes: terms.map(() => points) },
      points,
      numbers,
      terms.map(() => []),
      [],
    ],
    options,
  );
  return { begin, transition };
}

/** Compiles a walk of many chains that all take the same number of leapfrog steps. */
export function openWalk<P>(target: WalkTarget<P>, options: WalkOptions): Walk {
  const { size: n, terms, parameters } = target;
  const { leapfrog: steps, part = 1000, type = "float32" } = options;
  if (!(Number.isInteger(steps) && steps >= 1))
    fail("usage", `openWalk: \`leapfrog\` is ${steps}`, "give an integer of at least 1");
  if (terms.length === 0)
    fail("usage", "openWalk: the target has no terms", "give at least one log-density");
  const { begin, transition } = compileWalk(target, { ...options, type });
  const inputs = parameters as Parameters<typeof begin>[0];

  return {
    start: async (rows) => {
      const parts: Chains<NdArray>[] = [];
      for (const [from, to] of partsOf(rows.length / n, part))
        parts.push(await begin(inputs, rows.slice(from * n, to * n)));
      return joined(parts);
    },
    move: async (chains, { stepSize, weights = terms.map(() => 1), key }) => {
      const count = chains.x.shape[0];
      const { momentum, u } = draws(key, count, n, type);
      const parts: (Omit<Moved, "share"> & { readonly moved: number })[] = [];
      for (const [from, to] of partsOf(count, part)) {
        const cut = (a: NdArray): NdArray => rowsOf(a, from, to - from);
        const before = eachArray(chains, cut);
        const found = await transition(inputs, before, cut(momentum), cut(u), weights, stepSize);
        parts.push({ ...found, moved: found.moved.data[0] as number });
      }
      return {
        chains: joined(parts.map((p) => p.chains)),
        accepted: stackArrays(parts.map((p) => p.accepted)),
        share: parts.reduce((total, p) => total + p.moved, 0) / count,
      };
    },
    ...disposable(async () => {
      await begin.dispose();
      await transition.dispose();
    }),
  };
}

/**
 * Momenta and the uniform numbers of the test. With one key, chain i has the i-th row; with one key
 * per chain, its own.
 */
function draws(
  key: Key | Keys,
  count: number,
  n: number,
  dtype: "float32" | "float64",
): { readonly momentum: NdArray; readonly u: NdArray } {
  if ("count" in key) {
    if (key.count !== count)
      fail(
        "usage",
        `${key.count} keys given for ${count} chains`,
        "give one key per chain, or one key for all",
      );
    return {
      momentum: normal(fold(key, "momentum"), [n], { dtype }),
      u: { ...uniform(fold(key, "accept"), [], { dtype }), shape: [count] },
    };
  }
  return {
    momentum: normal(fold(key, "momentum"), [count, n], { dtype }),
    u: uniform(fold(key, "accept"), [count], { dtype }),
  };
}

/** Options of `runWalk`: the number of transitions, and the adaptation of the step size. */
export interface WalkRunOptions extends Move, StepSizeRule {
  /** Number of transitions. */
  readonly steps: number;
  /** The transitions in which ε is adapted. Default all. */
  readonly warmup?: number;
  readonly signal?: AbortSignal;
}

/**
 * Runs transitions, with the key `fold(key, i)` for transition i. Returns the chains at the end and
 * the last ε.
 */
export async function runWalk(
  walk: Walk,
  start: Chains<NdArray>,
  options: WalkRunOptions,
): Promise<{ readonly chains: Chains<NdArray>; readonly stepSize: number }> {
  const { steps, warmup = steps, key, signal, weights } = options;
  let chains = start;
  let { stepSize } = options;
  for (let i = 0; i < steps; i++) {
    signal?.throwIfAborted();
    const moved = await walk.move(chains, { stepSize, key: fold(key, i), weights });
    chains = moved.chains;
    if (i < warmup) stepSize = adaptedStepSize(stepSize, moved.share, options);
  }
  return { chains, stepSize };
}
