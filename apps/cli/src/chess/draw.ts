/**
 * Samples boards of a model, with rejection if conditions are set. Shared by `sample`, `evaluate`
 * and, in part, `complete`.
 */
import { type Command, Option } from "commander";
import { type Model, parseModel } from "diffeo/categorical";
import { fail } from "diffeo/graph";
import { inputOf } from "diffeo/job";
import { readBytes } from "diffeo/node";
import { key } from "diffeo/random";
import type { SolverName } from "diffeo/sampler";
import {
  type Accepted,
  BOARD_SOLVER,
  type BoardCondition,
  type BoardOptions,
  type Boards,
  type BoardsParameters,
  type BoardsRun,
  type boardGrids,
  boardLimits,
  boardsJobs,
  drawBoards,
  guidingSum,
  parseCondition,
  requireDrawable,
  requirePossible,
} from "diffeo-chess";
import type { Io } from "../shell/io.ts";
import { type Group, planOrShard } from "../shell/job-groups.ts";
import type { JobOptions } from "../shell/job-options.ts";
import { type Work, withExecutor } from "../shell/jobs.ts";
import { integer, MOST, noteUnused, positive, type RunOptions } from "../shell/options.ts";

export interface DrawOptions {
  readonly guide?: readonly BoardCondition[];
  readonly guideStrength?: number;
  readonly require?: readonly BoardCondition[];
  readonly tries?: number;
  readonly batch: number;
}

const listed = (text: string, before: readonly BoardCondition[] = []): BoardCondition[] => [
  ...before,
  parseCondition(text),
];

function guiding(text: string, before?: readonly BoardCondition[]): BoardCondition[] {
  const all = listed(text, before);
  guidingSum(all[all.length - 1]);
  return all;
}

/** The guidance options. */
export const ledBy = ({
  guide,
  guideStrength,
}: DrawOptions): Pick<BoardOptions, "guide" | "guideStrength"> => ({
  guide,
  guideStrength,
});

/** Throws if the conditions are wrong, before boards are sampled. */
export function checkConditions(
  io: Io,
  { guide, require: conditions }: Pick<DrawOptions, "guide" | "require">,
  command: Command,
): void {
  if (!conditions) noteUnused(io, command, "without --require", ["tries"]);
  if (!guide) noteUnused(io, command, "without --guide", ["guideStrength"]);
  requirePossible([...(guide ?? []), ...(conditions ?? [])]);
  const longest = Math.max(0, ...(guide ?? []).map(({ text }) => text.length));
  const { guides, letters } = boardLimits;
  if ((guide?.length ?? 0) > guides || longest > letters)
    fail(
      "usage",
      `--guide has ${guide?.length} conditions, the longest of ${longest} characters`,
      `give at most ${guides} conditions of at most ${letters} characters`,
    );
}

/** The guidance options as records store them. */
export const recordOfGuide = ({
  guide,
  guideStrength,
}: DrawOptions): Pick<BoardsParameters, "guide" | "guideStrength"> => ({
  ...(guide && { guide: guide.map(({ text }) => text) }),
  guideStrength,
});

export const withDrawOptions = (command: Command): Command =>
  command
    .addOption(
      new Option(
        "--guide <condition>",
        "guide boards towards a condition by the posterior of their squares: Q=0, pieces=12, " +
          "balance>=3, …; may be repeated. Most boards then meet it; --require keeps only those",
      ).argParser(guiding),
    )
    .option(
      "--guide-strength <x>",
      "strength of --guide (default: 1, which is Bayes' rule)",
      positive,
    )
    .addOption(
      new Option(
        "--require <condition>",
        "reject boards that do not meet a condition: legal, Q, q=1, pieces<=20, balance>0, …; " +
          "may be repeated. Rejection is the only correction: boards are never repaired",
      ).argParser(listed),
    )
    .option(
      "--tries <n>",
      "with --require, the maximum number of boards to sample (default: 100 per requested board)",
      integer(1, 1e9),
    )
    .option("--batch <n>", "boards per batch", integer(1, MOST.batch), 64);

