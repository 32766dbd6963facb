/**
 * diffeo table demo: a complete example from a CSV file to a report, on a small table that comes
 * with the command. Prints the commands that do the same.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "diffeo/node";
import type { Declare, Io } from "../shell/io.ts";
import type { RunOptions } from "../shell/options.ts";
import { forceOption, withRunOptions } from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { complete } from "./complete.ts";
import { fit } from "./fit.ts";
import { penguins } from "./penguins.ts";
import { sample } from "./sample.ts";

interface DemoCommand extends RunOptions {
  readonly out: string;
  readonly force?: boolean;
}

/** Time for the fit and its evaluation, in minutes. */
const MINUTES = 0.8;
const EVALUATIONS = 50;

async function demo(io: Io, { out: folder, force, ...run }: DemoCommand): Promise<void> {
  const at = (name: string): string => join(folder, name);
  const [data, model, report] = [at("penguins.csv"), at("penguins.model"), at("report.html")];
  const [rows, filled] = [at("new.csv"), at("filled.csv")];
  await outputs(
    [data, model, report, rows, filled].map((path) => ({ path })),
    { inputs: [], force },
  );
  await mkdir(folder, { recursive: true });
  await writeFileAtomic(data, penguins);
  const say = (text: string): void => void io.stdout.write(text);
  say(`${data}: 344 penguins (Palmer Archipelago, CC0), some with missing cells\n`);
  const step = (command: string): void => say(`\n$ diffeo table ${command}\n`);
  step(`fit ${data} --out ${model} --report ${report} --minutes ${MINUTES}`);
  await fit(io, data, {
    ...{ ...run, out: model, report, minutes: MINUTES, force: true },
    ...{
      given: true,
      seeds: 1,
      map: "usual",
      network: "diffusion",
      choose: "loss",
      evaluate: true,
      accept: true,
    },
  });
  const how = { ...run, model, evaluations: EVALUATIONS, force: true };
  step(`sample --model ${model} --count 344 --given island=Biscoe --out ${rows}`);
  await sample(io, { ...how, count: 344, given: ["island=Biscoe"], out: rows });
  step(`complete --model ${model} ${data} --point --out ${filled}`);
  await complete(io, data, { ...how, point: true, out: filled });
  say(`\nOpen ${report} in a browser; ${rows} has new penguins of one island.\n`);
}

export const declare: Declare = (command, io) =>
  void withRunOptions(
    command
      .option("--out <folder>", "folder for the files", "diffeo-demo")
      .addOption(forceOption()),
    0,
  ).action((options: DemoCommand) => demo(io, options));
