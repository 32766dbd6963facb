/**
 * Boards of a model, by rejection where conditions are set: what sample and evaluate share, and
 * complete in part.
 */
import { type Command, Option } from "commander";
import { type Model, parseModel } from "diffeo/categorical";
import { fail } from "diffeo/graph";
import { loadModel, readBytes } from "diffeo/node";
import { key } from "diffeo/random";
import type { SolverName } from "diffeo/sampler";
import {
  type Accepted,
  BOARD_SOLVER,
  type BoardCondition,
  type BoardOptions,
  type Boards,
  drawAccepted,
  guidingSum,
  joinBoards,
  openBoards,
  parseCondition,
  requireDrawable,
  requirePossible,
} from "diffeo-chess";
import { sha256 } from "diffeo-queue/node";
import type { Io } from "../shell/io.ts";
import { doJobs, type JobOptions, openExecutor, requireNone, type Work } from "../shell/jobs.ts";
import {
  engineOf,
  integer,
  MOST,
  positive,
  type RunOptions,
  refuseBeside,
} from "../shell/options.ts";
import { progress, stepping } from "../shell/progress.ts";
import {
  type BoardsJob,
  type BoardsRun,
  boardsGroup,
  boardsJob,
  boardsKind,
  type GRIDS,
  LONGEST_GUIDE,
  MOST_GUIDES,
} from "./jobs.ts";

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

/** What of the options leads boards somewhere. */
export const ledBy = ({
  guide,
  guideStrength,
}: DrawOptions): Pick<BoardOptions, "guide" | "guideStrength"> => ({
  guide,
  guideStrength,
});

/** Raises what is wrong with conditions before boards are drawn for them. */
export function checkConditions(
  { guide, require: conditions }: Pick<DrawOptions, "guide" | "require">,
  command: Command,
): void {
  if (!conditions) refuseBeside(command, "no --require", ["tries"]);
  if (!guide) refuseBeside(command, "no --guide", ["guideStrength"]);
  requirePossible([...(guide ?? []), ...(conditions ?? [])]);
  const longest = Math.max(0, ...(guide ?? []).map(({ text }) => text.length));
  if ((guide?.length ?? 0) > MOST_GUIDES || longest > LONGEST_GUIDE)
    fail(
      "usage",
      `${guide?.length} conditions to lead boards by, the longest of ${longest} letters`,
      `give at most ${MOST_GUIDES} of ${LONGEST_GUIDE} letters`,
    );
}

/** What leads boards, as a record of them says it. */
export const recordOfGuide = ({
  guide,
  guideStrength,
}: DrawOptions): Pick<BoardsRun, "guide" | "guideStrength"> => ({
  ...(guide && { guide: guide.map(({ text }) => text) }),
  guideStrength,
});

export const withDrawOptions = (command: Command): Command =>
  command
    .addOption(
      new Option(
        "--guide <condition>",
        "lead boards to it by the posterior of their squares: Q=0, pieces=12, balance>=3, …; may be given again. Most meet it then, --require keeps those that do",
      ).argParser(guiding),
    )
    .option(
      "--guide-strength <x>",
      "how strongly --guide pulls (default: 1, which is Bayes' rule)",
      positive,
    )
    .addOption(
      new Option(
        "--require <condition>",
        "draw until boards meet it: legal, Q, q=1, pieces<=20, balance>0, …; may be given again. Rejection is the only repair there is",
      ).argParser(listed),
    )
    .option(
      "--tries <n>",
      "with --require, the most boards to draw (default: 100 for each that is wanted)",
      integer(1, 1e9),
    )
    .option("--batch <n>", "boards at a time", integer(1, MOST.batch), 64);

/** How boards are drawn. */
interface BoardSettings {
  readonly count: number;
  readonly steps: number;
  readonly driftScale: number;
  readonly space?: "simplex" | "logit";
  readonly solver?: SolverName;
  readonly grid?: (typeof GRIDS)[number];
}

type SampleOptions = DrawOptions & RunOptions & JobOptions & { readonly model: string };

