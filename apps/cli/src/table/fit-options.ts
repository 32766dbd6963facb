/** The options of diffeo table fit. */
import { type Command, Option } from "commander";
import { mapChoices, networkKinds, weightChoices } from "diffeo-tables";
import type { Io } from "../shell/io.ts";
import { withJobOptions } from "../shell/job-options.ts";
import {
  forceOption,
  integer,
  MOST,
  positive,
  repeated,
  withRunOptions,
} from "../shell/options.ts";
import { acceptOldValue } from "../shell/renamed.ts";
import type { FittingCommand } from "./fitting.ts";

/** The options of the command. */
export interface FitCommand extends Omit<FittingCommand, "network"> {
  readonly network: FittingCommand["network"] | "auto";
  readonly column?: readonly string[];
  /** Whether the command ends with an evaluation of the model. */
  readonly evaluate: boolean;
  readonly accept?: boolean;
  readonly report?: string;
  readonly json?: boolean;
  readonly force?: boolean;
}

/** Adds the options that specify what is fitted. */
const withModelChoices = (command: Command, io: Io): Command =>
  command
    .option(
      "--column <rule>",
      "set the kind of a column (age=between:0:120, ward=category, id=drop) or a rule between " +
        "columns (start<end, sand+silt+clay=100, total=net+tax); may be repeated",
      repeated,
    )
    .addOption(
      acceptOldValue(
        new Option(
          "--network <kind>",
          "masked: predicts masked cells from the others; diffusion: learns a score; " +
            "transformer: diffusion by a transformer; auto: masked for 1,000 rows or more with " +
            "labels, else diffusion",
        ).choices(["auto", ...networkKinds]),
        io,
        { residual: "diffusion" },
      ).default("auto"),
    )
    .addOption(
      new Option(
        "--map <which>",
        "auto: compare other maps, bends and flows by short fits; affine-flow, spline-flow: " +
          "train a flow after the usual maps",
      )
        .choices(mapChoices)
        .default("usual"),
    )
    .option(
      "--no-given",
      "train no second network; a diffusion model then supports neither --given nor table complete",
    );

/** Adds the options that specify how long to train, and which weights are kept. */
const withTrainingChoices = (command: Command): Command =>
  command
    .option(
      "--minutes <x>",
      "approximate time for the whole command, from reading the file to the report",
      positive,
    )
    .option(
      "--steps <n>",
      "training steps of 512 rows, or 256 for masked cells (default: 400 passes over the " +
        "rows, from 2,000 to 20,000 steps; masked: 150 passes)",
      integer(1, MOST.steps),
    )
    .option(
      "--seeds <n>",
      "fit this many models, with seeds from --seed on, and keep the best on held-out rows",
      integer(1, 1000),
      1,
    )
    .addOption(
      new Option(
        "--choose <by>",
        "keep the weights with the smallest loss on held-out rows, or those whose samples are " +
          "nearest to these rows (distance)",
      )
        .choices(weightChoices)
        .default("loss"),
    )
    .option(
      "--all-rows",
      "after the evaluation, fit the model again to all rows, for the chosen number of steps",
    )
    .option("--run <folder>", "folder of the run; repeat the command to resume an interrupted run");

/** Adds the options of the evaluation. */
const withEvaluationChoices = (command: Command): Command =>
  command
    .option("--accept", "exit with 0 even if a baseline is better or a cluster has the wrong mass")
    .option("--report <file>", "write the evaluation, with pictures, as one HTML file")
    .option("--no-evaluate", "write the model and stop, without an evaluation")
    .option("--json", "print the report as JSON")
    .addOption(forceOption());

/** Adds all options of the command. */
export const withFitOptions = (command: Command, io: Io): Command =>
  withJobOptions(
    withRunOptions(
      withEvaluationChoices(
        withTrainingChoices(
          withModelChoices(
            command
              .argument("<file>", "a table: CSV, JSON lines or Parquet")
              .requiredOption("--out <file>", "file for the model"),
            io,
          ),
        ),
      ),
      0,
    ),
    io,
  );
