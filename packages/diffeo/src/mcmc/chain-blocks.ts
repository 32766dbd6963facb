/**
 * Runs chains step by step (stepped-chain.ts) in blocks of a fixed number of rows. Every run of the
 * graph moves each chain of a block by one leapfrog step.
 */
import { internal } from "../graph/error.ts";
import type { NdArray } from "../graph/index.ts";
import { fold } from "../random/index.ts";
import { pauses } from "../sampler/pauses.ts";
import { AdaptiveChain, compareChains } from "./adaptive-chain.ts";
import type { ChainSettings } from "./chain-settings.ts";
import type { Chain, ChainState } from "./chain-state.ts";
import { type ChainInputs, type ChainStep, leafOf, rowWidths } from "./chain-step.ts";
import { type DrawChainsOptions, type Keeper, keeperOf } from "./draw-options.ts";
import { inverseLength, inverseShape, type MetricForm } from "./metric.ts";
import { SteppedChain } from "./stepped-chain.ts";
import type { Leaf } from "./trajectory.ts";

const matrix = (shape: readonly number[]): NdArray & { readonly data: Float64Array } => ({
  shape,
  dtype: "float64",
  data: new Float64Array(shape.reduce((a, b) => a * b, 1)),
});

/** The rows of a block in the layout of the graph's input, and a run of the graph. */
interface Block {
  readonly size: number;
  /** Writes a step of chain c into its row. */
  put(
    c: number,
    from: Pick<Leaf, "x" | "momentum" | "slope">,
    size: number,
    inverse: Float64Array,
  ): void;
  /** Runs the step of all rows. */
  run(): Promise<(c: number) => Leaf>;
}

/** Opens a block of chains for given inputs of the target. */
export type OpenBlock = (inputs: ChainInputs) => Block;

/**
 * Blocks of `rows` chains of n numbers.
 *
 * @param step undefined if chains are never moved step by step
 */
export function blockOpener(
  step: ChainStep | undefined,
  n: number,
  rows: number,
  form: MetricForm,
): OpenBlock {
  const [width] = rowWidths(n);
  return (inputs) => {
    const [state, inverse] = [matrix([rows, width]), matrix([rows, ...inverseShape(form, n)])];
    const metricsPut: (Float64Array | undefined)[] = [];
    return {
      size: rows,
      put: (c, from, e, m) => {
        state.data.set(from.x, c * width);
        state.data.set(from.momentum, c * width + n);
        state.data.set(from.slope, c * width + 2 * n);
        state.data[c * width + 3 * n] = e;
        if (metricsPut[c] !== m) inverse.data.set(m, c * m.length);
        metricsPut[c] = m;
      },
      run: async () => {
        const { data } = await (step ?? internal("chains without a step"))(inputs, state, inverse);
        return (c) => leafOf(data as Float64Array, c, n);
      },
    };
  };
}

/** Evaluates log p and its gradient at rows of n numbers, by a step of length 0. */
export async function lookInBlocks(
  open: () => Block,
  n: number,
  form: MetricForm,
  places: Float64Array,
): Promise<Leaf[]> {
  const found: Leaf[] = [];
  const [none, still] = [new Float64Array(n), new Float64Array(inverseLength(form, n))];
  const count = places.length / n;
  for (let from = 0; from < count; ) {
    const block = open();
    const to = Math.min(from + block.size, count);
    // Rows without a chain hold the first chain's point.
    for (let c = 0; c < block.size; c++) {
      const at = from + c < to ? from + c : from;
      const x = places.subarray(at * n, (at + 1) * n);
      block.put(c, { x, momentum: none, slope: none }, 0, still);
    }
    const leaf = await block.run();
    for (let c = from; c < to; c++) found.push(leaf(c - from));
    from = to;
  }
  return found;
}

/** Moves the chains of a block to their last draw. */
async function drawBlock(
  block: Block,
  chains: readonly SteppedChain[],
  keeper: Keeper,
  first: number,
  onDraw: (c: number, chain: AdaptiveChain) => void,
): Promise<void> {
  const [{ adaptive: one }] = chains;
  const idle = { x: one.at.x, momentum: one.at.x.map(() => 0), slope: one.at.slope };
  for (let c = chains.length; c < block.size; c++) block.put(c, idle, 0, one.metric.inverse);
  const moves = ({ adaptive }: SteppedChain): boolean => !(adaptive.finished || adaptive.waits);
  const pause = pauses();
  while (chains.some(({ adaptive }) => !adaptive.finished)) {
    await keeper.stopIfAborted();
    if (
      compareChains(
        chains.map(({ adaptive }) => adaptive),
        first,
      )
    )
      for (const chain of chains) chain.proceed();
    chains.forEach((chain, c) => {
      const { from: leaf, size } = moves(chain) ? chain.step : { from: idle, size: 0 };
      block.put(c, leaf, size, chain.adaptive.metric.inverse);
    });
    await pause();
    const leaf = await block.run();
    chains.forEach((chain, c) => {
      if (moves(chain) && chain.take(leaf(c))) onDraw(c, chain.adaptive);
    });
    await keeper.keepIfDue();
  }
}

/** Moves one block after another to the last draw of its chains. */
export async function drawInBlocks(
  states: ChainState[],
  open: () => Block,
  settings: ChainSettings,
  options: DrawChainsOptions,
): Promise<Chain[]> {
  const { key, first = 0, onDraw, store } = options;
  const of = settings.warmup + settings.draws;
  const drawn: Chain[] = [];
  let [from, chains]: [number, SteppedChain[]] = [0, []];
  const keeper = keeperOf(options, () => {
    chains.forEach(({ adaptive }, c) => {
      states[from + c] = adaptive.state;
    });
    return states;
  });
  while (from < states.length) {
    const block = open();
    chains = states
      .slice(from, from + block.size)
      .map(
        (state, c) =>
          new SteppedChain(new AdaptiveChain(fold(key, first + from + c), state, settings)),
      );
    const number = first + from;
    await drawBlock(block, chains, keeper, number, (c, { done }) => onDraw?.(number + c, done, of));
    if (store) await keeper.keep();
    drawn.push(...chains.map(({ adaptive }) => adaptive.chain));
    from += block.size;
  }
  return drawn;
}
