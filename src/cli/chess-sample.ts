/** diffeo chess sample: boards from a trained model, in the terminal or as files. */
import { type Command, Option } from "commander";
import { loadModel } from "../chess/model-file.ts";
import { drawAccepted } from "../chess/rejection.ts";
import { sampleBoards } from "../chess/sample.ts";
import { fail } from "../graph/index.ts";
import { key } from "../random/index.ts";
import { type Method, samplers } from "../sampler/index.ts";
import { type AimOptions, aimOf, withAimOptions } from "./chess-aim.ts";
import { checkOutput, type OutputOptions, triesOf, withOutputOptions, writeBoards } from "./chess-output.ts";
import { engineOf, integer, interruption, type RunOptions, withRunOptions } from "./options.ts";
import { progress } from "./progress.ts";

interface SampleCommand extends AimOptions, OutputOptions, RunOptions {
  readonly space: "simplex" | "logit";
  readonly method: Method;
  readonly batch: number;
}

async function run(options: SampleCommand): Promise<void> {
  const { count, space, method, batch, seed, frames, require: conditions = [] } = options;
  checkOutput(options);
  if (options.pieces !== undefined && (space !== "simplex" || method !== "domainPreserving"))
    fail(
      "usage",
      `--pieces is calibrated for the domain-preserving sampler on the simplex, not for ${method} in ${space} space`,
      "leave --space and --method out, or give --w",
    );
  const { w, steps } = await aimOf(options);
  const model = await loadModel(options.model);
  const signal = interruption();
  const draw = async (first: number, drawn: number) => {
    const bar = progress(steps * Math.ceil(drawn / batch), first === 0 ? "sampling" : "sampling on");
    let done = 0;
    const boards = await sampleBoards(model, {
      count: drawn,
      first,
      key: key(seed),
      steps,
      driftScale: w,
      space,
      method,
      batch,
      ...engineOf(options),
      ...(options.trace !== undefined && { frames }),
      onStep: () => bar.update(++done),
      signal,
    });
    bar.end();
    return boards;
  };
  const boards = await drawAccepted(draw, { count, conditions, tries: triesOf(options), batch });
  await writeBoards(boards, options, { w });
}

export function addChessSample(chess: Command): void {
  const command = chess
    .command("sample")
    .description("draw chess positions from a trained model")
    .option("--count <n>", "boards", integer(1), 16);
  withAimOptions(command)
    .addOption(
      new Option("--space <space>", "where the process lives").choices(["simplex", "logit"]).default("simplex"),
    )
    .addOption(new Option("--method <name>", "integrator").choices(Object.keys(samplers)).default("domainPreserving"));
  withOutputOptions(command).option("--batch <n>", "boards at a time", integer(1), 64);
  withRunOptions(command, 7, "seed; board i is the same in any batch").action(run);
}
