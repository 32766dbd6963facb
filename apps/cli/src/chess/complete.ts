/**
 * diffeo chess complete: the unknown squares of a position filled in, or how well that goes on real
 * ones.
 */
import { type Command, InvalidArgumentError, Option } from "commander";
import type { Model } from "diffeo/categorical";
import { fail } from "diffeo/graph";
import { loadModel, modelDigest } from "diffeo/node";
import { fold, key, permutation } from "diffeo/random";
import type { Boards } from "diffeo-chess";
import {
  type Board,
  COMPLETIONS,
  type Completion,
  type CompletionMeasures,
  completeBoards,
  completeByParticles,
  completionMeasures,
  defaultCompletion,
  drawAccepted,
  EMPTY,
  hideSquares,
  layOut,
  openBoards,
  parseFen,
  SQUARES,
  select,
  UNKNOWN,
} from "diffeo-chess";
import { readPositions } from "diffeo-chess/node";
import type { Declare, Io } from "../shell/io.ts";
import {
  engineOf,
  integer,
  MOST,
  positive,
  type RunOptions,
  refuseBeside,
  withRunOptions,
} from "../shell/options.ts";
import { stepping } from "../shell/progress.ts";
import { type AimOptions, withAimOptions, withPieces } from "./aim.ts";
import { ledBy } from "./draw.ts";
import { checkOutput, type OutputOptions, withOutputOptions, writeBoards } from "./output.ts";

interface CompleteCommand extends AimOptions, OutputOptions, RunOptions {
  readonly count?: number;
  readonly method?: Completion | "particles";
  readonly particles: number;
  readonly resample?: number;
  readonly guidance?: number;
  readonly evaluate?: string;
  readonly hide: number;
  readonly json?: boolean;
}

type Complete = (partial: Uint8Array, completion: Completion, first?: number) => Promise<Boards>;

/** What completes boards as the options say, with a line of progress. */
async function completer(
  io: Io,
  model: Model,
  options: CompleteCommand,
): Promise<{ complete: Complete; dispose: () => Promise<void> }> {
  const { batch, seed, resample, guidance, frames, trace, w, steps } = options;
  const draw = await openBoards(model, engineOf(options));
  const complete: Complete = (partial, completion, first = 0) => {
    const batches = Math.ceil(partial.length / SQUARES / batch);
    return stepping(
      io,
      options,
      steps * batches,
      `completing, ${completion}`,
      ({ signal, onStep }) =>
        completeBoards(draw, partial, {
          completion,
          first,
          key: key(seed),
          steps,
          driftScale: w,
          batch,
          // Replacement has nothing to repeat: that is what it is.
          resample: completion === "replacement" ? undefined : resample,
          guidance,
          ...ledBy(options),
          frames: trace === undefined ? undefined : frames,
          signal,
          onStep,
        }),
    );
  };
  return { complete, dispose: draw.dispose };
}

/** The way boards are completed, and an error where options are given that it has no use for. */
function methodOf(
  model: Model,
  { method = defaultCompletion(model) }: CompleteCommand,
  command: Command,
): Completion {
  if (method === "particles")
    fail("usage", "particles complete one position", "give a FEN, or evaluate another method");
  refuseBeside(command, `the method ${method}`, ["particles"]);
  if (method !== "guided") refuseBeside(command, `the method ${method}`, ["guidance"]);
  if (method === "replacement") refuseBeside(command, `the method ${method}`, ["resample"]);
  return method;
}

