/**
 * diffeo sample: samples from a score network in an ONNX file, through a map to the domain of the
 * data.
 */
import { existsSync } from "node:fs";
import { type Command, InvalidArgumentError, Option } from "commander";
import { DiffeoError, fail, type Shape } from "diffeo/graph";
import { readBytes, writeFileAtomic } from "diffeo/node";
import { fromOnnx, type OnnxScore, type Prediction, predictions } from "diffeo/outside";
import { key } from "diffeo/random";
import { type GridName, grids, type SolverName, sample, solvers } from "diffeo/sampler";
import { reverse, reversePush, type SdeSpec, sdeOf, sdes } from "diffeo/sde";
import type { Declare, Io } from "./shell/io.ts";
import { mapNames, mapOf } from "./shell/map-name.ts";
import { numberLines, numbersJson } from "./shell/numbers.ts";
import {
  forceOption,
  integer,
  integers,
  MOST,
  positive,
  type RunOptions,
  withRunOptions,
} from "./shell/options.ts";
import { outputs } from "./shell/outputs.ts";
import { stepping } from "./shell/progress.ts";
import { acceptMethod } from "./shell/renamed.ts";

interface SampleCommand extends RunOptions {
  readonly score: string;
  readonly predicts: Prediction;
  readonly sigmaData?: number;
  readonly map: string;
  readonly shape?: number[];
  readonly sde: SdeSpec;
  readonly solver: SolverName;
  readonly steps: number;
  readonly grid?: GridName;
  readonly tEnd?: number;
  readonly w: number;
  readonly denoise?: boolean;
  readonly inputs?: { x?: string; t?: string };
  readonly output?: string;
  readonly time?: number;
  readonly count: number;
  readonly batch: number;
  readonly out?: string;
  readonly json?: boolean;
  readonly force?: boolean;
}

/** `vp:min=0.1,max=20` as a spec. */
function sdeSpec(text: string): SdeSpec {
  const [kind, rest = ""] = text.split(/:(.*)/s);
  const options = rest
    .split(",")
    .filter((part) => part !== "")
    .map((part) => {
      const [, name, value] = /^(\w+)=(\S+)$/.exec(part) ?? [];
      if (name === undefined || Number.isNaN(Number(value)))
        throw new InvalidArgumentError(
          "Give a name, or a name with options as in vp:min=0.1,max=20.",
        );
      return [name, Number(value)];
    });
  const spec = { ...Object.fromEntries(options), kind } as SdeSpec;
  try {
    sdeOf(spec);
  } catch (error) {
    if (error instanceof DiffeoError) throw new InvalidArgumentError(error.message);
    throw error;
  }
  return spec;
}

/** Parses `x=sample,t=timestep` as names of ports. */
function portNames(text: string): { x?: string; t?: string } {
  const names = Object.fromEntries(text.split(",").map((part) => part.split(/=(.*)/s).slice(0, 2)));
  if (!Object.keys(names).every((name) => (name === "x" || name === "t") && names[name]))
    throw new InvalidArgumentError("Give names of ports as in x=sample,t=timestep.");
  return names;
}

/** The shape of an event: from the options, or from the file. */
function eventOf(said: Shape | undefined, { file }: OnnxScore, { inputs }: SampleCommand): Shape {
  if (said) return said;
  const port =
    file.inputs.find(({ name }) => name === inputs?.x) ??
    file.inputs.find(({ sizes }) => (sizes?.length ?? 0) > 1);
  const event = port?.sizes?.slice(1);
  if (!event?.length || !event.every((d) => typeof d === "number"))
    return fail(
      "usage",
      "the file does not fix the shape of an event",
      "set `shape`, as in 3 or 8,8,12",
    );
  return event as number[];
}

async function openScore(options: SampleCommand): Promise<OnnxScore> {
  const { score: path, predicts, sigmaData, shape, inputs, output, time } = options;
  const bytes = await readBytes(path);
  const named = (error: unknown): never => {
    if (!(error instanceof DiffeoError) || error.problem.includes(path)) throw error;
    throw new DiffeoError(error.kind, `${path}: ${error.problem}`, error.remedy, { cause: error });
  };
  return fromOnnx(bytes, {
    predicts,
    sigmaData,
    sde: sdeOf(options.sde),
    name: path,
    shape,
    inputs,
    output,
    time: time === undefined ? undefined : (t: number) => time * t,
  }).catch(named);
}

