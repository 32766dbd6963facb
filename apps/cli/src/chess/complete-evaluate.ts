/**
 * `diffeo chess complete --evaluate FILE`: how well hidden squares of real positions are recovered.
 */
import type { Command } from "commander";
import { loadModel } from "diffeo/node";
import { fold, key, permutation } from "diffeo/random";
import {
  type Completion,
  type CompletionMeasures,
  completionMeasures,
  hideSquares,
  layOut,
  select,
} from "diffeo-chess";
import { readPositions } from "diffeo-chess/node";
import type { Io } from "../shell/io.ts";
import { refuseBeside } from "../shell/options.ts";
import { type CompleteCommand, completer, methodOf } from "./completer.ts";

const ROWS: readonly (readonly [label: string, show: (m: CompletionMeasures) => string])[] = [
  ["boards", (m) => String(m.boards)],
  ["known squares kept", (m) => m.kept.toFixed(3)],
  ["exactly one king each", (m) => m.oneKingEach.toFixed(3)],
  ["strictly legal", (m) => m.legal.toFixed(3)],
  ["hidden squares recovered", (m) => m.squaresRecovered.toFixed(3)],
  ["hidden pieces recovered", (m) => m.piecesRecovered.toFixed(3)],
  ["pieces, mean", (m) => m.piecesMean.toFixed(2)],
];

/** Completes real boards with hidden squares, once by the method and once by plain replacement. */
export async function evaluateCompletion(
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
    const found = { file, hide, seed, scoreEvaluations: evaluations, ...columns };
    io.stdout.write(`${JSON.stringify(found, null, 1)}\n`);
    return;
  }
  const names = Object.keys(columns);
  const rows = ROWS.map(([label, show]) => [label, ...names.map((name) => show(columns[name]))]);
  // The count of scores does not show that guidance differentiates through the network.
  const cost = (name: string): string =>
    `${evaluations[name] ?? "–"}${name === "guided" ? ", each with a gradient" : ""}`;
  rows.push(["score evaluations per board", ...names.map(cost)]);
  io.stdout.write(layOut([[`${Math.round(100 * hide)} % of squares hidden`, ...names], ...rows]));
}
