/** diffeo chess calibrate: which w gives how many pieces, made once for a model; or whether that holds. */
import { rm } from "node:fs/promises";
import type { Command } from "commander";
import { loadModel, modelDigest, onFile, readBytes } from "diffeo/node";
import { fold, type Key, key } from "diffeo/random";
import {
  type Boards,
  type Calibration,
  driftScaleFor,
  joinBoards,
  layOut,
  reachOf,
  type ScalePoint,
  scalePoint,
} from "diffeo-chess";
import {
  calibrationPath,
  partialPath,
  readCalibration,
  readPartial,
  writeCalibration,
  writePartial,
} from "diffeo-chess/node";
import { sha256 } from "diffeo-queue/node";
import { advise } from "../shell/exit.ts";
import type { Declare, Io } from "../shell/io.ts";
import {
  forceOption,
  integer,
  MOST,
  numbers,
  type RunOptions,
  refuseBeside,
  withRunOptions,
} from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { doParts, type PartOptions, requireNone, withPartOptions } from "../shell/parts.ts";
import { howToCalibrate, modelOption } from "./aim.ts";
import { type BoardsPart, boardsGroup, boardsKind } from "./parts.ts";

interface CalibrateCommand extends RunOptions, PartOptions {
  readonly model: string;
  readonly w: number[];
  readonly count: number;
  readonly steps: number;
  readonly batch: number;
  readonly out?: string;
  readonly verify?: number[];
  readonly json?: boolean;
  readonly force?: boolean;
}

/** From next to no pieces to more than boards can hold, closest where most boards are. */
const SCALES = [
  0.9, 0.92, 0.94, 0.95, 0.955, 0.96, 0.965, 0.97, 0.975, 0.98, 0.985, 0.99, 0.995, 1, 1.005, 1.01, 1.015, 1.02, 1.025,
  1.03, 1.035, 1.04, 1.05, 1.06,
];

interface Measuring {
  readonly steps: number;
  readonly key: Key;
  /** Points of the first scales, which are not measured again. */
  readonly known?: readonly ScalePoint[];
  /** Called with all points after each. */
  readonly keep?: (points: readonly ScalePoint[]) => Promise<void>;
}

/**
 * Boards at every scale, each with noise of its own: errors of neighbours must not be the same error. Nothing is returned
 * where there is nothing to collect.
 */
async function measureAll(
  io: Io,
  options: CalibrateCommand,
  scales: readonly number[],
  { steps, key: own, known = [], keep }: Measuring,
): Promise<readonly ScalePoint[] | undefined> {
  const { count, batch, device, threads } = options;
  const model = await readBytes(options.model);
  const setting = { space: "simplex", method: "domainPreserving", steps, device, model: sha256(model) } as const;
  const groups = scales.map((w, i) => ({
    ...boardsGroup(`w = ${w.toFixed(4)}`, { ...setting, w, key: fold(own, i) }, count, batch),
    known: i < known.length,
  }));
  const points: (ScalePoint | undefined)[] = scales.map((_, i) => known[i]);
  const folder = `${options.out ?? calibrationPath(options.model)}.parts`;
  const failed = await doParts<BoardsPart, Boards>(
    io,
    options,
    {
      ...{ what: "calibrating", unit: "boards", kind: boardsKind, device, inputs: [model], folder, signal: io.signal },
      ...(threads !== undefined && { threads }),
    },
    groups,
    async ({ results }, i) => {
      const point = scalePoint(scales[i], joinBoards(results).positions);
      points[i] = point;
      // What is kept is the beginning of the curve, as far as it has no gap.
      const gap = points.indexOf(undefined);
      if (gap < 0 || gap > i) await keep?.(points.slice(0, gap < 0 ? points.length : gap) as ScalePoint[]);
      if (!io.stderr.isTTY)
        io.stderr.write(`${groups[i].name}: ${point.pieces.toFixed(2)} pieces, ${point.legal.toFixed(3)} legal\n`);
    },
  );
  if (failed) requireNone(io, failed);
  return failed && (points as ScalePoint[]);
}

const cells = ({ w, pieces, sd, oneKingEach, legal }: ScalePoint): string[] => [
  w.toFixed(4),
  pieces.toFixed(2),
  sd.toFixed(2),
  oneKingEach.toFixed(3),
  legal.toFixed(3),
];
const HEAD = ["w", "pieces", "SD", "one king each", "strictly legal"];

