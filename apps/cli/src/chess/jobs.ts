/**
 * Boards of a model as jobs: boards `first` … of a key, packed at 32 bytes each, and what the
 * sampler says of them.
 */
import { parseModel } from "diffeo/categorical";
import { fail } from "diffeo/graph";
import type { Key } from "diffeo/random";
import { type SolverName, solvers } from "diffeo/sampler";
import { type Boards, CLASSES, openBoards, parseCondition } from "diffeo-chess";
import { jobOf, type Kind } from "diffeo-queue";
import * as v from "valibot";
import { type Group, RELEASE, type SizedJob } from "../shell/jobs.ts";
import { MOST } from "../shell/options.ts";

const whole = (least: number, most: number) =>
  v.pipe(v.number(), v.safeInteger(), v.minValue(least), v.maxValue(most));
const word = whole(0, 2 ** 32 - 1);

/** Time grids by name. */
export const GRIDS = ["fitted", "uniform", "quadratic", "logSnr"] as const;

/** Conditions that lead boards at once, and the letters of one. */
export const MOST_GUIDES = 20;
export const LONGEST_GUIDE = 100;

export interface BoardsJob {
  readonly space: "simplex" | "logit";
  readonly solver: SolverName;
  readonly steps: number;
  readonly w: number;
  /** Default: what `openBoards` chooses. */
  readonly grid?: (typeof GRIDS)[number] | undefined;
  /** Conditions to guide by, in words, and how strongly. */
  readonly guide?: readonly string[] | undefined;
  readonly guideStrength?: number | undefined;
  readonly key: readonly [number, number, number, number];
  readonly first: number;
  readonly count: number;
}

const parameters: v.GenericSchema<unknown, BoardsJob> = v.strictObject({
  space: v.picklist(["simplex", "logit"]),
  solver: v.custom<SolverName>((name) => typeof name === "string" && Object.hasOwn(solvers, name)),
  steps: whole(1, MOST.steps),
  w: v.pipe(v.number(), v.finite(), v.gtValue(0)),
  grid: v.optional(v.picklist(GRIDS)),
  guide: v.optional(
    v.pipe(v.array(v.pipe(v.string(), v.maxLength(LONGEST_GUIDE))), v.maxLength(MOST_GUIDES)),
  ),
  guideStrength: v.optional(v.pipe(v.number(), v.finite())),
  key: v.strictTuple([word, word, word, word]),
  first: whole(0, 1e12),
  count: whole(1, MOST.batch),
});

const report = v.strictObject({
  count: whole(1, MOST.batch),
  steps: whole(0, MOST.steps),
  rejected: whole(0, Number.MAX_SAFE_INTEGER),
  scoreEvaluations: whole(0, Number.MAX_SAFE_INTEGER),
  exits: whole(0, Number.MAX_SAFE_INTEGER),
  clamps: whole(0, Number.MAX_SAFE_INTEGER),
  times: v.array(v.pipe(v.number(), v.finite())),
});

const LINE = 10;

export const boardsKind: Kind<BoardsJob, Boards> = {
  name: "chess/boards",
  version: 1,
  parameters,
  run: async ({ space, solver, steps, w, grid, guide, guideStrength, key, first, count }, work) => {
    const { device, threads, signal } = work;
    const led = {
      ...(guide && { guide: guide.map(parseCondition) }),
      guideStrength,
    };
    const draw = await work.keep(
      `boards ${work.inputDigest("model")} ${space} ${solver}`,
      async () => {
        const engine = { device, threads };
        return openBoards(parseModel(await work.input("model")), { space, solver, ...engine });
      },
      (open) => open.dispose(),
    );
    let step = 0;
    return draw({
      count,
      first,
      steps,
      driftScale: w,
      batch: count,
      grid,
      ...led,
      key: { words: key } satisfies Key,
      onStep: () => work.report(++step / steps),
      ...(signal && { signal }),
    });
  },
  make: ({ positions: { count, bytes }, trace: _, ...about }) =>
    Buffer.concat([Buffer.from(`${JSON.stringify({ count, ...about })}\n`), bytes]),
  parse: (bytes, source) => {
    const broken = (): never =>
      fail("data", `${source} is no boards`, "clear the queue or the folder, and run again");
    const end = bytes.indexOf(LINE);
    const found = v.safeParse(
      v.pipe(v.string(), v.parseJson(), report),
      new TextDecoder().decode(bytes.subarray(0, Math.max(0, end))),
    );
    if (!found.success) return broken();
    const { count, ...about } = found.output;
    const positions = { count, bytes: bytes.slice(end + 1) };
    const isClass = (byte: number): boolean => (byte & 15) < CLASSES && byte >> 4 < CLASSES;
    return positions.bytes.length === 32 * count && positions.bytes.every(isClass)
      ? { positions, ...about }
      : broken();
  },
};

/** What the boards of a group have in common. */
export interface BoardsRun extends Omit<BoardsJob, "key" | "first" | "count"> {
  readonly key: Key;
  readonly device: string;
  /** The SHA-256 of the model's file. */
  readonly model: string;
}

/** Boards `first` to `first` + `count` as one job. */
export function boardsJob(
  { key, device, model, ...run }: BoardsRun,
  first: number,
  count: number,
): SizedJob {
  const setting = { release: RELEASE, device, inputs: { model } };
  return {
    job: jobOf(boardsKind, { ...run, key: key.words, first, count }, setting),
    size: count,
  };
}

/** `count` boards in jobs of a batch each. */
export const boardsGroup = (name: string, run: BoardsRun, count: number, batch: number): Group => ({
  name,
  jobs: Array.from({ length: Math.ceil(count / batch) }, (_, i) =>
    boardsJob(run, i * batch, Math.min(batch, count - i * batch)),
  ),
});
