/**
 * diffeo table complete: fills the empty cells of a table, once or several times, with samples
 * given the other cells of their row.
 */
import type { Cell, ProductPart } from "diffeo/domain";
import { fail } from "diffeo/graph";
import {
  allCells,
  isBlank,
  knownColumns,
  literalOf,
  POINT_DRAWS,
  requireCompletable,
  rowsIn,
  type TableModel,
  type WrittenCell,
  writtenCell,
} from "diffeo-tables";
import { loadTableModel } from "diffeo-tables/node";
import type { Declare, Io } from "../shell/io.ts";
import { engineOf, integer } from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { writeCells } from "./csv.ts";
import { type RowsOptions, requireSecondNetwork, withModel, withRowsOptions } from "./options.ts";
import { type FileRows, openRows } from "./rows.ts";

interface CompleteCommand extends RowsOptions {
  readonly draws?: number;
  readonly point?: boolean;
}

/** Completed rows per batch. */
const AT_ONCE = 10_000;

/** A cell that the file gives, with the digits of the file. */
function givenCell(text: string, { domain }: ProductPart): WrittenCell {
  if (domain.spec?.kind === "category" || domain.spec?.kind === "date") return text;
  // A decimal comma could not be read back from a file with commas between cells.
  return { text: text.replace(",", ".") };
}

/**
 * Completed rows of a file. Its own columns stay, followed by the columns of the model that it
 * lacks. Given cells are written as in the file.
 */
async function* completed(
  io: Io,
  model: TableModel,
  file: FileRows,
  lacking: readonly string[],
  options: CompleteCommand,
) {
  const { draws, point, evaluations, seed } = options;
  const { columns, parts } = model.related?.domain ?? model.domain;
  const places = [...file.columns, ...lacking].map((name) => ({
    at: columns.indexOf(name),
    part: parts.find((part) => part.columns.includes(name)),
  }));
  for await (const { table, rows: open, first } of file.batches(io, "completing")) {
    const how = { draws, point, evaluations, seed, first, signal: io.signal };
    const { rows } = await model.complete(open, how);
    // Cells that follow from others may be missing in the file.
    const read = model.related ? rowsIn(table, model.related.domain, { lacking: true }) : open;
    yield rows.flatMap((drawn, i) => {
      const some = allCells(model, drawn);
      const given = places.map(({ at, part }, j) => {
        if (!part) return table.rows[i][j];
        return read[i][at] === null ? undefined : givenCell(table.rows[i][j], part);
      });
      const cellAt = (row: readonly Cell[], j: number): WrittenCell => {
        const { at, part } = places[j];
        const isEmpty = part && model.related && isBlank(model.related, parts.indexOf(part), row);
        const drawn = part ? writtenCell(part, row[at]) : row[at];
        const cell = given[j] ?? (isEmpty ? "" : drawn);
        return table.literals?.[j] ? literalOf(cell) : cell;
      };
      return some.map((row, k) => [
        ...(point ? [] : [k + 1]),
        ...places.map((_, j) => cellAt(row, j)),
      ]);
    });
  }
}

/** Name of the column with the number of a draw; avoids the names in use. */
const numberName = (taken: readonly string[], name = "draw"): string =>
  taken.includes(name) ? numberName(taken, `${name} number`) : name;

/** Names of columns for an error, at most ten. */
const named = (names: readonly string[]): string =>
  `${names.slice(0, 10).join(", ")}${names.length > 10 ? ", …" : ""}`;

/** Runs the command. */
export async function complete(io: Io, path: string, options: CompleteCommand): Promise<void> {
  const { model: from, point, draws = point ? POINT_DRAWS : 1, out, force } = options;
  await outputs(out === undefined ? [] : [{ path: out }], { inputs: [from, path], force });
  const model = await loadTableModel(from, engineOf(options));
  requireSecondNetwork(model);
  requireCompletable(model);
  const size = Math.max(1, Math.floor(AT_ONCE / draws));
  const file = await openRows(path, model.domain, size, {
    ...{ lacking: true, torn: false, related: model.related },
    ...(model.atoms && { atoms: model.atoms }),
  });
  const known = knownColumns(model);
  const lacking = known.filter((name) => !file.columns.includes(name));
  if (lacking.length === known.length)
    fail(
      "data",
      `${path} has no column of the model`,
      `give a file with at least one of ${named(lacking)}, or use table sample`,
    );
  const names = [...file.columns, ...lacking];
  const columns = point ? names : [numberName(names), ...names];
  await writeCells(io, { columns }, completed(io, model, file, lacking, options), options);
}

export const declare: Declare = (command, io) =>
  void withRowsOptions(
    withModel(command)
      .argument(
        "<file>",
        "a table with columns of the model; empty cells, NA and missing columns are filled",
      )
      .option("--point", "complete each row once, by the median of the draws (labels: by the mode)")
      .option(
        "--draws <n>",
        "completions of each row (default: 1, or 41 with --point)",
        integer(1, 10_000),
      ),
    "file for the CSV; its first column is `draw` unless --point is set",
  ).action((file, options) => complete(io, file, options));
