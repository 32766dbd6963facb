/**
 * The no-U-turn sampler for many chains in one graph: every run of it moves every chain by one leapfrog step,
 *
 *   p ← p + ½ε∇log p(x);  x ← x + εM⁻¹p;  p ← p + ½ε∇log p(x)        H = ½ pᵀM⁻¹p − log p(x)
 *
 * each along its own trajectory, with its own ε and M⁻¹ (walker.ts). A chain that has ended a transition begins
 * the next at once and waits for nobody.
 *
 * Graphs run on blocks of a fixed number of chains, chain i always in row i mod `block`: the rounding of a runtime may depend on
 * how many rows there are. So what chain i draws is a function of (key, i, block), of nothing else.
 */
import { type Arrays, type Compiled, type CompileOptions, compile } from "../engine/index.ts";
import { add, expandDims, fail, gradEach, matvec, mul, type NdArray, sum, type Tensor } from "../graph/index.ts";
import { fold, type Key } from "../random/index.ts";
import type { LogDensity } from "./hamiltonian.ts";
import type { Leaf } from "./tree.ts";
import { type Chain, type ChainOptions, type ChainSettings, Walker } from "./walker.ts";

export interface NutsOptions extends ChainOptions, Pick<CompileOptions, "device" | "threads" | "worker"> {
  readonly key: Key;
  /** Chains a run of the graph takes. Default 4. */
  readonly block?: number;
  /** The number of the first chain, a multiple of `block`: chains 4 and 5 are those of a run with `first` 4. */
  readonly first?: number;
  readonly onDraw?: (chain: number, done: number, of: number) => void;
  readonly signal?: AbortSignal;
}

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
  settings: ChainSettings,
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
