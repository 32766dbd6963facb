/** Boards of a model, by rejection where conditions are set: what sample and evaluate share, and complete in part. */
import { type Command, Option } from "commander";
import type { Model } from "diffeo/categorical";
import { fail } from "diffeo/graph";
import { key } from "diffeo/random";
import {
  type Accepted,
  type BoardCondition,
  type BoardOptions,
  type Boards,
  drawAccepted,
  parseCondition,
  sampleBoards,
} from "diffeo-chess";
import { integer, type RunOptions } from "./options.ts";
import { stepper } from "./stepper.ts";

export interface DrawOptions {
  readonly require?: readonly BoardCondition[];
  readonly tries?: number;
  readonly batch: number;
}

export const withDrawOptions = (command: Command): Command =>
  command
    .addOption(
      new Option(
        "--require <condition>",
        "draw until boards meet it: legal, Q, q=1, pieces<=20, balance>0, …; may be given again. Rejection is the only repair there is",
      ).argParser((text: string, before: readonly BoardCondition[] = []) => [...before, parseCondition(text)]),
    )
    .option("--tries <n>", "with --require, the most boards to draw (default: 100 for each that is wanted)", integer(1))
    .option("--batch <n>", "boards at a time", integer(1), 64);

/** @param draw boards `first` … `first` + `count` of the run */
export function drawMeeting(
  draw: (first: number, count: number) => Promise<Boards>,
  count: number,
  { require: conditions = [], tries = 100 * count, batch }: DrawOptions,
): Promise<Accepted> {
  return drawAccepted(draw, { count, conditions, tries, batch });
}

/** Samples of a model that meet the conditions. */
export function drawSamples(
  model: Model,
  options: DrawOptions & RunOptions,
  board: Pick<BoardOptions, "count" | "driftScale" | "space" | "method" | "frames"> & { readonly steps: number },
): Promise<Accepted> {
  const { batch, seed } = options;
  const stepped = stepper(options);
  const draw = (first: number, count: number): Promise<Boards> =>
    stepped(board.steps * Math.ceil(count / batch), first === 0 ? "sampling" : "sampling on", (how) =>
      sampleBoards(model, { ...board, count, first, key: key(seed), batch, ...how }),
    );
  return drawMeeting(draw, board.count, options);
}

/** Of the boards drawn, the share that did not meet the conditions. */
export const shareRejected = ({ positions, drawn }: Accepted): number => 1 - positions.count / drawn;

/** Says what rejection did; fails where it found less than was wanted. */
export function reportRejection(boards: Accepted, count: number, { require: conditions = [] }: DrawOptions): void {
  if (conditions.length === 0) return;
  const { positions, drawn } = boards;
  const wanted = conditions.map(({ text }) => text).join(", ");
  process.stderr.write(
    `rejection: of ${drawn} boards drawn ${positions.count} met ${wanted}; the share rejected is ${shareRejected(boards).toFixed(3)}\n`,
  );
  if (positions.count < count)
    fail(
      "data",
      `only ${positions.count} of ${count} boards met ${wanted} in ${drawn} draws`,
      "ask for less, draw at another --w, or allow more with --tries",
    );
}
