/** The UCI tables of the study, from the bytes of their files. */
import { fold, key } from "diffeo/random";
import { type Prepared, prepare, prune } from "./prepare.ts";
import { parseTable, type Table, without } from "./table.ts";
import { preparationOf, type UciName, type UciSet, uciSets } from "./uci.ts";

/** A table without the columns that the dataset drops because they correlate with others. */
export const prunedUci = (table: Table, { prune: threshold }: UciSet): Table =>
  threshold === undefined ? table : prune(table, threshold);

/**
 * Training, validation and test points of a UCI table for one run's seed.
 * @param file the bytes of the table's file
 */
export function preparedUci(name: UciName, seed: number, file: Uint8Array): Prepared {
  const set: UciSet = uciSets[name];
  const table = parseTable(new TextDecoder().decode(file), set.file, without(set.drop));
  return prepare(prunedUci(table, set), fold(key(seed), "data"), preparationOf(name));
}
