/**
 * Boards of a model as jobs: boards `first` … of a key. As bytes, a result is a line of JSON, 32
 * bytes per board, and the frames of the process if there are any.
 */
import { type Model, parseModel } from "diffeo/categorical";
import { fail } from "diffeo/graph";
import { concatArrays } from "diffeo/host";
import { type Executor, type Input, type Job, jobOf, type Kind, resultsOf } from "diffeo/job";
import type { Key } from "diffeo/random";
import { type SolverName, solvers } from "diffeo/sampler";
import * as v from "valibot";
import { CLASSES, SQUARES } from "../board/position.ts";
import { type BoardCondition, parseCondition } from "./condition.ts";
import { type Accepted, drawAccepted, joinBoards, type RejectionOptions } from "./rejection.ts";
import { type Boards, openBoards } from "./sample.ts";

const whole = (least: number, most: number) =>
  v.pipe(v.number(), v.safeInteger(), v.minValue(least), v.maxValue(most));
const word = whole(0, 2 ** 32 - 1);

/** Time grids of jobs, by name. */
export const boardGrids = ["fitted", "uniform", "quadratic", "logSnr"] as const;

/**
 * Limits: the number of guidance conditions, characters per condition, boards and steps per job.
 */
export const boardLimits = { guides: 20, letters: 100, boards: 16_384, steps: 10_000_000 } as const;

/** The boards that a job samples, and the settings. */
export interface BoardsParameters {
  readonly space: "simplex" | "logit";
  readonly solver: SolverName;
  readonly steps: number;
  /** The drift scale. */
  readonly w: number;
  /** Default: what `openBoards` chooses. */
  readonly grid?: (typeof boardGrids)[number] | undefined;
  /** Conditions to guide by, as text, and the strength. */
  readonly guide?: readonly string[] | undefined;
  readonly guideStrength?: number | undefined;
  /** Number of frames of the process to store. Default: none. */
  readonly frames?: number | undefined;
  readonly key: readonly [number, number, number, number];
  readonly first: number;
  readonly count: number;
}

/** The inputs of a job of boards: a model, as `parseModel` reads it. */
export interface BoardsInputs {
  readonly model: Model;
}

const parameters: v.GenericSchema<unknown, BoardsParameters> = v.strictObject({
  space: v.picklist(["simplex", "logit"]),
  solver: v.custom<SolverName>((name) => typeof name === "string" && Object.hasOwn(solvers, name)),
  steps: whole(1, boardLimits.steps),
  w: v.pipe(v.number(), v.finite(), v.gtValue(0)),
  grid: v.optional(v.picklist(boardGrids)),
  guide: v.optional(
    v.pipe(
      v.array(v.pipe(v.string(), v.maxLength(boardLimits.letters))),
      v.maxLength(boardLimits.guides),
    ),
  ),
  guideStrength: v.optional(v.pipe(v.number(), v.finite())),
  frames: v.optional(whole(2, 100_000)),
  key: v.strictTuple([word, word, word, word]),
  first: whole(0, 1e12),
  count: whole(1, boardLimits.boards),
});

const finite = v.pipe(v.number(), v.finite());
const report = v.strictObject({
  count: whole(1, boardLimits.boards),
  steps: whole(0, boardLimits.steps),
  rejected: whole(0, Number.MAX_SAFE_INTEGER),
  scoreEvaluations: whole(0, Number.MAX_SAFE_INTEGER),
  exits: whole(0, Number.MAX_SAFE_INTEGER),
  clamps: whole(0, Number.MAX_SAFE_INTEGER),
  times: v.array(finite),
  frames: v.optional(v.pipe(v.array(finite), v.maxLength(100_000))),
});

const LINE = 10;
const BOARD = SQUARES / 2;
const FRAME = SQUARES * CLASSES;

function serialize({ positions: { count, bytes }, trace, ...about }: Boards): Uint8Array {
  const head = JSON.stringify({ count, ...about, frames: trace?.times });
  return concatArrays(
    (length) => new Uint8Array(length),
    [new TextEncoder().encode(`${head}\n`), bytes, ...(trace?.frames ?? [])],
  );
}

function parse(bytes: Uint8Array, source: string): Boards {
  const broken = (): never =>
    fail("data", `${source} does not contain boards`, "run the job again");
  const end = bytes.indexOf(LINE);
  const found = v.safeParse(
    v.pipe(v.string(), v.parseJson(), report),
    new TextDecoder().decode(bytes.subarray(0, Math.max(0, end))),
  );
  if (!found.success) return broken();
  const { count, frames, ...about } = found.output;
  const at = end + 1 + BOARD * count;
  const positions = { count, bytes: bytes.slice(end + 1, at) };
  const isClass = (byte: number): boolean => (byte & 15) < CLASSES && byte >> 4 < CLASSES;
  const isWhole = bytes.length === at + FRAME * count * (frames?.length ?? 0);
  if (!isWhole || !positions.bytes.every(isClass)) return broken();
  const frame = (i: number): Uint8Array =>
    bytes.slice(at + i * FRAME * count, at + (i + 1) * FRAME * count);
  return {
    positions,
    ...about,
    ...(frames && { trace: { times: frames, frames: frames.map((_, i) => frame(i)) } }),
  };
}

