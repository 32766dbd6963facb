/**
 * Samples a posterior on constrained parameters: chains move in free coordinates, and draws are in
 * the parameters' domains.
 *
 *     const posterior = await samplePosterior(
 *       {
 *         parameters: { mu: real(), sigma: positive(), theta: [real(), 8] },
 *         logDensity: ({ mu, sigma, theta }, { y }) => …,        // [chains]
 *       },
 *       { data: { y: [28, 8, -3] }, chains: 4, draws: 1000, key: key(1) },
 *     );
 *     posterior.summary();
 */
import { fail, type Shape } from "../graph/index.ts";
import { type Closable, disposable } from "../host/index.ts";
import { type ChainSettings, settingsOf } from "./chain-settings.ts";
import { type Chain, type ChainState, endedChain, requireOwn } from "./chain-state.ts";
import { type OpenChains, type OpenChainsOptions, openChains } from "./chains.ts";
import { type Data, dataArrays } from "./data.ts";
import { type Summary, summarise } from "./diagnostics.ts";
import type { DrawChainsOptions } from "./draw-options.ts";
import {
  type BoundModel,
  boundModel,
  type NamedModel,
  type Parameters,
  type PosteriorDraws,
  type PosteriorModel,
  placeInWords,
} from "./model.ts";
import { type Start, startingPoints } from "./starting-points.ts";
import { warningsOf } from "./warnings.ts";

/** Options of a call of a posterior sampler. */
export interface CallOptions extends Omit<DrawChainsOptions, "first" | "inputs"> {
  /** Data of the model by name. Default none. */
  readonly data?: Data;
  /** Where chains start. Default: free coordinates sampled uniformly between −2 and 2. */
  readonly start?: Start;
}

/** Options of `openPosteriorSampler`: the number of chains and their settings. */
export interface PosteriorSamplerOptions extends Omit<OpenChainsOptions, "size"> {
  /** Number of chains. Default 4. */
  readonly chains?: number;
}

/** Options of `samplePosterior`. */
export interface SamplePosteriorOptions extends PosteriorSamplerOptions, CallOptions {}

/** Draws from a posterior, with their summary and warnings. */
export interface Posterior<Name extends string = string> {
  /** Draws of parameters and derived quantities by name, [chains, draws, …]. */
  readonly draws: Readonly<Record<Name, PosteriorDraws>>;
  /** The chains in free coordinates, with the statistics of their transitions. */
  readonly chains: readonly Chain[];
  /** The settings of the chains, with their defaults. */
  readonly settings: ChainSettings;
  /** The data of the model. */
  readonly data: BoundModel["data"];
  /** Summarises each number: `theta[3]` is the third element of theta. */
  readonly summary: () => Readonly<Record<string, Summary>>;
  /** Problems with the draws, each in a sentence with what to do; empty if none was found. */
  readonly warnings: () => readonly string[];
}

/** The names `name`, or `name[i,j]` counted from 1, of all elements of a quantity. */
export function elementNames(name: string, shape: Shape): string[] {
  return indicesOf(shape).map((index) =>
    index.length === 0 ? name : `${name}[${index.join(",")}]`,
  );
}

/** All indices of an array, counted from 1, the last index fastest. */
export const indicesOf = (shape: Shape): number[][] =>
  shape.reduce<number[][]>(
    (all, n) => all.flatMap((before) => Array.from({ length: n }, (_, i) => [...before, i + 1])),
    [[]],
  );

/** The draws of one element of a quantity, one array per chain. */
export const chainsOf = (
  { shape: [chains, draws, ...shape], data }: PosteriorDraws,
  element: number,
): Float64Array[] => {
  const size = shape.reduce((a, b) => a * b, 1);
  return Array.from({ length: chains }, (_, c) =>
    Float64Array.from({ length: draws }, (_, d) => data[(c * draws + d) * size + element]),
  );
};

export function summaryOf(
  draws: Readonly<Record<string, PosteriorDraws>>,
): Record<string, Summary> {
  return Object.fromEntries(
    Object.entries(draws).flatMap(([name, quantity]) =>
      elementNames(name, quantity.shape.slice(2)).map(
        (element, i) => [element, summarise(chainsOf(quantity, i))] as const,
      ),
    ),
  );
}

async function posteriorOf(
  model: BoundModel,
  chains: OpenChains,
  count: number,
  options: CallOptions,
): Promise<Posterior> {
  const { inputs } = model;
  const resumed = (await options.store?.load()) !== undefined;
  const n = model.space.dimension;
  const start = resumed
    ? new Float64Array(count * n)
    : await startingPoints(chains, {
        n,
        first: 0,
        count,
        inputs,
        key: options.key,
        ...(options.start && { start: options.start }),
        where: (x) => placeInWords(model, x),
        faultAt: model.faultAt,
      });
  return describePosterior(
    model,
    await chains.draw(start, { ...options, inputs }),
    chains.settings,
  );
}

