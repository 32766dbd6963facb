/**
 * The no-U-turn sampler for many chains in one graph: every run of it moves every chain by one leapfrog step,
 *
 *   p ← p + ½ε∇log p(x);  x ← x + εM⁻¹p;  p ← p + ½ε∇log p(x)        H = ½ pᵀM⁻¹p − log p(x)
 *
 * each along its own trajectory (tree.ts), with its own ε and M⁻¹ (warmup.ts). A chain that has ended a transition begins
 * the next at once and waits for nobody.
 *
 * Graphs run on blocks of a fixed number of chains, chain i always in row i mod `block`: the rounding of a runtime may depend on
 * how many rows there are. So what chain i draws is a function of (key, i, block), of nothing else.
 */
import { type Arrays, type Compiled, type CompileOptions, compile } from "../engine/index.ts";
import { add, expandDims, fail, gradEach, matvec, mul, type NdArray, sum, type Tensor } from "../graph/index.ts";
import { fold, type Key, normal, uniform } from "../random/index.ts";
import type { LogDensity } from "./hamiltonian.ts";
import { type Leaf, Trajectory, type Transition } from "./tree.ts";
import { Covariance, DualAverage, windows } from "./warmup.ts";

export interface NutsOptions extends Pick<CompileOptions, "device" | "threads" | "worker"> {
  readonly key: Key;
  /** Draws of every chain that count. Default 1,000. */
  readonly draws?: number;
  /** Transitions before them, in which ε and M⁻¹ are learned. Default 1,000. */
  readonly warmup?: number;
  /** The acceptance that ε is adapted to: larger means smaller steps and fewer divergences. Default 0.8. */
  readonly acceptance?: number;
  /** Whether M⁻¹ is a full matrix or a diagonal. Default diagonal. */
  readonly dense?: boolean;
  /** A trajectory has at most 2 to the power of this many leaves. Default 10. */
  readonly maxDepth?: number;
  /** Chains a run of the graph takes. Default 4. */
  readonly block?: number;
  /** The number of the first chain, a multiple of `block`: chains 4 and 5 are those of a run with `first` 4. */
  readonly first?: number;
  /** ε to begin with, kept as it is where there is no warm-up. Default: looked for. */
  readonly size?: number;
  readonly onDraw?: (chain: number, done: number, of: number) => void;
  readonly signal?: AbortSignal;
}

/** What one chain drew, and how. */
export interface Chain {
  /** [draws, n] */
  readonly x: Float64Array;
  readonly value: Float64Array;
  readonly energy: Float64Array;
  readonly acceptance: Float64Array;
  readonly depth: Uint8Array;
  readonly leaves: Uint32Array;
  readonly diverged: Uint8Array;
  /** ε and M⁻¹ of the draws. */
  readonly size: number;
  readonly inverseMass: Float64Array;
  /** Of the warm-up. */
  readonly divergedInWarmup: number;
}

/** One leapfrog step to take. */
interface Step {
  readonly from: Leaf;
  /** ε, negative where time runs backwards. */
  readonly size: number;
}

/** Lower triangle L of a symmetric positive matrix, L Lᵀ. */
function cholesky(a: Float64Array, n: number): Float64Array {
  const l = new Float64Array(n * n);
  for (let i = 0; i < n; i++)
    for (let j = 0; j <= i; j++) {
      let v = a[i * n + j];
      for (let k = 0; k < j; k++) v -= l[i * n + k] * l[j * n + k];
      l[i * n + j] = i === j ? Math.sqrt(v) : v / l[j * n + j];
    }
  return l;
}

/** M⁻¹, and momenta p ~ N(0, M) with their velocities. */
class Metric {
  readonly inverse: Float64Array;
  readonly #n: number;
  readonly #dense: boolean;
  readonly #root: Float64Array;

  constructor(inverse: Float64Array, n: number, dense: boolean) {
    this.inverse = inverse;
    this.#n = n;
    this.#dense = dense;
    this.#root = dense ? cholesky(inverse, n) : inverse.map(Math.sqrt);
  }

