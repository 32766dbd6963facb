/**
 * --model, --w, --pieces and --steps: the model that is sampled, and the options that guide it.
 */
import { existsSync } from "node:fs";
import { type Command, Option } from "commander";
import { fail } from "diffeo/graph";
import { BOARD_STEPS, type BoardCondition, parseCondition, SQUARES } from "diffeo-chess";
import { shippedModel, shippedModels } from "diffeo-chess/node";
import { integer, MOST, positive } from "../shell/options.ts";

export interface AimOptions {
  readonly model: string;
  readonly w: number;
  readonly pieces?: number;
  readonly steps: number;
}

/** A shipped model by its name, or a file. */
function modelPath(word: string): string {
  if (Object.hasOwn(shippedModels, word)) return shippedModels[word as keyof typeof shippedModels];
  if (!existsSync(word))
    fail(
      "data",
      `${word} is neither a file nor the name of a shipped model`,
      `check the path, or name one of ${Object.keys(shippedModels).join(", ")}`,
    );
  return word;
}

/** --model; the default is the shipped transformer. */
export const modelOption = (): Option =>
  new Option(
    "--model <file>",
    "model.safetensors of a training run, or a shipped one by name: " +
      `${Object.keys(shippedModels).join(", ")}`,
  )
    .argParser(modelPath)
    .default(shippedModel, Object.keys(shippedModels)[0]);

/** @param pieces the help text of --pieces */
export const withAimOptions = (
  command: Command,
  pieces = "guide boards to this number of pieces, same as --guide pieces=<n>",
): Command =>
  command
    .addOption(modelOption())
    .option(
      "--w <x>",
      "drift scale; below 1 gives fewer pieces, above 1 more; useful values are 0.95 to 1.05",
      positive,
      1,
    )
    .option("--pieces <n>", pieces, integer(1, SQUARES))
    .option(
      "--steps <n>",
      "steps of the reverse process; the network is evaluated once more at the end",
      integer(1, MOST.steps),
      BOARD_STEPS,
    );

/** The conditions, followed by that of --pieces. */
export const withPieces = (
  conditions: readonly BoardCondition[] | undefined,
  { pieces }: Pick<AimOptions, "pieces">,
): readonly BoardCondition[] | undefined =>
  pieces === undefined ? conditions : [...(conditions ?? []), parseCondition(`pieces=${pieces}`)];
