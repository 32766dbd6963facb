/**
 * diffeo chess calibrate: measures a model's error over time and stores it in the model's file.
 * Samplers fit their time grids to it.
 */
import { errorsByTime, fittedTimes, parseModel, withErrors } from "diffeo/categorical";
import { readBytes, writeFileAtomic } from "diffeo/node";
import { fold, key, permutation } from "diffeo/random";
import { BOARD_STEPS, layOut, requireDrawable, select, unpack } from "diffeo-chess";
import type { Declare, Io } from "../shell/io.ts";
import { forceOption, integer, MOST, type RunOptions, withRunOptions } from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { stepping } from "../shell/progress.ts";
import { modelOption } from "./aim.ts";
import { positionsOf } from "./positions.ts";

interface CalibrateCommand extends RunOptions {
  readonly model: string;
  readonly data?: string[];
  readonly count: number;
  readonly batch: number;
  readonly out: string;
  readonly skipBad?: boolean;
  readonly json?: boolean;
  readonly force?: boolean;
}

const TIMES = 64;

async function calibrate(io: Io, options: CalibrateCommand): Promise<void> {
  const { model: path, count, batch, seed, out, force, skipBad = false, json = false } = options;
  await outputs([{ path: out }], { inputs: [path, ...(options.data ?? [])], force });
  const bytes = await readBytes(path);
  const model = parseModel(bytes, path);
  requireDrawable(model);
  const all = await positionsOf(io, options.data, {
    seed,
    skipBad,
    without: "no --data: measured on positions of random games, not of real games",
  });
  const order = permutation(fold(key(seed), "boards"), all.count).data;
  const boards = unpack(select(all, order.slice(0, count)));
  const measured = Math.min(count, all.count);
  const errors = await stepping(
    io,
    options,
    TIMES * Math.ceil(measured / batch),
    "measuring",
    (how) =>
      errorsByTime(model, boards, {
        ...how,
        key: fold(key(seed), "calibrate"),
        times: TIMES,
        batch,
      }),
  );
  await writeFileAtomic(out, withErrors(bytes, errors, path));
  if (json) return void io.stdout.write(`${JSON.stringify(errors, undefined, 1)}\n`);
  io.stdout.write(
    layOut([
      ["t", "squared error per board"],
      ...errors.times.map((t, i) => [t.toFixed(4), errors.values[i].toFixed(4)]),
    ]),
  );
  const times = fittedTimes({ ...model, errors }, BOARD_STEPS);
  io.stdout.write(
    `${measured} boards; half of ${BOARD_STEPS} steps lie between t = ` +
      `${times[Math.round(0.25 * BOARD_STEPS)].toFixed(3)} and ` +
      `${times[Math.round(0.75 * BOARD_STEPS)].toFixed(3)}: ${out}\n`,
  );
}

export const declare: Declare = (command, io) => {
  command
    .addOption(modelOption())
    .option(
      "--data <files...>",
      "positions for the measurement, preferably not used in training (default: positions of " +
        "random " +
        "games)",
    )
    .option("--count <n>", "how many positions to use", integer(2, MOST.boards), 256)
    .option("--batch <n>", "boards per batch", integer(1, MOST.batch), 64)
    .requiredOption("--out <file>", "where to write the model with its measured errors")
    .option("--skip-bad", "count bad rows of files instead of stopping")
    .option("--json", "print JSON")
    .addOption(forceOption());
  withRunOptions(command, 7).action((options) => calibrate(io, options));
};
