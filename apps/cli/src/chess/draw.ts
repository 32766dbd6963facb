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
  type OpenBoardsOptions,
  openBoards,
  parseCondition,
} from "diffeo-chess";
import type { Io } from "../shell/io.ts";
import { engineOf, integer, MOST, type RunOptions } from "../shell/options.ts";
import { stepping } from "../shell/progress.ts";

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
    .option(
      "--tries <n>",
      "with --require, the most boards to draw (default: 100 for each that is wanted)",
      integer(1, 1e9),
    )
    .option("--batch <n>", "boards at a time", integer(1, MOST.batch), 64);

/** Samples of a model that meet the conditions. */
export async function drawSamples(
  io: Io,
  model: Model,
  options: DrawOptions & RunOptions,
  {
    count: wanted,
    ...board
  }: Pick<BoardOptions, "driftScale" | "frames"> & { readonly count: number; readonly steps: number },
  process: Pick<OpenBoardsOptions, "space" | "method"> = {},
): Promise<Accepted> {
  const { require: conditions, tries, batch, seed } = options;
  const sampler = await openBoards(model, { ...process, ...engineOf(options) });
  const draw = (first: number, count: number): Promise<Boards> => {
    const what = first === 0 ? "sampling" : "sampling on";
    return stepping(io, options, board.steps * Math.ceil(count / batch), what, ({ signal, onStep }) =>
      sampler({ ...board, count, first, key: key(seed), batch, signal, onStep }),
    );
  };
  return drawAccepted(draw, { count: wanted, conditions, tries, batch }).finally(() => sampler.dispose());
}

/** Of the boards drawn, the share that did not meet the conditions. */
export const shareRejected = ({ positions, drawn }: Accepted): number => 1 - positions.count / drawn;

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
