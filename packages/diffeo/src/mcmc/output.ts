/**
 * Draws as text that other programs read:
 *
 *   CSV    as CmdStan writes it, one text per chain: settings in comments, a line of names, a line
 *          per draw. Numbers of an array are `name.i.j`, counted from 1, the first index fastest.
 *   JSON   as ArviZ reads it (`from_json`, or `from_dict` of what it holds): groups posterior,
 *          sample_stats and observed_data, each variable a list of chains of draws.
 *
 * Numbers keep all their digits. Numbers that are not finite are NaN, inf and -inf in CSV, and NaN
 * and Infinity in JSON, as Python writes them. Both are generated in pieces, because all draws may
 * exceed the length of a string.
 */
import type { NdArray, Shape } from "../graph/index.ts";
import type { ChainSettings } from "./chain-settings.ts";
import type { Chain } from "./chain-state.ts";
import { lowRankDiagonal } from "./metric.ts";
import type { NamedDraws } from "./predict.ts";
import { indicesOf, type Posterior } from "./sample-posterior.ts";

/** The origin of draws, which output files record. */
export interface Origin {
  /** The name of the model. */
  readonly model?: string;
  /** The file of the data. */
  readonly data?: string;
  readonly seed?: number;
  /** The version of diffeo. */
  readonly version?: string;
}

const cell = (v: number): string =>
  Number.isFinite(v) ? String(v) : Number.isNaN(v) ? "NaN" : v > 0 ? "inf" : "-inf";

const metricNames = {
  unit: "unit_e",
  diagonal: "diag_e",
  "low-rank": "low_rank_e",
  dense: "dense_e",
} as const;

/** The settings as CmdStan lists them, indented by group. */
function settingLines(
  settings: ChainSettings,
  chain: number,
  { model, data, seed, version }: Origin,
): string[] {
  const { draws, warmup, targetAcceptance, maxDepth, metric, method, steps } = settings;
  const engine =
    method === "nuts"
      ? ["        engine = nuts", "          nuts", `            max_depth = ${maxDepth}`]
      : [`        engine = ${method}`, ...(method === "hmc" ? [`          steps = ${steps}`] : [])];
  return [
    ...(version === undefined ? [] : [`diffeo_version = ${version}`]),
    ...(model === undefined ? [] : [`model = ${model}`]),
    "method = sample",
    "  sample",
    `    num_samples = ${draws}`,
    `    num_warmup = ${warmup}`,
    "    save_warmup = 0",
    "    thin = 1",
    "    adapt",
    `      engaged = ${warmup > 0 ? 1 : 0}`,
    `      delta = ${targetAcceptance}`,
    "    algorithm = hmc",
    "      hmc",
    ...engine,
    `        metric = ${metricNames[metric]}`,
    `id = ${chain + 1}`,
    ...(data === undefined ? [] : ["data", `  file = ${data}`]),
    ...(seed === undefined ? [] : ["random", `  seed = ${seed}`]),
  ];
}

/** The step size and the inverse mass matrix, as CmdStan writes them. */
function adaptationLines(
  { stepSize, inverseMass, x, value }: Chain,
  { metric }: ChainSettings,
): string[] {
  const shown =
    metric === "low-rank" ? lowRankDiagonal(inverseMass, x.length / value.length) : inverseMass;
  const numbers = Array.from(shown, cell);
  const n = metric === "dense" ? Math.sqrt(numbers.length) : numbers.length;
  const rows = Array.from({ length: numbers.length / n }, (_, i) =>
    numbers.slice(i * n, (i + 1) * n).join(", "),
  );
  const what = metric === "dense" ? "Elements" : "Diagonal elements";
  return [
    "Adaptation terminated",
    `Step size = ${cell(stepSize)}`,
    `${what} of inverse mass matrix:`,
    ...rows,
  ];
}

/** Indices of an array with the first index fastest, each with its position in row-major order. */
function columnMajor(shape: Shape): { readonly index: readonly number[]; readonly at: number }[] {
  const rowMajor = indicesOf(shape).map((index, at) => ({ index, at }));
  return rowMajor.toSorted((a, b) => {
    for (let k = shape.length - 1; k >= 0; k--)
      if (a.index[k] !== b.index[k]) return a.index[k] - b.index[k];
    return 0;
  });
}

/** The statistics of each transition, by CmdStan's name and by ArviZ's. */
const statistics = (chain: Chain, i: number): readonly (readonly [string, string, number])[] => [
  ["lp__", "lp", chain.value[i]],
  ["accept_stat__", "acceptance_rate", chain.acceptance[i]],
  ["stepsize__", "step_size", chain.stepSize],
  ["treedepth__", "tree_depth", chain.depth[i]],
  ["n_leapfrog__", "n_steps", chain.leaves[i]],
  ["divergent__", "diverging", chain.diverged[i]],
  ["energy__", "energy", chain.energy[i]],
];

