/**
 * Draws from a posterior on constrained parameters: the no-U-turn sampler in free coordinates, draws in the parameters' own.
 *
 *     const posterior = await infer(
 *       {
 *         parameters: { mu: real(), sigma: positive(), theta: [real(), 8] },
 *         logDensity: ({ mu, sigma, theta }) => …,        // [chains]
 *       },
 *       { chains: 4, draws: 1000, key: key(1) },
 *     );
 *     posterior.summary();
 */
import { compile } from "../engine/index.ts";
import { fail, gradEach, type NdArray, type Shape, sizeOf, type Tensor } from "../graph/index.ts";
import { fold, uniform } from "../random/index.ts";
import { type Summary, summarise } from "./diagnostics.ts";
import { type NutsOptions, nuts } from "./nuts.ts";
import { freeLogDensity, type Parameter, type ParameterSpace, parameterSpace, type Values } from "./parameters.ts";
import type { Chain } from "./walker.ts";
import { warningsOf } from "./warnings.ts";

export interface PosteriorModel {
  readonly parameters: Readonly<Record<string, Parameter>>;
  /** log p up to a constant, one number a chain, of parameters [chains, …]. Data are constants of it. */
  readonly logDensity: (values: Values) => Tensor;
  /** Quantities to report besides the parameters, functions of them: [chains, …]. */
  readonly derived?: Readonly<Record<string, (values: Values) => Tensor>>;
}

export interface InferOptions extends Omit<NutsOptions, "first" | "size"> {
  /** Default 4. */
  readonly chains?: number;
}

/** Draws of one quantity, [chains, draws, …shape]. */
export interface PosteriorDraws {
  readonly shape: Shape;
  readonly data: Float64Array;
}

export interface Posterior {
  /** By name: parameters and derived quantities. */
  readonly draws: Readonly<Record<string, PosteriorDraws>>;
  readonly chains: readonly Chain[];
  /** One row a number: `theta[3]` is the third of theta. */
  readonly summary: () => Readonly<Record<string, Summary>>;
  /** What a reader of these draws should know first, in words; none where all is well. */
  readonly warnings: () => readonly string[];
}

/** Free coordinates between −2 and 2, where log p and its slope are finite: as many tries a chain as it takes, up to this. */
const TRIES = 100;

async function startingPoints(
  logDensity: (x: Tensor) => Tensor,
  { dimension }: ParameterSpace,
  count: number,
  { key, device, threads = 1 }: InferOptions,
): Promise<NdArray> {
  const look = compile(
    (x: Tensor) => ({ value: logDensity(x), slope: gradEach(logDensity)(x) }),
    [[count, dimension]],
    { type: "float64", threads, ...(device !== undefined && { device }) },
  );
  const start = new Float64Array(count * dimension);
  const open = new Set(Array.from({ length: count }, (_, c) => c));
  try {
    for (let tried = 0; open.size > 0; tried++) {
      if (tried === TRIES)
        fail(
          "numerical",
          `after ${TRIES} tries chain ${[...open][0]} has no point to begin from: the log-density or its slope is not finite`,
          "see that it is finite inside the parameters' domains, and written in logarithms",
        );
      for (const c of open) {
        const stream = fold(fold(fold(key, "start"), c), tried);
        const u = uniform(stream, [dimension], { dtype: "float64" }).data;
        for (let i = 0; i < dimension; i++) start[c * dimension + i] = 4 * Number(u[i]) - 2;
      }
      const { value, slope } = await look({ shape: [count, dimension], dtype: "float64", data: start });
      for (const c of open) {
        const row = (slope.data as Float64Array).subarray(c * dimension, (c + 1) * dimension);
        if (Number.isFinite(Number(value.data[c])) && row.every(Number.isFinite)) open.delete(c);
      }
    }
  } finally {
    await look.dispose();
  }
  return { shape: [count, dimension], dtype: "float64", data: start };
}

/** Draws of free coordinates as values, by name. */
async function valuesOf(
  chains: readonly Chain[],
  { parameters: _, derived = {} }: PosteriorModel,
  space: ParameterSpace,
  { device, threads = 1 }: InferOptions,
): Promise<Record<string, PosteriorDraws>> {
  const draws = chains[0].value.length;
  const show = compile(
    (x: Tensor) => {
      const { values } = space.enter(x);
      return { ...values, ...Object.fromEntries(Object.entries(derived).map(([name, f]) => [name, f(values)])) };
    },
    [[draws, space.dimension]],
    { type: "float64", threads, ...(device !== undefined && { device }) },
  );
  try {
    const found: Record<string, PosteriorDraws> = {};
    for (const [c, { x }] of chains.entries()) {
      const values = await show({ shape: [draws, space.dimension], dtype: "float64", data: x });
      for (const [name, { shape, data }] of Object.entries(values)) {
        const size = sizeOf(shape);
        found[name] ??= { shape: [chains.length, ...shape], data: new Float64Array(chains.length * size) };
        found[name].data.set(data as Float64Array, c * size);
      }
    }
    return found;
  } finally {
    await show.dispose();
  }
}

/** `name`, or `name[i, j]` counted from 1, of every number of a quantity. */
export function elementNames(name: string, shape: Shape): string[] {
  if (shape.length === 0) return [name];
  const indices = shape.reduce<number[][]>(
    (all, n) => all.flatMap((before) => Array.from({ length: n }, (_, i) => [...before, i + 1])),
    [[]],
  );
  return indices.map((index) => `${name}[${index.join(",")}]`);
}

/** One array a chain of one number of a quantity. */
export const chainsOf = (
  { shape: [chains, draws, ...shape], data }: PosteriorDraws,
  element: number,
): Float64Array[] => {
  const size = sizeOf(shape);
  return Array.from({ length: chains }, (_, c) =>
    Float64Array.from({ length: draws }, (_, d) => data[(c * draws + d) * size + element]),
  );
};

function summaryOf(draws: Readonly<Record<string, PosteriorDraws>>): Record<string, Summary> {
  return Object.fromEntries(
    Object.entries(draws).flatMap(([name, quantity]) =>
      elementNames(name, quantity.shape.slice(2)).map(
        (element, i) => [element, summarise(chainsOf(quantity, i))] as const,
      ),
    ),
  );
}

export async function inferPosterior(model: PosteriorModel, options: InferOptions): Promise<Posterior> {
  const { chains: count = 4 } = options;
  if (!(Number.isInteger(count) && count >= 1))
    fail("usage", `infer: chains is ${count}`, "give a whole number from 1; 4 let R̂ say something");
  const space = parameterSpace(model.parameters);
  const logDensity = freeLogDensity(space, model.logDensity);
  const start = await startingPoints(logDensity, space, count, options);
  const chains = await nuts(logDensity, start, options);
  const draws = await valuesOf(chains, model, space, options);
  let summary: Record<string, Summary> | undefined;
  const summarised = (): Record<string, Summary> => {
    summary ??= summaryOf(draws);
    return summary;
  };
  return { draws, chains, summary: summarised, warnings: () => warningsOf(chains, summarised(), options) };
}