/** Measures every w that is not measured yet, and keeps each point as it comes. */
async function measureOpen(io: Io, options: CalibrateCommand, path: string): Promise<Calibration | undefined> {
  const { steps, seed, count, device, force = false } = options;
  const partial = partialPath(path);
  const scales = [...new Set(options.w)].sort((a, b) => a - b);
  await loadModel(options.model);
  const digest = await modelDigest(options.model);
  const settings = { model: digest, steps, seed, count, device, w: scales };
  if (force) await rm(partial, { force: true });
  const again = "continue with the same settings, or give --force to measure every w anew";
  const known = await readPartial(path, settings).catch(advise(again));
  if (known.length > 0) io.stderr.write(`${known.length} of ${scales.length} w are in ${partial}\n`);
  const points = await measureAll(io, options, scales, {
    steps,
    key: fold(key(seed), "calibrate"),
    known,
    keep: (measured) => writePartial(path, settings, measured),
  }).catch((error: Error) => {
    if (error.name === "AbortError") io.stderr.write("what is measured is kept; the same command continues\n");
    throw error;
  });
  return points && { format: "diffeo-calibration-1", model: digest, method: "domainPreserving", steps, seed, points };
}

async function calibrate(io: Io, options: CalibrateCommand, path: string): Promise<void> {
  const { steps, count, force, json = false } = options;
  await outputs([{ path }], { inputs: [options.model], force });
  if (options.shard || options.dryRun) return void (await measureOpen(io, options, path));
  const calibration = await onFile(path, async () => {
    const measured = (await measureOpen(io, options, path)) as Calibration;
    await writeCalibration(path, measured);
    await rm(partialPath(path), { force: true });
    return measured;
  });
  if (json) return void io.stdout.write(`${JSON.stringify(calibration, undefined, 1)}\n`);
  const [least, most] = reachOf(calibration);
  io.stdout.write(layOut([HEAD, ...calibration.points.map(cells)]));
  io.stdout.write(
    `${count} boards a w, ${steps} steps; from ${least.toFixed(1)} to ${most.toFixed(1)} pieces: ${path}\n`,
  );
}

/** Boards at the w that the calibration gives for each number of pieces, with other noise than it was made with. */
async function verify(io: Io, options: CalibrateCommand, path: string, targets: readonly number[]): Promise<void> {
  const calibration = await readCalibration(path, options.model).catch(advise(howToCalibrate(options.model)));
  const scales = targets.map((pieces) => driftScaleFor(calibration, pieces));
  const { steps } = calibration;
  const points = await measureAll(io, options, scales, { steps, key: fold(key(options.seed), "verify") });
  if (!points) return;
  const rows = points.map((point, i) => ({ target: targets[i], error: point.pieces - targets[i], ...point }));
  if (options.json) return void io.stdout.write(`${JSON.stringify(rows, undefined, 1)}\n`);
  const signed = (x: number): string => `${x < 0 ? "−" : "+"}${Math.abs(x).toFixed(2)}`;
  io.stdout.write(
    layOut([
      ["target", ...HEAD, "error", "standard error"],
      ...rows.map((row) => [
        String(row.target),
        ...cells(row),
        signed(row.error),
        (row.sd / Math.sqrt(row.count)).toFixed(2),
      ]),
    ]),
  );
}

function calibrateOrVerify(io: Io, options: CalibrateCommand, command: Command): Promise<void> {
  if (options.verify) refuseBeside(command, "--verify", ["w", "steps", "force"]);
  const path = options.out ?? calibrationPath(options.model);
  return options.verify ? verify(io, options, path, options.verify) : calibrate(io, options, path);
}

export const declare: Declare = (command, io) => {
  command
    .addOption(modelOption())
    .option("--w <list>", "drift scales", numbers, SCALES)
    .option("--count <n>", "boards for each", integer(2, MOST.boards), 1000)
    .option("--steps <n>", "steps of the reverse process", integer(1, MOST.steps), 250)
    .option("--batch <n>", "boards at a time", integer(1, MOST.batch), 64)
    .option("--out <file>", "where the calibration goes, once every w is measured (default: beside the model)")
    .option(
      "--verify <list>",
      "numbers of pieces: sample at the w that the calibration in the file gives for them, with its steps",
      numbers,
    )
    .option("--json", "print JSON")
    .addOption(forceOption());
  withRunOptions(withPartOptions(command), 7).action((options) => calibrateOrVerify(io, options, command));
};
