/** Options that commands with a model of a table share. */
import type { Command } from "commander";
import { fail } from "diffeo/graph";
import { type FittedTable, takesGiven } from "diffeo-tables";
import {
  type EngineOptions,
  forceOption,
  integer,
  MOST,
  withEngineOptions,
} from "../shell/options.ts";

/** Options of every such command. */
export interface ModelOptions extends EngineOptions {
  readonly model: string;
  readonly force?: boolean;
}

/** Options of commands that sample. */
export interface DrawOptions extends ModelOptions {
  readonly seed: number;
}

/** Options for the output of a command. */
export interface NumbersOptions {
  readonly out?: string;
  readonly json?: boolean;
}

/** Adds --model, which comes first. */
export const withModel = (command: Command): Command =>
  command.requiredOption("--model <file>", "a model that table fit wrote");

/** Adds --device, --threads and --force, which come last. */
export const withModelOptions = (command: Command): Command =>
  withEngineOptions(command).addOption(forceOption());

/** Adds --seed before those. */
export const withDrawOptions = (command: Command): Command =>
  withModelOptions(command.option("--seed <n>", "seed of all samples", integer(0, MOST.seed), 0));

/**
 * Throws if the model's fit omitted the second network, so that it cannot be given cells. In all
 * other cases the library states the reason.
 */
export function requireSecondNetwork(model: FittedTable): void {
  if (!takesGiven(model) && model.domain.parts.length > 1)
    fail(
      "usage",
      "the model was fitted without a network of given cells",
      "fit it again without --no-given",
    );
}

/** Adds --out and --json. */
export const withNumbersOptions = (
  command: Command,
  out = "file for the CSV",
  json = "print the numbers as JSON",
): Command =>
  command.option("--out <file>", `${out} (default: standard output)`).option("--json", json);

/** How texts are written. */
export interface GuardOptions {
  readonly guardFormulas?: boolean;
}

/** The options that commands which sample rows or cells share. */
export interface RowsOptions extends DrawOptions, NumbersOptions, GuardOptions {
  readonly evaluations: number;
}

/** Adds their options, after the command's own: --out, --json, --guard-formulas and so on. */
export const withRowsOptions = (command: Command, out = "file for the CSV"): Command =>
  withDrawOptions(
    withNumbersOptions(command, out, "print columns and rows as JSON")
      .option(
        "--guard-formulas",
        "write an apostrophe before texts that a spreadsheet would run as formulas, in CSV",
      )
      .option("--evaluations <n>", "evaluations of the network per row", integer(2, 10_000), 50),
  );
