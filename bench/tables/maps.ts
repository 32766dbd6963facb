/**
 * The gain in log-likelihood of other maps of a table's domains, by short fits: for the tasks, the
 * known density and UCI tables.
 */
import type { Domain } from "diffeo/domain";
import { fold, key } from "diffeo/random";
import { type ChooseMapsOptions, chooseMaps, type Row, type TriedMap } from "diffeo-tables";
import { isUci } from "diffeo-tables/density";
import { uciRows } from "../uci-tables.ts";
import { rowsOf, tasks } from "./distributions.ts";
import { knownColumns, knownRows } from "./known.ts";

export interface Tried extends TriedMap {
  readonly task: string;
  readonly seed: number;
  readonly seconds: number;
}

/** The source of rows. */
export interface Source {
  readonly rows: number;
  readonly seed: number;
  /** The folder of UCI tables. */
  readonly folder: string;
}

/** Training rows, and the domains of their columns. */
export async function tableOf(
  name: string,
  { rows, seed, folder }: Source,
): Promise<{ readonly rows: readonly Row[]; readonly columns: Readonly<Record<string, Domain>> }> {
  if (isUci(name)) {
    const { seen, domains } = await uciRows(name, folder, seed);
    return { rows: seen, columns: domains };
  }
  if (!Object.hasOwn(tasks, name)) return { rows: knownRows(seed), columns: knownColumns };
  const task = tasks[name];
  const root = fold(fold(fold(key("tables"), name), "train"), seed);
  return { rows: rowsOf(task, rows, root), columns: task.columns };
}

/** The results of all maps. */
export async function triedMaps(
  name: string,
  source: Source,
  fit: Pick<ChooseMapsOptions, "steps" | "threads">,
  onTried: (tried: Tried) => void,
): Promise<void> {
  const { rows, columns } = await tableOf(name, source);
  let began = performance.now();
  await chooseMaps(rows, {
    columns,
    seed: source.seed,
    ...fit,
    onTried: (tried) => {
      const seconds = (performance.now() - began) / 1000;
      began = performance.now();
      onTried({ task: name, seed: source.seed, ...tried, seconds });
    },
  });
}
