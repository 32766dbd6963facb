/**
 * diffeo table complete: the empty cells of a CSV file, drawn given the others of their row,
 * several times.
 */
import type { Cell } from "diffeo/domain";
import { requireCompletable, type TableModel } from "diffeo-tables";
import { loadTableModel } from "diffeo-tables/node";
import type { Declare, Io } from "../shell/io.ts";
import { engineOf, integer } from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { writeCells } from "./csv.ts";
import {
  type DrawOptions,
  type EvaluationOptions,
  type NumbersOptions,
  requireSecondNetwork,
  withDrawOptions,
  withEvaluations,
  withModel,
  withNumbersOptions,
} from "./options.ts";
import { type FileRows, openRows } from "./rows.ts";

interface CompleteCommand extends DrawOptions, EvaluationOptions, NumbersOptions {
  readonly draws: number;
}

/** Completed rows that are drawn at once. */
const AT_ONCE = 10_000;

/**
 * Completed rows of a file: its own columns stay, and those of the model that it lacks come after
 * them.
 */
async function* completed(
  io: Io,
  model: TableModel,
  file: FileRows,
  lacking: readonly string[],
  options: CompleteCommand,
) {
  const { draws, evaluations, seed } = options;
  const places = [...file.columns, ...lacking].map((name) => model.domain.columns.indexOf(name));
  for await (const { table, rows: holes, first } of file.batches(io, "completing")) {
    const how = { draws, evaluations, seed, first, signal: io.signal };
    const { rows } = await model.complete(holes, how);
    yield rows.flatMap((some, i) =>
      some.map((row, k): Cell[] => [
        k + 1,
        ...places.map((at, j) => (at < 0 ? table.rows[i][j] : row[at])),
      ]),
    );
  }
}

/** What the number of a draw is called, where the file or the model has a column of that name. */
const numberName = (taken: readonly string[], name = "draw"): string =>
  taken.includes(name) ? numberName(taken, `${name} number`) : name;

async function complete(io: Io, path: string, options: CompleteCommand): Promise<void> {
  const { model: from, draws, out, force } = options;
  await outputs(out === undefined ? [] : [{ path: out }], { inputs: [from, path], force });
  const model = await loadTableModel(from, engineOf(options));
  requireSecondNetwork(model);
  requireCompletable(model);
  const size = Math.max(1, Math.floor(AT_ONCE / draws));
  const file = await openRows(path, model.domain, size, {
    ...{ lacking: true, torn: false },
    ...(model.atoms && { atoms: model.atoms }),
  });
  const lacking = model.domain.columns.filter((name) => !file.columns.includes(name));
  const names = [...file.columns, ...lacking];
  const columns = [numberName(names), ...names];
  await writeCells(io, { columns }, completed(io, model, file, lacking, options), options);
}

export const declare: Declare = (command, io) =>
  void withDrawOptions(
    withEvaluations(
      withNumbersOptions(
        withModel(command)
          .argument(
            "<file>",
            "a CSV file with columns of the model; empty cells, NA and columns that it lacks are filled",
          )
          .option("--draws <n>", "how often each row is completed", integer(1, 10_000), 1),
        "where the CSV goes, a column `draw` first",
        "print columns and rows as JSON",
      ),
    ),
  ).action((file, options) => complete(io, file, options));
