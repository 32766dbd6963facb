/** Options that density commands share: those of a table to read, and of a fitted model. */
import { join } from "node:path";
import { type Command, Option } from "commander";
import { tableNames } from "diffeo-tables/density";
import { integer, MOST } from "../shell/options.ts";

/** The file that fit writes, and that score and sample read by default. */
export const FIT_FOLDER = "runs/density";
export const MODEL_FILE = "model.safetensors";

/** --model: a file that density fit wrote. */
export const fittedOption = (): Option =>
  new Option("--model <file>", "a model that density fit wrote").default(
    join(FIT_FOLDER, MODEL_FILE),
  );

export interface TableCommand {
  readonly data: string;
  readonly folder: string;
  readonly rows: number;
  readonly header?: boolean;
}

/**
 * Adds --data, with --folder and --rows, which named tables need, and --header, which files may.
 */
export const withTableOptions = (command: Command, file = "a CSV file"): Command =>
  command
    .requiredOption("--data <table>", `${file}, or one of ${tableNames.join(", ")}`)
    .option("--folder <folder>", "folder of the UCI files; missing ones are fetched", "data")
    .option("--rows <n>", "rows of a generated table", integer(10, MOST.rows), 2000)
    .option("--header", "read the first line as column names (default: if it contains no number)")
    .option("--no-header", "read the first line as a row");