/** How boards are sampled. */
interface BoardSettings {
  readonly count: number;
  readonly steps: number;
  readonly driftScale: number;
  readonly space?: "simplex" | "logit";
  readonly solver?: SolverName;
  readonly grid?: (typeof boardGrids)[number];
  /** Number of frames of the process to keep. Default: none. */
  readonly frames?: number;
}

type SampleOptions = DrawOptions & RunOptions & JobOptions & { readonly model: string };

/**
 * Checks the model before any job starts. Throws if the file is not a model of boards, or if the
 * model does not support the guidance or the time grid.
 */
function requireModel(
  model: Model,
  path: string,
  { guide }: DrawOptions,
  { grid }: BoardSettings,
): Model {
  requireDrawable(model, { guide });
  if (grid === "fitted" && !model.errors)
    fail(
      "usage",
      `--grid fitted needs measured errors, which ${path} does not contain`,
      "measure them with diffeo chess calibrate, or choose another --grid",
    );
  return model;
}

/**
 * Samples boards that meet the conditions. Returns undefined if this process collects no result: in
 * a dry run, or as one shard of many.
 *
 * @param folder in which shards store their jobs
 */
export async function drawSamples(
  io: Io,
  options: SampleOptions,
  settings: BoardSettings,
  folder?: string,
): Promise<Accepted | undefined> {
  const { space = "simplex", solver = BOARD_SOLVER, steps, driftScale: w, count } = settings;
  const { device, seed, batch, threads, guide, guideStrength, tries } = options;
  const { require: conditions } = options;
  const bytes = await readBytes(options.model);
  const model = requireModel(parseModel(bytes, options.model), options.model, options, settings);
  const { grid, frames } = settings;
  const run: BoardsRun = {
    space,
    solver,
    steps,
    w,
    grid,
    guide,
    guideStrength,
    frames,
    key: key(seed),
    device,
  };
  const work: Work<BoardsParameters> = {
    what: conditions ? "sampling until enough pass, at most" : "sampling",
    unit: "boards",
    sizeOf: ({ count: boards }) => boards,
    device,
    threads,
    folder,
    signal: io.signal,
  };
  const input = inputOf(bytes, model);
  if (conditions && (options.shard || options.dryRun))
    fail(
      "usage",
      "the number of jobs is unknown before a run with --require; " +
        `${options.shard ? "--shard" : "--dry-run"} cannot be used`,
      "omit one of the two options, or use --queue",
    );
  const groups = (): Group<BoardsParameters, Boards>[] => [
    { name: "boards", jobs: boardsJobs(input, run, count, batch) },
  ];
  if (!conditions && (await planOrShard(io, options, work, groups))) return undefined;
  const total = conditions
    ? { jobs: options.workers ?? 1, size: tries ?? 100 * count }
    : { jobs: Math.ceil(count / batch), size: count };
  return withExecutor(io, options, work, total, (executor) =>
    drawBoards(executor, input, run, { count, conditions, tries, batch }),
  );
}

/** The share of the sampled boards that did not meet the conditions. */
export const shareRejected = ({ positions, drawn }: Accepted): number =>
  1 - positions.count / drawn;

/** Reports the rejection; throws if too few boards passed. */
export function reportRejection(
  io: Io,
  boards: Accepted,
  count: number,
  { require: conditions = [] }: DrawOptions,
): void {
  if (conditions.length === 0) return;
  const { positions, drawn } = boards;
  const wanted = conditions.map(({ text }) => text).join(", ");
  io.stderr.write(
    `rejection: ${positions.count} of ${drawn} sampled boards met ${wanted}; the share rejected ` +
      `is ${shareRejected(boards).toFixed(3)}\n`,
  );
  if (positions.count < count)
    fail(
      "data",
      `only ${positions.count} of ${count} requested boards met ${wanted}, of ${drawn} sampled`,
      "relax the condition, use another --w, or allow more samples with --tries",
    );
}
