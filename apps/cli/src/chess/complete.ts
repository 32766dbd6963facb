/**
 * diffeo chess complete: fills in the unknown squares of a position, or measures how well that
 * works on real positions.
 */
import { type Command, InvalidArgumentError, Option } from "commander";
import { fail } from "diffeo/graph";
import { COMPLETIONS, SQUARES } from "diffeo-chess";
import type { Declare, Io } from "../shell/io.ts";
import { integer, MOST, positive, withRunOptions } from "../shell/options.ts";
import { withAimOptions } from "./aim.ts";
import { evaluateCompletion } from "./complete-evaluate.ts";
import { completeOne } from "./complete-one.ts";
import type { CompleteCommand } from "./completer.ts";
import { withOutputOptions } from "./output.ts";

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
      "complete needs a FEN or a file",
      "give a FEN with ? squares, or --evaluate FILE",
    );
  return evaluateCompletion(io, options.evaluate, options, command);
}

/** Parses a share of the squares that leaves some known and some hidden. */
function hidden(text: string): number {
  const squares = Math.round(Number(text) * SQUARES);
  if (!(squares >= 1 && squares < SQUARES))
    throw new InvalidArgumentError("Give a number between 0 and 1.");
  return Number(text);
}

export const declare: Declare = (command, io) => {
  command
    .argument(
      "[fen]",
      "placement with ? for each unknown square, as in " +
        '"????????/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"',
    )
    .option("--count <n>", "boards (default: 4; with --evaluate 500)", integer(1, MOST.boards))
    .addOption(
      new Option(
        "--method <name>",
        "guided: guidance by the posterior of the known squares; particles: weighted particles; " +
          "resample: repeat each step; replacement: set the known squares at each step " +
          "(default: guided if the network predicts posteriors, else resample)",
      ).choices([...COMPLETIONS, "particles"]),
    )
    .option(
      "--particles <n>",
      "number of particles, with --method particles",
      integer(1, MOST.batch),
      32,
    )
    .option(
      "--resample <n>",
      "how often each step is repeated (default: 4 for resample, 1 for guided)",
      integer(1, 10_000),
    )
    .option(
      "--guidance <x>",
      "strength of guidance; 1 is Bayes' rule for an exact posterior (default: 3)",
      positive,
    );
  withAimOptions(
    command,
    "exactly this many pieces on the board, same as --guide pieces=<n> --require pieces=<n>",
  );
  withOutputOptions(command)
    .option(
      "--evaluate <file>",
      "hide squares of real boards, complete them, and compare with plain replacement",
    )
    .option("--hide <share>", "with --evaluate, the share of squares to hide", hidden, 0.5)
    .option("--json", "with --evaluate, print JSON");
  withRunOptions(command, 7, "seed; board i is the same in any batch").action((fen, options) =>
    completePosition(io, fen, options, command),
  );
};
