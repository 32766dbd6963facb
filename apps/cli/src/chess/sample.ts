/** diffeo chess sample: samples boards of a trained model, to the terminal or to files. */
import { type Command, Option } from "commander";
import { modelDigest } from "diffeo/node";
import { type SolverName, solvers } from "diffeo/sampler";
import { BOARD_SOLVER, boardGrids } from "diffeo-chess";
import type { Declare, Io } from "../shell/io.ts";
import { type JobOptions, withJobOptions } from "../shell/job-options.ts";
import { integer, MOST, type RunOptions, withRunOptions } from "../shell/options.ts";
import { acceptMethod } from "../shell/renamed.ts";
import { type AimOptions, withAimOptions, withPieces } from "./aim.ts";
import { drawSamples } from "./draw.ts";
import { checkOutput, type OutputOptions, withOutputOptions, writeBoards } from "./output.ts";

interface SampleCommand extends AimOptions, OutputOptions, RunOptions, JobOptions {
  readonly count: number;
  readonly space: "simplex" | "logit";
  readonly solver: SolverName;
  readonly grid?: (typeof boardGrids)[number];
}

async function sample(io: Io, given: SampleCommand, command: Command): Promise<void> {
  const { count, space, solver, grid, seed, frames, w, steps } = given;
  const guide = withPieces(given.guide, given);
  const options = { ...given, ...(guide && { guide }) };
  await checkOutput(io, count, options, command, [options.model]);
  const settings = {
    count,
    steps,
    driftScale: w,
    space,
    solver,
    grid,
    frames: options.trace === undefined ? undefined : frames,
  };
  const boards = await drawSamples(io, options, settings, options.out && `${options.out}.jobs`);
  if (!boards) return;
  await writeBoards(io, boards, count, options, {
    model: await modelDigest(options.model),
    seed,
    space,
    solver,
    w,
  });
}

export const declare: Declare = (command, io) => {
  command.option("--count <n>", "number of boards", integer(1, MOST.boards), 16);
  withAimOptions(command)
    .addOption(
      new Option("--space <space>", "space in which the process runs")
        .choices(["simplex", "logit"])
        .default("simplex"),
    )
    .addOption(
      new Option("--solver <name>", "integrator")
        .choices(Object.keys(solvers))
        .default(BOARD_SOLVER),
    )
    .addOption(
      new Option(
        "--grid <name>",
        "spacing of times (default: fitted to the model's errors by diffeo chess calibrate, " +
          "for exponential solvers and w = 1; otherwise the grid of the solver)",
      ).choices(boardGrids),
    );
  acceptMethod(command, io);
  withJobOptions(withOutputOptions(command), io);
  withRunOptions(command, 7, "seed; board i is the same in any batch").action((options) =>
    sample(io, options, command),
  );
};
