/** The options of every density command that reads a table. */
import type { Command } from "commander";
import { tableNames } from "diffeo-tables";
import { integer } from "./options.ts";

export interface TableCommand {
  readonly data: string;
  readonly folder: string;
  readonly rows: number;
  readonly header?: boolean;
}

/** Adds --data, with --folder and --rows, which named tables need, and --header, which files may. */
export const withTableOptions = (command: Command, file = "a CSV file"): Command =>
  command
    .requiredOption("--data <table>", `${file}, or one of ${tableNames.join(", ")}`)
    .option("--folder <folder>", "where the UCI files are, or are fetched to", "data")
    .option("--rows <n>", "rows of a generated table", integer(10), 2000)
    .option("--header", "the first line of the file is names, whatever it holds (default: if it holds no number)")
    .option("--no-header", "the first line is a row as the others");