/** Why boards cannot be the result of a job. */
function misfitOf({ positions, trace }: Boards, job: BoardsParameters): string | undefined {
  if (positions.count !== job.count)
    return `it has ${positions.count} boards, but the job has ${job.count}`;
  if ((trace === undefined) !== (job.frames === undefined))
    return trace ? "it has frames, but the job has none" : "it has no frames";
  return undefined;
}

/** Samples of boards as a kind of job. */
export const boardsKind: Kind<BoardsParameters, BoardsInputs, Boards> = {
  name: "chess/boards",
  version: 1,
  parameters,
  inputs: { model: (bytes, source) => parseModel(bytes, source) },
  run: async (job, { device, threads, signal, input, keep, report: tell }) => {
    const { space, solver, steps, w, guide, key, count, ...rest } = job;
    const draw = await keep(
      `boards ${space} ${solver}`,
      async () => openBoards(await input("model"), { space, solver, device, threads }),
      (open) => open.dispose(),
    );
    let step = 0;
    return draw({
      ...rest,
      count,
      steps,
      driftScale: w,
      batch: count,
      guide: guide?.map((text) => parseCondition(text)),
      key: { words: key } satisfies Key,
      onStep: () => tell(++step / steps),
      signal,
    });
  },
  serialize,
  parse,
  misfit: misfitOf,
};

/** The options that all jobs of a run share. */
export interface BoardsRun extends Omit<BoardsParameters, "key" | "guide" | "first" | "count"> {
  readonly key: Key;
  /** Conditions to guide by. */
  readonly guide?: readonly BoardCondition[] | undefined;
  /** The device that computes them. Default `cpu`. */
  readonly device?: string;
}

/**
 * Boards `first` … `first` + `count` as one job.
 *
 * @param model the model; give the same input to all jobs of a run
 */
const boardsJob = (
  model: Input<Model>,
  { key, guide, device, ...run }: BoardsRun,
  first: number,
  count: number,
): Job<BoardsParameters, BoardsInputs, Boards> =>
  jobOf(
    boardsKind,
    { ...run, guide: guide?.map(({ text }) => text), key: key.words, first, count },
    { device, inputs: { model } },
  );

/** `count` boards as jobs of at most `batch` boards each. */
export const boardsJobs = (
  model: Input<Model>,
  run: BoardsRun,
  count: number,
  batch: number,
): Job<BoardsParameters, BoardsInputs, Boards>[] =>
  Array.from({ length: Math.ceil(count / batch) }, (_, i) =>
    boardsJob(model, run, i * batch, Math.min(batch, count - i * batch)),
  );

/**
 * Samples boards as jobs: the first `count` or, with conditions, the first `count` that meet them.
 * With conditions each round is a job, and each worker runs one round at a time.
 *
 * @param executor runs the jobs; `openInline()` is this process
 * @param model the model
 * @param run the settings of the samples
 * @example
 * import { openInline, inputOf } from "diffeo/job";
 * declare const bytes: Uint8Array; // of a model's file
 * const { positions } = await drawBoards(
 *   openInline(),
 *   inputOf(bytes),
 *   { space: "simplex", solver: BOARD_SOLVER, steps: BOARD_STEPS, w: 1, key: random.key(7) },
 *   { count: 100, batch: 64 },
 * );
 */
export async function drawBoards(
  executor: Pick<Executor, "run" | "workers">,
  model: Input<Model>,
  run: BoardsRun,
  options: RejectionOptions,
): Promise<Accepted> {
  const { conditions = [], batch, count } = options;
  if (conditions.length === 0) {
    const boards: Boards[] = [];
    const jobs = boardsJobs(model, run, count, batch);
    for await (const { value } of resultsOf(executor, jobs)) boards.push(value);
    return { ...joinBoards(boards), drawn: count };
  }
  const rounds = new Map<number, Promise<Boards>>();
  const begin = (first: number, size: number): Promise<Boards> => {
    const round =
      rounds.get(first) ??
      executor.run(boardsJob(model, run, first, size)).then(({ value }) => value);
    round.catch(() => undefined); // a surplus round may fail
    rounds.set(first, round);
    return round;
  };
  const draw = async (first: number, size: number): Promise<Boards> => {
    begin(first, size);
    for (let i = 1; i < executor.workers(); i++) begin(first + i * size, size);
    const boards = await begin(first, size);
    rounds.delete(first);
    return boards;
  };
  return drawAccepted(draw, options);
}
