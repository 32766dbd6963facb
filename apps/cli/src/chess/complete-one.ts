/** `diffeo chess complete FEN`: the unknown squares of one position filled in. */
import type { Command } from "commander";
import { fail } from "diffeo/graph";
import { loadModel, modelDigest } from "diffeo/node";
import { key } from "diffeo/random";
import {
  type Board,
  type Boards,
  completeByParticles,
  drawAccepted,
  EMPTY,
  parseFen,
  SQUARES,
  select,
  UNKNOWN,
} from "diffeo-chess";
import type { Io } from "../shell/io.ts";
import { refuseBeside } from "../shell/options.ts";
import { stepping } from "../shell/progress.ts";
import { withPieces } from "./aim.ts";
import { type CompleteCommand, completer, methodOf } from "./completer.ts";
import { checkOutput, writeBoards } from "./output.ts";

/** Completes a position by particles: boards evolve together and are resampled by weight. */
async function byParticles(
  io: Io,
  fen: string,
  board: Board,
  options: CompleteCommand,
  command: Command,
): Promise<void> {
  refuseBeside(command, "--method particles", [
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
        note(`effective ${ess.toFixed(1)} of ${particles}`);
        how.onStep();
      },
    }),
  );
  io.stderr.write(
    `${particles} particles, effective ${found.ess.toFixed(1)} at the end, ${found.ancestors} ` +
      `ancestors; ${(100 * found.kept).toFixed(1)} % of known squares were right before they ` +
      "were set\n",
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

/** Throws if --pieces contradicts the known squares. */
function requireRoom({ pieces }: CompleteCommand, board: Board): void {
  if (pieces === undefined) return;
  const known = board.filter((k) => k < EMPTY).length;
  const unknown = board.filter((k) => k === UNKNOWN).length;
  if (pieces < known || pieces > known + unknown)
    fail(
      "usage",
      `--pieces ${pieces} is impossible: ${known} pieces are known and ${unknown} squares are ` +
        "unknown",
      `set --pieces to a number from ${known} to ${known + unknown}`,
    );
}

/** Completes the position of a FEN in which `?` is an unknown square. */
export async function completeOne(
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
      "write ? for each unknown square",
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