/** Boards drawn by their weights from as many as move together. */
async function byParticles(
  io: Io,
  fen: string,
  board: Board,
  options: CompleteCommand,
  command: Command,
): Promise<void> {
  refuseBeside(command, "the method particles", [
    ...["resample", "pieces", "guide", "guideStrength", "require", "tries", "trace", "frames"],
  ]);
  const { particles, count = 4, seed, batch, guidance, w, steps } = options;
  await checkOutput(io, count, options, command, [options.model]);
  const model = await loadModel(options.model);
  const found = await stepping(io, options, steps, "completing, particles", (how, note) =>
    completeByParticles(model, board, {
      ...how,
      particles,
      key: key(seed),
      steps,
      batch: Math.min(batch, particles),
      driftScale: w,
      guidance,
      onStep: ({ ess }) => {
        note(`worth ${ess.toFixed(1)} of ${particles}`);
        how.onStep();
      },
    }),
  );
  io.stderr.write(
    `${particles} particles, worth ${found.ess.toFixed(1)} at the end, of ${found.ancestors} ancestors; ${(100 * found.kept).toFixed(1)} % of known squares held by themselves\n`,
  );
  const order = Array.from(
    { length: count },
    (_, i) => Math.floor(((i + 0.5) * particles) / count) % particles,
  );
  const { scoreEvaluations, times } = found;
  const report = {
    steps: times.length - 1,
    rejected: 0,
    scoreEvaluations,
    exits: 0,
    clamps: 0,
    times,
  };
  const boards = { ...report, positions: select(found.positions, order), drawn: count };
  const about = {
    given: fen,
    model: await modelDigest(options.model),
    seed,
    method: "particles",
    w,
  };
  const known = [...board.keys()].filter((square) => board[square] !== UNKNOWN);
  await writeBoards(io, boards, count, options, about, {
    squares: known,
    fields: fen.trimEnd().split(/ +/).slice(1),
  });
}

/** An error where the known squares leave no room for --pieces. */
function requireRoom({ pieces }: CompleteCommand, board: Board): void {
  if (pieces === undefined) return;
  const known = board.filter((k) => k < EMPTY).length;
  const unknown = board.filter((k) => k === UNKNOWN).length;
  if (pieces < known || pieces > known + unknown)
    fail(
      "usage",
      `${pieces} pieces: ${known} are known and ${unknown} squares are to be filled in`,
      `give --pieces a number from ${known} to ${known + unknown}`,
    );
}

async function completeOne(
  io: Io,
  fen: string,
  options: CompleteCommand,
  command: Command,
): Promise<void> {
  refuseBeside(command, "a FEN", ["json", "hide"]);
  const { count = 4, seed } = options;
  const board = parseFen(fen, { unknown: true });
  const known = [...board.keys()].filter((square) => board[square] !== UNKNOWN);
  if (known.length === SQUARES)
    fail(
      "usage",
      `${JSON.stringify(fen)} has no unknown square`,
      "write ? for each square that is to be filled in",
    );
  if (options.method === "particles") return byParticles(io, fen, board, options, command);
  requireRoom(options, board);
  const [conditions, guide] = [
    withPieces(options.require, options),
    withPieces(options.guide, options),
  ];
  const output = {
    ...options,
    ...(conditions && { require: conditions }),
    ...(guide && { guide }),
  };
  await checkOutput(io, count, output, command, [options.model]);
  const model = await loadModel(options.model);
  const method = methodOf(model, options, command);
  const { complete, dispose } = await completer(io, model, output);
  const draw = (first: number, drawn: number): Promise<Boards> => {
    const partial = new Uint8Array(drawn * SQUARES);
    for (let i = 0; i < drawn; i++) partial.set(board, i * SQUARES);
    return complete(partial, method, first);
  };
  const { tries, batch } = options;
  const boards = await drawAccepted(draw, { count, conditions, tries, batch }).finally(dispose);
  const digest = await modelDigest(options.model);
  const [, ...fields] = fen.trimEnd().split(/ +/);
  const about = { given: fen, model: digest, seed, method, w: options.w };
  await writeBoards(io, boards, count, output, about, { squares: known, fields });
}

const ROWS: readonly (readonly [label: string, show: (m: CompletionMeasures) => string])[] = [
  ["boards", (m) => String(m.boards)],
  ["known squares kept", (m) => m.kept.toFixed(3)],
  ["exactly one king each", (m) => m.oneKingEach.toFixed(3)],
  ["strictly legal", (m) => m.legal.toFixed(3)],
  ["hidden squares recovered", (m) => m.squaresRecovered.toFixed(3)],
  ["hidden pieces recovered", (m) => m.piecesRecovered.toFixed(3)],
  ["pieces, mean", (m) => m.piecesMean.toFixed(2)],
];

