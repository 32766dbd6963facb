/** diffeo density sample: samples rows from a fitted model, one Markov chain per row. */
import { Option } from "commander";
import { key } from "diffeo/random";
import { sampleRows } from "diffeo-tables/density";
import { loadDensity } from "diffeo-tables/node";
import type { Declare, Io } from "../shell/io.ts";
import { forceOption, integer, MOST } from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { acceptOldValue } from "../shell/renamed.ts";
import { writeCsv } from "./csv.ts";
import { fittedOption } from "./table.ts";

interface SampleCommand {
  readonly model: string;
  readonly count: number;
  readonly method: "hmc" | "mala";
  readonly steps: number;
  readonly seed: number;
  readonly out?: string;
  readonly force?: boolean;
}

async function sample(io: Io, options: SampleCommand): Promise<void> {
  const { model: path, count, method, steps, seed, out, force } = options;
  await outputs(out === undefined ? [] : [{ path: out }], { inputs: [path], force });
  const model = await loadDensity(path);
  await writeCsv(
    io,
    await sampleRows(model, count, { method, steps, key: key(seed), signal: io.signal }),
    out,
  );
}

export const declare: Declare = (command, io) =>
  void command
    .addOption(fittedOption())
    .option("--count <n>", "number of rows", integer(1, MOST.rows), 1000)
    .addOption(
      acceptOldValue(
        new Option("--method <method>", "method of the Markov chains").choices(["hmc", "mala"]),
        io,
        { langevin: "mala" },
      ).default("hmc"),
    )
    .option("--steps <n>", "transitions of each chain", integer(1, MOST.steps), 200)
    .option("--seed <n>", "seed", integer(0, MOST.seed), 0)
    .option("--out <file>", "file for the CSV (default: standard output)")
    .addOption(forceOption())
    .action((options) => sample(io, options));