/** y1, y2, … of an event of one axis; y1_1, y1_2, … of more. */
function columnsOf(event: Shape): string[] {
  return event.reduce<string[]>(
    (sofar, size) =>
      sofar.flatMap((name) =>
        Array.from({ length: size }, (_, i) => `${name}${name === "y" ? "" : "_"}${i + 1}`),
      ),
    ["y"],
  );
}

async function run(io: Io, options: SampleCommand): Promise<void> {
  const { map, count, batch, steps, solver, grid, tEnd, w, denoise, seed, out, json, force } =
    options;
  await outputs(out === undefined ? [] : [{ path: out }], {
    inputs: [options.score, existsSync(map) ? map : undefined],
    force,
  });
  const score = await openScore(options);
  io.stderr.write(`${score.describe()}\n`);
  const event = eventOf(options.shape, score, options);
  const sde = sdeOf(options.sde, event.length);
  const phi = await mapOf(map, event);
  const process = map === "identity" ? reverse(sde, score) : reversePush(sde, phi, score);
  const total = steps * Math.ceil(count / batch);
  const result = await stepping(io, options, total, "sampling", (how) =>
    sample(process, {
      ...how,
      shape: event,
      count,
      batch: Math.min(batch, count),
      steps,
      solver,
      driftScale: w,
      key: key(seed),
      denoise: denoise ?? false,
      grid,
      tEnd,
    }),
  );
  const { samples, scoreEvaluations, exits } = result;
  const table = { columns: columnsOf(samples.shape.slice(1)), rows: count, values: samples.data };
  if (out !== undefined) await writeFileAtomic(out, numberLines(table));
  if (json)
    for (const text of numbersJson(table, { steps: result.steps, scoreEvaluations, exits }))
      io.stdout.write(text);
  else if (out === undefined) for (const lines of numberLines(table)) io.stdout.write(lines);
  else io.stdout.write(`${count} samples: ${out}\n`);
}

const real = (text: string): number => {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value))
    throw new InvalidArgumentError("Give a number.");
  return value;
};

const ofNetwork = (command: Command): Command =>
  command
    .requiredOption(
      "--score <file>",
      "an ONNX file with a network of x and t, from any exporter, without external data " +
        "(PyTorch: torch.onnx.export(…, external_data=False))",
    )
    .addOption(
      new Option("--predicts <what>", "what the network predicts")
        .choices(predictions)
        .makeOptionMandatory(),
    )
    .option(
      "--sigma-data <number>",
      "with --predicts edm: the standard deviation of the data in training (default: 0.5)",
      positive,
    )
    .option(
      "--shape <sizes>",
      "shape of one event of x, such as 3 or 8,8,12 (default: from the file)",
      integers(1, 4096),
    )
    .option(
      "--inputs <names>",
      "names of the network's inputs, if they are ambiguous, as in x=sample,t=timestep",
      portNames,
    )
    .option("--output <name>", "name of the network's output")
    .option(
      "--time <number>",
      "time of the network at t = 1, such as 999 for integer steps (default: 1)",
      positive,
    );

export const declare: Declare = (command, io) =>
  void acceptMethod(
    withRunOptions(
      ofNetwork(command)
        .option(
          "--map <name or file>",
          `map to the domain of the samples: ${mapNames.join(", ")}, or a module`,
          "identity",
        )
        .addOption(
          new Option(
            "--sde <name>",
            `SDE of the network's training: ${Object.keys(sdes).join(", ")}; options as in ` +
              "vp:min=0.1,max=20",
          )
            .argParser(sdeSpec)
            .default({ kind: "vp" }, "vp"),
        )
        .addOption(
          new Option("--solver <name>", "integrator")
            .choices(Object.keys(solvers))
            .default("domainPreserving"),
        )
        .option("--steps <n>", "number of steps", integer(1, MOST.steps), 250)
        .addOption(new Option("--grid <name>", "spacing of times").choices(grids))
        .option(
          "--t-end <t>",
          "time at which to stop (default: a thousandth of the SDE's end time)",
          positive,
        )
        .option("--w <w>", "drift scale", real, 1)
        .option("--denoise", "end with the mean of the data given the last point")
        .option("--count <n>", "number of samples", integer(1, MOST.rows), 1000)
        .option(
          "--batch <n>",
          "samples per batch; another size may change the last digits",
          integer(1, MOST.rows),
          1024,
        ),
      0,
    )
      .option("--out <file>", "file for the CSV (default: standard output)")
      .option("--json", "print samples and counts as JSON")
      .addOption(forceOption()),
    io,
  ).action((options) => run(io, options));
