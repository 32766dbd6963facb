/**
 * The errors of log-likelihoods with few evaluations of the network, in nats: a model is fitted for
 * some steps, and the log-likelihoods of 64 new rows are computed with each number of evaluations.
 */
import { fold, key } from "diffeo/random";
import { type FitTableOptions, fitTable } from "diffeo-tables";
import { mean } from "./distance.ts";
import { rowsOf, tasks } from "./distributions.ts";
import { knownFresh } from "./known.ts";
import { type Source, tableOf } from "./maps.ts";

const FRESH = 64;
/**
 * The numbers of evaluations of the reference, and a quarter fewer: their difference is the
 * resolution of the comparison.
 */
const [MANY, FEWER] = [1600, 1200];

export interface Errors {
  readonly columns: number;
  readonly average: number;
  /** The 90 % quantile. */
  readonly most90: number;
  readonly most: number;
  /** The largest change from 1,200 evaluations to 1,600. */
  readonly settled: number;
}

const freshOf = (name: string, seed: number): number[][] =>
  Object.hasOwn(tasks, name)
    ? rowsOf(tasks[name], FRESH, fold(fold(fold(key("tables"), name), "fresh"), 0))
    : knownFresh(FRESH, seed);

export async function likelihoodErrors(
  name: string,
  { evaluations, ...source }: Source & { readonly evaluations: number },
  fit: Omit<FitTableOptions, "columns" | "seed">,
): Promise<Errors> {
  const { seed } = source;
  const { rows, columns } = await tableOf(name, source);
  const fresh = freshOf(name, seed);
  const model = await fitTable(rows, { columns, given: false, seed, ...fit });
  const [few, fewer, many] = [
    await model.logLikelihood(fresh, { evaluations }),
    await model.logLikelihood(fresh, { evaluations: FEWER }),
    await model.logLikelihood(fresh, { evaluations: MANY }),
  ];
  const off = Array.from(few, (value, i) => Math.abs(value - many[i])).sort((a, b) => a - b);
  return {
    columns: model.domain.columns.length,
    average: mean(off),
    most90: off[Math.ceil(0.9 * FRESH) - 1],
    most: off[FRESH - 1],
    settled: Math.max(...Array.from(fewer, (value, i) => Math.abs(value - many[i]))),
  };
}
