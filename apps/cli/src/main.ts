#!/usr/bin/env node
/** The command line: commands, files, progress and exit codes; the mathematics is elsewhere. */
import { Command, CommanderError } from "commander";
import { cannotWrite } from "diffeo/node";
import { addCheck } from "./check.ts";
import { addChessCalibrate } from "./chess-calibrate.ts";
import { addChessComplete } from "./chess-complete.ts";
import { addChessData } from "./chess-data.ts";
import { addChessEvaluate } from "./chess-evaluate.ts";
import { addChessExport } from "./chess-export.ts";
import { addChessFigure } from "./chess-figure.ts";
import { addChessSample } from "./chess-sample.ts";
import { addChessStudy } from "./chess-study.ts";
import { addChessTrain } from "./chess-train.ts";
import { addDensity } from "./density.ts";
import { addDevices } from "./devices.ts";
import { reportError } from "./exit.ts";
import { version } from "./version.ts";

const program = new Command("diffeo")
  .description("Scores, SDEs, samplers and score matching through smooth invertible maps.")
  .version(version)
  .showHelpAfterError("(add --help for the options)")
  .exitOverride();

addCheck(program);
addDevices(program);
const chess = program.command("chess").description("chess positions by diffusion on the simplex");
addChessData(chess);
addChessTrain(chess);
addChessExport(chess);
addChessSample(chess);
addChessComplete(chess);
addChessCalibrate(chess);
addChessFigure(chess);
addChessEvaluate(chess);
addChessStudy(chess);
addDensity(program);

// A reader that has seen enough, such as `head`, is no failure; a full disk is.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") reportError(cannotWrite("standard output", error));
  process.exit();
});

try {
  await program.parseAsync();
} catch (error) {
  // Commander has said what was wrong; help and version are no errors.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else reportError(error);
}
