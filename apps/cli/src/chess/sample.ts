/** diffeo chess sample: boards from a trained model, in the terminal or as files. */
import { type Command, Option } from "commander";
import { fail } from "diffeo/graph";
import { loadModel, modelDigest } from "diffeo/node";
import { type MethodName, samplers } from "diffeo/sampler";
import type { Declare, Io } from "../shell/io.ts";
import { integer, MOST, type RunOptions, withRunOptions } from "../shell/options.ts";
import { type AimOptions, aimOf, withAimOptions } from "./aim.ts";
import { drawSamples } from "./draw.ts";
import { checkOutput, type OutputOptions, withOutputOptions, writeBoards } from "./output.ts";

interface SampleCommand extends AimOptions, OutputOptions, RunOptions {
  readonly count: number;
  readonly space: "simplex" | "logit";
  readonly method: MethodName;
}

async function sample(io: Io, options: SampleCommand, command: Command): Promise<void> {
  const { count, space, method, seed, frames, calibration } = options;
  if (options.pieces !== undefined && (space !== "simplex" || method !== "domainPreserving"))
    fail(
      "usage",
      `--pieces is calibrated for the domain-preserving sampler on the simplex, not for ${method} in ${space} space`,
      "leave --space and --method out, or give --w",
    );
  await checkOutput(count, options, command, [options.model, calibration]);
  const { w, steps } = await aimOf(io, options);
  const model = await loadModel(options.model);
  const board = { count, steps, driftScale: w, ...(options.trace !== undefined && { frames }) };
  const boards = await drawSamples(io, model, options, board, { space, method });
  await writeBoards(io, boards, count, options, { model: await modelDigest(options.model), seed, space, method, w });
}

export const declare: Declare = (command, io) => {
  command.option("--count <n>", "boards", integer(1, MOST.boards), 16);
  withAimOptions(command)
    .addOption(
      new Option("--space <space>", "where the process lives").choices(["simplex", "logit"]).default("simplex"),
    )
    .addOption(new Option("--method <name>", "integrator").choices(Object.keys(samplers)).default("domainPreserving"));
  withOutputOptions(command);
  withRunOptions(command, 7, "seed; board i is the same in any batch").action((options) =>
    sample(io, options, command),
  );
};
