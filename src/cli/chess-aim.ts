/** --w and --pieces: how strong the drift is, said directly or by the number of pieces it leads to. */
import type { Command } from "commander";
import { driftScaleFor } from "../chess/calibration.ts";
import { calibrationPath, readCalibration } from "../chess/calibration-file.ts";
import { fail } from "../graph/index.ts";
import { integer, modelOption, positive } from "./options.ts";

export interface AimOptions {
  readonly model: string;
  readonly w?: number;
  readonly pieces?: number;
  readonly calibration?: string;
  readonly steps?: number;
}

const STEPS = 250;

export const withAimOptions = (command: Command): Command =>
  command
    .addOption(modelOption())
    .option(
      "--w <x>",
      "drift scale: below 1 fewer pieces, above 1 more; useful from 0.95 to 1.05 (default: 1)",
      positive,
    )
    .option("--pieces <n>", "aim at a mean number of pieces, by the w that the calibration gives", positive)
    .option("--calibration <file>", "of diffeo chess calibrate (default: the one beside the model)")
    .option("--steps <n>", `steps of the reverse process (default: ${STEPS}, or those of the calibration)`, integer(1));

/** w and the number of steps. */
export async function aimOf(options: AimOptions): Promise<{ readonly w: number; readonly steps: number }> {
  const { model, w = 1, pieces, steps } = options;
  if (pieces === undefined) return { w, steps: steps ?? STEPS };
  if (options.w !== undefined) fail("usage", "--w and --pieces both set the drift scale", "give one of them");
  const calibration = await readCalibration(options.calibration ?? calibrationPath(model), model);
  const found = driftScaleFor(calibration, pieces);
  process.stderr.write(`${pieces} pieces in the mean: w = ${found.toFixed(4)}\n`);
  // The curve shifts little with the steps, and an aim is no promise: a word is enough.
  if (steps !== undefined && steps !== calibration.steps)
    process.stderr.write(
      `calibrated at ${calibration.steps} steps: at ${steps} the mean may be off (diffeo chess calibrate --steps ${steps} makes it exact)\n`,
    );
  return { w: found, steps: steps ?? calibration.steps };
}