/** Writes the draws of one chain as CSV in CmdStan's format. Yields pieces of the text. */
export function* cmdStanCsv(
  posterior: Posterior,
  chain: number,
  origin: Origin = {},
): Generator<string> {
  const { chains, draws, settings } = posterior;
  const own = chains[chain];
  const columns = Object.entries(draws).flatMap(
    ([
      name,
      {
        shape: [, , ...shape],
        data,
      },
    ]) =>
      columnMajor(shape).map(({ index, at }) => {
        const size = shape.reduce((a, b) => a * b, 1);
        return {
          name: [name, ...index].join("."),
          number: (i: number) => data[(chain * settings.draws + i) * size + at],
        };
      }),
  );
  const comment = (line: string): string => `# ${line}`;
  const names = [...statistics(own, 0).map(([name]) => name), ...columns.map(({ name }) => name)];
  const head = [
    ...settingLines(settings, chain, origin).map(comment),
    names.join(","),
    ...adaptationLines(own, settings).map(comment),
  ];
  for (const line of head) yield `${line}\n`;
  for (let i = 0; i < settings.draws; i++) {
    const numbers = [
      ...statistics(own, i).map(([, , v]) => v),
      ...columns.map(({ number }) => number(i)),
    ];
    yield `${numbers.map(cell).join(",")}\n`;
  }
}

/** Numbers of a shape as nested lists, in text. */
function nested(shape: Shape, data: ArrayLike<number>, from = 0): string {
  if (shape.length === 0) {
    const v = data[from];
    return Number.isFinite(v)
      ? JSON.stringify(v)
      : Number.isNaN(v)
        ? "NaN"
        : v > 0
          ? "Infinity"
          : "-Infinity";
  }
  const [count, ...rest] = shape;
  const size = rest.reduce((a, b) => a * b, 1);
  return (
    `[${Array.from({ length: count }, (_, i) => nested(rest, data, from + i * size)).join(",")}` +
    "]"
  );
}

/** The approximate number of numbers per piece. */
const PIECE = 4096;

/** `nested`, in pieces. */
function* nestedPieces(shape: Shape, data: ArrayLike<number>, from = 0): Generator<string> {
  const [count, ...rest] = shape;
  const size = rest.reduce((a, b) => a * b, 1);
  if (shape.length === 0 || count * size <= PIECE) return yield nested(shape, data, from);
  const together = Math.max(1, Math.floor(PIECE / size));
  for (let i = 0; i < count; i += together) {
    yield i === 0 ? "[" : ",";
    if (size > PIECE) yield* nestedPieces(rest, data, from + i * size);
    else yield nested([Math.min(together, count - i), ...rest], data, from + i * size).slice(1, -1);
  }
  yield "]";
}

/** A JSON object of variables, in pieces. */
function* group(variables: readonly (readonly [string, Iterable<string>])[]): Generator<string> {
  for (const [i, [name, pieces]] of variables.entries()) {
    yield `${i === 0 ? "{" : ","}${JSON.stringify(name)}:`;
    yield* pieces;
  }
  yield variables.length === 0 ? "{}" : "}";
}

/**
 * Writes all chains as JSON that ArviZ reads. Yields pieces of the text.
 *
 * @param groups further groups of ArviZ by name: prior, prior_predictive, posterior_predictive,
 * log_likelihood, predictions
 */
export function* arvizJson(
  { chains, draws, settings, data }: Posterior,
  groups: Readonly<Record<string, NamedDraws>> = {},
): Generator<string> {
  const names = statistics(chains[0], 0).map(([, name]) => name);
  function* statistic(k: number): Generator<string> {
    for (const [c, chain] of chains.entries()) {
      yield c === 0 ? "[" : ",";
      const values = Array.from({ length: settings.draws }, (_, i) => statistics(chain, i)[k][2]);
      if (names[k] === "diverging") yield `[${values.map((v) => v === 1).join(",")}]`;
      else yield* nestedPieces([values.length], values);
    }
    yield "]";
  }
  const arrays = (
    all: Readonly<Record<string, Pick<NdArray, "shape" | "data">>>,
  ): Iterable<string> =>
    group(
      Object.entries(all).map(([name, a]) => [name, nestedPieces(a.shape, a.data as Float64Array)]),
    );
  yield* group([
    ["posterior", arrays(draws)],
    ["sample_stats", group(names.map((name, k) => [name, statistic(k)]))],
    ["observed_data", arrays(data)],
    ...Object.entries(groups).map(([name, own]) => [name, arrays(own)] as const),
  ]);
  yield "\n";
}
