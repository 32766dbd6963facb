/** Options that commands which use a model of a table share. */
import type { Command } from "commander";
import { forceOption, integer, MOST } from "../shell/options.ts";

/** What every such command is told. */
export interface ModelOptions {
  readonly model: string;
  readonly threads?: number;
  readonly force?: boolean;
}

/** And one that draws. */
export interface DrawOptions extends ModelOptions {
  readonly seed: number;
}

/** Where a command's numbers go. */
export interface NumbersOptions {
  readonly out?: string;
  readonly json?: boolean;
}

/** Adds --model, --threads and --force. */
export const withModelOptions = (command: Command): Command =>
  command
    .requiredOption("--model <file>", "a model that table fit wrote")
    .option("--threads <n>", "threads of one operation (default: as many as there are cores)", integer(1, 1024))
    .addOption(forceOption());

/** Adds --seed to those. */
export const withDrawOptions = (command: Command): Command =>
  withModelOptions(command).option("--seed <n>", "seed of everything that is drawn", integer(0, MOST.seed), 0);

/** How rows are drawn. */
export interface EvaluationOptions {
  readonly evaluations: number;
}

/** Adds --evaluations. */
export const withEvaluations = (command: Command): Command =>
  command.option("--evaluations <n>", "evaluations of the network a row", integer(2, 10_000), 50);

/** Adds --out and --json. */
export const withNumbersOptions = (
  command: Command,
  out = "where the CSV goes",
  json = "print the numbers as JSON",
): Command => command.option("--out <file>", `${out} (default: standard output)`).option("--json", json);

/** Threads as the library takes them. */
export const threadsOf = ({ threads }: Pick<ModelOptions, "threads">): { threads?: number } =>
  threads === undefined ? {} : { threads };