/** Real boards with squares hidden, completed once by the method and once by plain replacement. */
async function evaluate(
  io: Io,
  file: string,
  options: CompleteCommand,
  command: Command,
): Promise<void> {
  refuseBeside(command, "--evaluate", [
    "pieces",
    "guide",
    "guideStrength",
    "require",
    "tries",
    "format",
    "out",
    "trace",
    "frames",
    "force",
  ]);
  const { seed, hide, json = false } = options;
  const { positions } = await readPositions(file, { stdin: io.stdin });
  const order = permutation(fold(key(seed), "boards"), positions.count).data;
  const truth = select(positions, order.slice(0, options.count ?? 500));
  const partial = hideSquares(truth, hide, fold(key(seed), "hidden"));
  const model = await loadModel(options.model);
  const method = methodOf(model, options, command);
  const { complete, dispose } = await completer(io, model, options);
  const columns: Record<string, CompletionMeasures> = {
    real: completionMeasures(truth, partial, truth),
  };
  const evaluations: Record<string, number> = {};
  for (const completion of new Set<Completion>([method, "replacement"])) {
    const boards = await complete(partial, completion);
    columns[completion] = completionMeasures(boards.positions, partial, truth);
    evaluations[completion] = boards.scoreEvaluations;
  }
  await dispose();
  if (json) {
    io.stdout.write(
      `${JSON.stringify({ file, hide, seed, scoreEvaluations: evaluations, ...columns }, null, 1)}\n`,
    );
    return;
  }
  const names = Object.keys(columns);
  const rows = ROWS.map(([label, show]) => [label, ...names.map((name) => show(columns[name]))]);
  // The likelihood of the known squares is differentiated through the network, which no count of
  // scores shows.
  const cost = (name: string): string =>
    `${evaluations[name] ?? "–"}${name === "guided" ? ", each with a gradient" : ""}`;
  rows.push(["score evaluations a board", ...names.map(cost)]);
  io.stdout.write(layOut([[`${Math.round(100 * hide)} % of squares hidden`, ...names], ...rows]));
}

function completePosition(
  io: Io,
  fen: string | undefined,
  options: CompleteCommand,
  command: Command,
): Promise<void> {
  if (fen !== undefined && options.evaluate === undefined)
    return completeOne(io, fen, options, command);
  if (fen !== undefined || options.evaluate === undefined)
    fail(
      "usage",
      "one thing to complete is needed",
      "give a FEN with ? squares, or --evaluate FILE",
    );
  return evaluate(io, options.evaluate, options, command);
}

/** A share of the squares that leaves some known and some hidden. */
function hidden(text: string): number {
  const squares = Math.round(Number(text) * SQUARES);
  if (!(squares >= 1 && squares < SQUARES))
    throw new InvalidArgumentError("give a number between 0 and 1.");
  return Number(text);
}

export const declare: Declare = (command, io) => {
  command
    .argument(
      "[fen]",
      'placement with ? for each unknown square, as in "????????/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"',
    )
    .option("--count <n>", "boards (default: 4; with --evaluate 500)", integer(1, MOST.boards))
    .addOption(
      new Option(
        "--method <name>",
        "guided by the posterior of the known squares, many particles weighed by it, steps repeated, or plain replacement (default: guided where the network gives posteriors, resample where not)",
      ).choices([...COMPLETIONS, "particles"]),
    )
    .option(
      "--particles <n>",
      "with the method particles, how many boards move together",
      integer(1, MOST.batch),
      32,
    )
    .option(
      "--resample <n>",
      "how often each step is taken (default: 4 for resample, 1 for guided)",
      integer(1, 10_000),
    )
    .option(
      "--guidance <x>",
      "strength of guidance; 1 is Bayes' rule for an exact posterior (default: 3)",
      positive,
    );
  withAimOptions(
    command,
    "exactly so many pieces on the whole board, as --guide pieces=<n> --require pieces=<n>",
  );
  withOutputOptions(command)
    .option(
      "--evaluate <file>",
      "hide squares of real boards, complete them, and compare with plain replacement",
    )
    .option("--hide <share>", "with --evaluate, the share of squares hidden", hidden, 0.5)
    .option("--json", "with --evaluate, print JSON");
  withRunOptions(command, 7, "seed; board i is the same in any batch").action((fen, options) =>
    completePosition(io, fen, options, command),
  );
};