/**
 * Raises here what every job would fail for: a file that is no model of boards, or one that cannot
 * be led or stepped so.
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
      `${path}: a time grid fitted to a model whose errors were not measured`,
      "measure them with diffeo chess calibrate, or name another --grid",
    );
  return model;
}

/** Boards with frames of their way, which are too large to travel: in this process. */
export async function drawTraced(
  io: Io,
  options: SampleOptions,
  settings: BoardSettings,
  frames: number,
): Promise<Accepted> {
  const { count: wanted, space, solver, ...board } = settings;
  const { require: conditions, tries, batch, seed } = options;
  const process = { space, solver, ...engineOf(options) };
  const model = requireModel(await loadModel(options.model), options.model, options, settings);
  const sampler = await openBoards(model, process);
  const draw = (first: number, count: number): Promise<Boards> => {
    const what = first === 0 ? "sampling" : "sampling on";
    return stepping(
      io,
      options,
      board.steps * Math.ceil(count / batch),
      what,
      ({ signal, onStep }) =>
        sampler({
          ...board,
          ...ledBy(options),
          frames,
          count,
          first,
          key: key(seed),
          batch,
          signal,
          onStep,
        }),
    );
  };
  return drawAccepted(draw, { count: wanted, conditions, tries, batch }).finally(() =>
    sampler.dispose(),
  );
}

/**
 * Samples of a model that meet the conditions. Nothing where there is nothing to collect: a dry
 * run, or a shard of many.
 */
export async function drawSamples(
  io: Io,
  options: SampleOptions,
  settings: BoardSettings,
  folder?: string,
): Promise<Accepted | undefined> {
  const { space = "simplex", solver = BOARD_SOLVER, steps, driftScale: w, count, grid } = settings;
  const { device, seed, batch, threads } = options;
  const model = await readBytes(options.model);
  requireModel(parseModel(model, options.model), options.model, options, settings);
  const run: BoardsRun = {
    space,
    solver,
    steps,
    w,
    key: key(seed),
    device,
    model: sha256(model),
    ...(grid && { grid }),
    ...recordOfGuide(options),
  };
  const work: Work<BoardsJob, Boards> = {
    ...{
      what: "sampling",
      unit: "boards",
      kind: boardsKind,
      device,
      inputs: [model],
      folder,
      signal: io.signal,
    },
    ...(threads !== undefined && { threads }),
  };
  if (options.require) return drawUntil(io, options, work, run, count);
  let boards: Boards | undefined;
  const failed = await doJobs(
    io,
    options,
    work,
    [boardsGroup("boards", run, count, batch)],
    async ({ results }) => {
      boards = joinBoards(results);
    },
  );
  if (failed) requireNone(io, failed);
  return boards && { ...boards, drawn: count };
}

/**
 * Boards until enough meet the conditions: each round is a job, and as many rounds are under way
 * as there are workers.
 */
async function drawUntil(
  io: Io,
  options: SampleOptions,
  work: Work<BoardsJob, Boards>,
  run: BoardsRun,
  wanted: number,
): Promise<Accepted> {
  const { require: conditions, tries, batch } = options;
  if (options.shard || options.dryRun)
    fail(
      "usage",
      `how many jobs there are with --require is known at the end alone, ${options.shard ? "--shard" : "--dry-run"} needs to know it before`,
      "leave one of them out, or give --queue",
    );
  const executor = await openExecutor(io, options, work, options.workers ?? 1);
  const bar = progress(io.stderr, tries ?? 100 * wanted, "sampling until enough pass, at most");
  const rounds = new Map<number, Promise<Boards>>();
  const round = (first: number, count: number): Promise<Boards> => {
    const begun =
      rounds.get(first) ??
      executor
        .run(boardsJob(run, first, count).job)
        .then(({ bytes }) => boardsKind.parse(bytes, "a round of boards"));
    begun.catch(() => undefined); // a round that nobody comes to need may fail
    rounds.set(first, begun);
    return begun;
  };
  const draw = async (first: number, count: number): Promise<Boards> => {
    for (let i = 0; i < Math.max(1, executor.workers()); i++) round(first + i * count, count);
    const boards = await round(first, count);
    rounds.delete(first);
    bar.update(first + count);
    return boards;
  };
  try {
    return await drawAccepted(draw, { count: wanted, conditions, tries, batch });
  } finally {
    bar.end();
    await executor.close();
  }
}

/** Of the boards drawn, the share that did not meet the conditions. */
export const shareRejected = ({ positions, drawn }: Accepted): number =>
  1 - positions.count / drawn;

/** Says what rejection did; fails where it found less than was wanted. */
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
    `rejection: of ${drawn} boards drawn ${positions.count} met ${wanted}; the share rejected is ${shareRejected(boards).toFixed(3)}\n`,
  );
  if (positions.count < count)
    fail(
      "data",
      `only ${positions.count} of ${count} boards met ${wanted} in ${drawn} draws`,
      "ask for less, draw at another --w, or allow more with --tries",
    );
}