/** Makes a posterior of finished chains. */
async function describePosterior(
  model: BoundModel,
  drawn: readonly Chain[],
  settings: ChainSettings,
): Promise<Posterior> {
  const draws = await model.show(drawn.map(({ x }) => x));
  const lost = drawn.findIndex(({ undefinedAt }) => undefinedAt !== undefined);
  const lostAt = drawn[lost]?.undefinedAt;
  const fault = lostAt && (await model.faultAt(lostAt));
  const where =
    lostAt && `${await placeInWords(model, lostAt)}${fault ? `, where ${fault.problem}` : ""}`;
  let summary: Record<string, Summary> | undefined;
  const summarised = (): Record<string, Summary> => {
    summary ??= summaryOf(draws);
    return summary;
  };
  return {
    draws,
    chains: drawn,
    settings,
    data: model.data,
    summary: summarised,
    warnings: () => warningsOf(drawn, summarised(), settings, where, model.flat),
  };
}

const countOf = ({ chains = 4 }: PosteriorSamplerOptions): number => {
  if (!(Number.isSafeInteger(chains) && chains >= 1))
    fail(
      "usage",
      `\`chains\` is ${chains}`,
      "give an integer of at least 1; R̂ needs several, such as 4",
    );
  return chains;
};

/**
 * Samples the posterior of a model by Markov chains. The data are constants of the graph, so what
 * depends on them alone is computed once.
 */
export function samplePosterior<const P extends Parameters, D extends string = never>(
  model: NamedModel<P, D>,
  options: SamplePosteriorOptions,
): Promise<Posterior<(keyof P & string) | D>>;
/**
 * Samples the posterior of a model of statements, or of one whose parameters depend on the data.
 */
export function samplePosterior(
  model: PosteriorModel,
  options: SamplePosteriorOptions,
): Promise<Posterior>;
export async function samplePosterior(
  given: PosteriorModel | NamedModel<Parameters, string>,
  options: SamplePosteriorOptions,
): Promise<Posterior> {
  const model = given as PosteriorModel;
  const count = countOf(options);
  const bound = boundModel(
    model,
    options.data ?? {},
    dataArrays(options.data ?? {}, model.data),
    false,
    options,
  );
  const chains = openChains(bound.target, count, options);
  try {
    return await posteriorOf(bound, chains, count, options);
  } finally {
    await chains.dispose();
    await bound.dispose();
  }
}

/**
 * Makes a posterior of chains that were sampled elsewhere, as jobs (`chainsJobs`).
 *
 * @param model the model of the chains
 * @param states the states of all chains at their last draw, in order
 * @param options the options of the jobs
 * @throws DiffeoError of kind `data` if the chains do not fit the options or are not finished
 */
export async function collectPosterior(
  model: PosteriorModel,
  states: readonly ChainState[],
  options: Omit<SamplePosteriorOptions, "key" | "store" | "start" | "onDraw" | "signal">,
): Promise<Posterior> {
  const count = countOf(options);
  const data = options.data ?? {};
  const bound = boundModel(model, data, dataArrays(data, model.data), false, options);
  try {
    const settings = settingsOf(options);
    requireOwn(states, count, bound.space.dimension, settings);
    const open = states.findIndex(({ done }) => done < settings.warmup + settings.draws);
    if (open >= 0)
      fail("data", `chain ${open + 1} has not reached its last draw`, "run its job to the end");
    return await describePosterior(bound, states.map(endedChain), settings);
  } finally {
    await bound.dispose();
  }
}

/** A posterior sampler that can be called with many data sets; see `openPosteriorSampler`. */
export interface PosteriorSampler extends Closable {
  (options: CallOptions): Promise<Posterior>;
  dispose(): Promise<void>;
}

/**
 * Opens a sampler of a model for many data sets. The data are inputs of the graphs, which are
 * compiled once per shape of the data. Call `dispose` to free them.
 */
export function openPosteriorSampler(
  model: PosteriorModel,
  options: PosteriorSamplerOptions = {},
): PosteriorSampler {
  const count = countOf(options);
  const opened = new Map<string, { readonly bound: BoundModel; readonly chains: OpenChains }>();
  const draw = async (call: CallOptions): Promise<Posterior> => {
    const data = dataArrays(call.data ?? {}, model.data);
    // Parameters that are a function of the data may depend on single numbers, such as a count.
    const own = typeof model.parameters === "function";
    const shapes = Object.entries(data).map(([name, { shape, data: values }]) => [
      name,
      shape,
      own && shape.length === 0 ? values[0] : "",
    ]);
    const name = JSON.stringify(shapes);
    let entry = opened.get(name);
    if (!entry) {
      const bound = boundModel(model, call.data ?? {}, data, true, options);
      entry = { bound, chains: openChains(bound.target, count, options) };
      opened.set(name, entry);
    }
    return posteriorOf(entry.bound.with(data), entry.chains, count, call);
  };
  const dispose = async (): Promise<void> => {
    for (const { bound, chains } of opened.values()) {
      await chains.dispose();
      await bound.dispose();
    }
    opened.clear();
  };
  return Object.assign(draw, disposable(dispose));
}
