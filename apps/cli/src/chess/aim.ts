/** --model, --w and --pieces: how strong the drift is, said directly or by the number of pieces it leads to. */
import { type Command, Option } from "commander";
import { fail } from "diffeo/graph";
import { driftScaleFor, reachOf } from "diffeo-chess";
import { calibrationPath, readCalibration, shippedModel } from "diffeo-chess/node";
import { advise } from "../shell/exit.ts";
import type { Io } from "../shell/io.ts";
import { integer, MOST, positive } from "../shell/options.ts";

export interface AimOptions {
  readonly model: string;
  readonly w?: number;
  readonly pieces?: number;
  readonly calibration?: string;
  readonly steps?: number;
}

const STEPS = 250;

/** How a model gets a calibration of its own. */
export const howToCalibrate = (model: string): string =>
  `make its own with diffeo chess calibrate --model ${model} --out ${calibrationPath(model)}`;

/** --model, the shipped one if it is not given. */
export const modelOption = (): Option =>
  new Option("--model <file>", "model.safetensors of a training run").default(shippedModel, "the shipped one");

const meanPieces = new Option(
  "--pieces <n>",
  "aim at a mean number of pieces, by the w that the calibration gives",
).argParser(positive);

export const withAimOptions = (command: Command, pieces: Option = meanPieces): Command =>
  command
    .addOption(modelOption())
    .option(
      "--w <x>",
      "drift scale: below 1 fewer pieces, above 1 more; useful from 0.95 to 1.05 (default: 1)",
      positive,
    )
    .addOption(pieces)
    .option("--calibration <file>", "of diffeo chess calibrate (default: the one beside the model)")
    .option(
      "--steps <n>",
      `steps of the reverse process (default: ${STEPS}, or those of the calibration)`,
      integer(1, MOST.steps),
    );

/**
 * w and the number of steps.
 * @param exact whether boards with other numbers of pieces are rejected: then the nearest w that was calibrated is help enough
 */
export async function aimOf(
  io: Io,
  options: AimOptions,
  exact = false,
): Promise<{ readonly w: number; readonly steps: number }> {
  const { model, w = 1, pieces, steps } = options;
  if (pieces === undefined && options.calibration !== undefined)
    fail("usage", "--calibration finds the w for a number of pieces, and none is given", "give --pieces too");
  if (pieces === undefined) return { w, steps: steps ?? STEPS };
  if (options.w !== undefined)
    fail(
      "usage",
      "--w and --pieces both set the drift scale",
      exact ? "give --w with --require pieces=…" : "give one of them",
    );
  const path = options.calibration ?? calibrationPath(model);
  const calibration = await readCalibration(path, model).catch(advise(howToCalibrate(model)));
  const [least, most] = reachOf(calibration);
  const found = driftScaleFor(calibration, exact ? Math.min(most, Math.max(least, pieces)) : pieces);
  io.stderr.write(
    exact
      ? `exactly ${pieces} pieces by rejection; to get there, w = ${found.toFixed(4)} by the calibration of whole samples\n`
      : `${pieces} pieces in the mean: w = ${found.toFixed(4)}\n`,
  );
  // The curve shifts little with the steps, and an aim is no promise: a word is enough.
  if (!exact && steps !== undefined && steps !== calibration.steps)
    io.stderr.write(
      `calibrated at ${calibration.steps} steps: at ${steps} the mean may be off (diffeo chess calibrate --steps ${steps} makes it exact)\n`,
    );
  return { w: found, steps: steps ?? calibration.steps };
}