  /** M⁻¹ = LLᵀ, so p = L⁻ᵀz has the covariance M, and its velocity is M⁻¹p = Lz. */
  momentum(z: Float64Array): { readonly momentum: Float64Array; readonly velocity: Float64Array } {
    const [n, l] = [this.#n, this.#root];
    if (!this.#dense) return { momentum: z.map((v, i) => v / l[i]), velocity: z.map((v, i) => v * l[i]) };
    const momentum = z.slice();
    for (let i = n - 1; i >= 0; i--) {
      for (let k = i + 1; k < n; k++) momentum[i] -= l[k * n + i] * momentum[k];
      momentum[i] /= l[i * n + i];
    }
    const velocity = z.map((_, i) => {
      let v = 0;
      for (let k = 0; k <= i; k++) v += l[i * n + k] * z[k];
      return v;
    });
    return { momentum, velocity };
  }
}

const half = (a: Float64Array, b: Float64Array): number => 0.5 * a.reduce((total, v, i) => total + v * b[i], 0);

type Settings = Required<Pick<NutsOptions, "draws" | "warmup" | "acceptance" | "dense" | "maxDepth">> &
  Pick<NutsOptions, "size">;

/** While a first step size is looked for: whether it grows, how many tries there were, and where the next one starts. */
interface Search {
  grows: boolean | undefined;
  readonly tries: number;
  readonly start: Leaf;
}

/** One chain, told by the leapfrog steps it asks for. */
class Walker {
  readonly #key: Key;
  readonly #options: Settings;
  readonly #n: number;
  readonly #windows: ReturnType<typeof windows>;
  readonly #average: DualAverage;
  readonly chain: Chain & { size: number; inverseMass: Float64Array; divergedInWarmup: number };
  metric: Metric;
  #covariance: Covariance;
  #at: Leaf;
  #size = 1;
  /** Transitions done, warm-up included. */
  done = 0;
  #trajectory: Trajectory | undefined;
  #search: Search | undefined;

  constructor(key: Key, n: number, start: Leaf, options: Settings) {
    const { draws, warmup, acceptance, dense } = options;
    this.#key = key;
    this.#n = n;
    this.#options = options;
    this.#at = start;
    this.#windows = windows(warmup);
    this.#average = new DualAverage(acceptance, 1);
    this.metric = new Metric(unitMatrix(n, dense), n, dense);
    this.#covariance = new Covariance(n, dense);
    this.chain = {
      x: new Float64Array(draws * n),
      value: new Float64Array(draws),
      energy: new Float64Array(draws),
      acceptance: new Float64Array(draws),
      depth: new Uint8Array(draws),
      leaves: new Uint32Array(draws),
      diverged: new Uint8Array(draws),
      size: 1,
      inverseMass: this.metric.inverse,
      divergedInWarmup: 0,
    };
    if (options.size === undefined) this.#look();
    else {
      this.#size = options.size;
      this.chain.size = options.size;
      this.#average.restart(options.size);
      this.#begin();
    }
  }

  get finished(): boolean {
    return this.done === this.#options.warmup + this.#options.draws;
  }

  get step(): Step {
    if (this.#search) return { from: this.#search.start, size: this.#size };
    if (!this.#trajectory) return { from: this.#at, size: 0 };
    const { from, direction } = this.#trajectory.next;
    return { from, size: direction * this.#size };
  }

  /** Takes the point the step led to; whether a transition ended with it. */
  take(leaf: Leaf): boolean {
    if (this.#search) this.#judge(leaf);
    else {
      const ended = this.#trajectory?.add(leaf);
      if (!ended) return false;
      this.#settle(ended);
      return true;
    }
    return false;
  }

  /** The chain's point with a momentum drawn for it. */
  #kicked(stream: Key): Leaf {
    const z = Float64Array.from(normal(fold(stream, "momentum"), [this.#n], { dtype: "float64" }).data);
    const { momentum, velocity } = this.metric.momentum(z);
    return { ...this.#at, momentum, velocity, energy: half(momentum, velocity) - this.#at.value };
  }

  /** Begins the search for a step size at which one step is accepted with probability 0.8. */
  #look(): void {
    const tries = (this.#search?.tries ?? 0) + 1;
    const stream = fold(fold(fold(this.#key, "size"), this.done), tries);
    this.#search = { grows: this.#search?.grows, tries, start: this.#kicked(stream) };
  }

  #judge(leaf: Leaf): void {
    const search = this.#search as Search;
    const change = search.start.energy - leaf.energy;
    const good = change > Math.log(0.8);
    search.grows ??= good;
    if (good === search.grows && search.tries < 100) {
      this.#size *= search.grows ? 2 : 0.5;
      this.#look();
      return;
    }
    this.#search = undefined;
    this.#average.restart(this.#size);
    this.#begin();
  }

  #begin(): void {
    if (this.finished) {
      this.#trajectory = undefined;
      return;
    }
    const stream = fold(fold(this.#key, "transition"), this.done);
    let [block, at] = [new Float64Array(0), 0];
    let blocks = 0;
    const draw = (): number => {
      if (at === block.length) {
        block = Float64Array.from(uniform(fold(fold(stream, "tree"), blocks++), [32], { dtype: "float64" }).data);
        at = 0;
      }
      return block[at++];
    };
    this.#trajectory = new Trajectory(this.#kicked(stream), this.#options.maxDepth, draw);
  }

  #settle(ended: Transition): void {
    const { warmup } = this.#options;
    this.#at = ended.leaf;
    this.done++;
    if (this.done <= warmup) this.#learn(ended);
    else this.#keep(ended, this.done - warmup - 1);
    if (!this.#search) this.#begin();
  }

  #learn({ acceptance, diverged, leaf }: Transition): void {
    const { warmup, dense } = this.#options;
    const { from, ends } = this.#windows;
    if (diverged) this.chain.divergedInWarmup++;
    this.#average.add(acceptance);
    this.#size = this.#average.size;
    if (this.done > from && this.done <= (ends.at(-1) ?? 0)) this.#covariance.add(leaf.x);
    if (ends.includes(this.done)) {
      this.metric = new Metric(this.#covariance.estimate(), this.#n, dense);
      this.#covariance = new Covariance(this.#n, dense);
      this.#size = this.#average.settled;
      if (this.done < warmup) this.#look();
    }
    if (this.done === warmup) {
      this.#size = this.#average.settled;
      this.chain.size = this.#size;
      this.chain.inverseMass = this.metric.inverse;
    }
  }

  #keep({ leaf, depth, leaves, diverged, acceptance, energy }: Transition, i: number): void {
    const { chain } = this;
    chain.x.set(leaf.x, i * this.#n);
    chain.value[i] = leaf.value;
    chain.energy[i] = energy;
    chain.acceptance[i] = acceptance;
    chain.depth[i] = depth;
    chain.leaves[i] = leaves;
    chain.diverged[i] = diverged ? 1 : 0;
  }
}

const unitMatrix = (n: number, dense: boolean): Float64Array =>
  Float64Array.from({ length: dense ? n * n : n }, (_, i) => (!dense || i % (n + 1) === 0 ? 1 : 0));

/** x, p, ∇, ε and M⁻¹ of all chains → where one step leads. */
const leapfrogStep =
  (logDensity: LogDensity, dense: boolean) =>
  (x: Tensor, momentum: Tensor, slope: Tensor, size: Tensor, inverse: Tensor) => {
    const e = expandDims(size, -1);
    const velocityOf = (p: Tensor): Tensor => (dense ? matvec(inverse, p) : mul(inverse, p));
    const kicked = add(momentum, mul(slope, mul(e, 0.5)));
    const moved = add(x, mul(velocityOf(kicked), e));
    const pull = gradEach(logDensity)(moved);
    const landed = add(kicked, mul(pull, mul(e, 0.5)));
    const velocity = velocityOf(landed);
    return {
      x: moved,
      momentum: landed,
      slope: pull,
      velocity,
      value: logDensity(moved),
      kinetic: mul(sum(mul(landed, velocity), -1), 0.5),
    };
  };

const matrix = (shape: readonly number[]): NdArray & { readonly data: Float64Array } => ({
  shape,
  dtype: "float64",
  data: new Float64Array(shape.reduce((a, b) => a * b, 1)),
});

type Run = Compiled<[Tensor, Tensor, Tensor, Tensor, Tensor], ReturnType<ReturnType<typeof leapfrogStep>>>;

/** Row c of what a step led to. */
function leafOf(found: Arrays<Awaited<ReturnType<ReturnType<typeof leapfrogStep>>>>, c: number, n: number): Leaf {
  const row = (a: NdArray): Float64Array => (a.data as Float64Array).slice(c * n, (c + 1) * n);
  const value = Number(found.value.data[c]);
  const energy = Number(found.kinetic.data[c]) - value;
  return {
    x: row(found.x),
    slope: row(found.slope),
    momentum: row(found.momentum),
    velocity: row(found.velocity),
    value,
    energy: Number.isNaN(energy) ? Number.POSITIVE_INFINITY : energy,
  };
}

/** Chains `first` … of one block, from rows of n numbers. */
async function walkBlock(
  run: Run,
  rows: Float64Array,
  n: number,
  block: number,
  first: number,
  settings: Settings,
  { key, onDraw, signal }: Pick<NutsOptions, "key" | "onDraw" | "signal">,
): Promise<Chain[]> {
  const count = rows.length / n;
  const inverseSize = settings.dense ? n * n : n;
  const [x, momentum, slope] = [matrix([block, n]), matrix([block, n]), matrix([block, n])];
  const [size, inverse] = [matrix([block]), matrix(settings.dense ? [block, n, n] : [block, n])];
  // Rows without a chain stand where the first one begins, and stay there.
  for (let c = 0; c < block; c++) x.data.set(rows.subarray(c < count ? c * n : 0, c < count ? (c + 1) * n : n), c * n);
  // A step of no length shows the value and the slope where the chains begin.
  const begun = await run(x, momentum, slope, size, inverse);
  const walkers = Array.from({ length: count }, (_, c) => {
    const leaf = leafOf(begun, c, n);
    const bad = leaf.slope.find((v) => !Number.isFinite(v));
    if (!Number.isFinite(leaf.value) || bad !== undefined)
      fail(
        "numerical",
        `chain ${first + c} begins where the log-density is ${leaf.value}${bad === undefined ? "" : ` and its slope ${bad}`}`,
        "begin elsewhere, or see where the log-density is not a finite number",
      );
    return new Walker(fold(key, first + c), n, leaf, settings);
  });
  while (walkers.some((walker) => !walker.finished)) {
    signal?.throwIfAborted();
    walkers.forEach((walker, c) => {
      const { from, size: e } = walker.step;
      x.data.set(from.x, c * n);
      momentum.data.set(from.momentum, c * n);
      slope.data.set(from.slope, c * n);
      size.data[c] = e;
      inverse.data.set(walker.metric.inverse, c * inverseSize);
    });
    const found = await run(x, momentum, slope, size, inverse);
    walkers.forEach((walker, c) => {
      if (!walker.finished && walker.take(leafOf(found, c, n)))
        onDraw?.(first + c, walker.done, settings.warmup + settings.draws);
    });
  }
  return walkers.map(({ chain }) => chain);
}

/** Draws from e^{log p} on Rⁿ, chains from the rows of `start` [chains, n]. */
export async function nuts(logDensity: LogDensity, start: NdArray, options: NutsOptions): Promise<Chain[]> {
  const { draws = 1000, warmup = 1000, acceptance = 0.8, dense = false, maxDepth = 10, block = 4, first = 0 } = options;
  const { device, threads = 1, worker, size } = options;
  const [count, n] = start.shape;
  if (first % block !== 0)
    fail("usage", `nuts: chains from number ${first} in blocks of ${block}`, "begin at a multiple of block");
  const run = compile(
    leapfrogStep(logDensity, dense),
    [[block, n], [block, n], [block, n], [block], dense ? [block, n, n] : [block, n]],
    { type: "float64", threads, ...(device !== undefined && { device }), ...(worker !== undefined && { worker }) },
  );
  const settings = { draws, warmup, acceptance, dense, maxDepth, ...(size !== undefined && { size }) };
  try {
    const chains: Chain[] = [];
    for (let c = 0; c < count; c += block) {
      const rows = Float64Array.from(start.data as Float64Array).subarray(c * n, Math.min(count, c + block) * n);
      chains.push(...(await walkBlock(run, rows, n, block, first + c, settings, options)));
    }
    return chains;
  } finally {
    await run.dispose();
  }
}
