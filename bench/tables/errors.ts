/**
 * How far log-likelihoods by few evaluations of the network are from those by many, in nats: a model is fitted for a while, and
 * 64 rows that it never saw are followed with each number of evaluations.
 */
import { fold, key } from "diffeo/random";
import { type FitTableOptions, fitTable } from "diffeo-tables";
import { mean } from "./distance.ts";
import { knownColumns, knownFresh, knownRows } from "./known.ts";
import { rowsOf, tasks } from "./laws.ts";

const FRESH = 64;
/** What others are held against, and a quarter fewer: what these differ by is as little as can be told. */
const [MANY, FEWER] = [1600, 1200];

export interface Errors {
  readonly columns: number;
  readonly average: number;
  /** Nine of ten are below. */
  readonly most90: number;
  readonly most: number;
  /** The largest change from 1,200 evaluations to 1,600. */
  readonly settled: number;
}

function tableOf(name: string, rows: number, seed: number) {
  if (!Object.hasOwn(tasks, name))
    return { rows: knownRows(seed), fresh: knownFresh(FRESH, seed), columns: knownColumns };
  const root = fold(key("tables"), name);
  return {
    rows: rowsOf(tasks[name], rows, fold(fold(root, "train"), seed)),
    fresh: rowsOf(tasks[name], FRESH, fold(fold(root, "fresh"), 0)),
    columns: tasks[name].columns,
  };
}

export async function likelihoodErrors(
  name: string,
  { rows: count, seed, evaluations }: { readonly rows: number; readonly seed: number; readonly evaluations: number },
  fit: Omit<FitTableOptions, "columns" | "seed">,
): Promise<Errors> {
  const { rows, fresh, columns } = tableOf(name, count, seed);
  const model = await fitTable(rows, { columns, given: false, seed, ...fit });
  const [few, fewer, many] = [
    await model.score(fresh, { evaluations }),
    await model.score(fresh, { evaluations: FEWER }),
    await model.score(fresh, { evaluations: MANY }),
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
