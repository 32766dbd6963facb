/**
 * npm run bench -- tables [TASK …] [--seeds N] [--seed N] [--rows N] [--inside N] [--threads N]
 * [--records FILE], and how to fit: [--steps N] [--minutes X] [--width N] [--blocks N] [--rate X]
 * [--network diffusion|transformer] [--flow affine|spline]: eight distributions on constrained sets,
 * after the benchmark of Mirror Diffusion Models (G.-H. Liu et al., NeurIPS 2023), and a table
 * whose density is known. A model is fitted to rows of each, 10,000 rows are drawn with 50
 * evaluations of the network, and their sliced Wasserstein distance to fresh rows is measured next
 * to the distance between two sets of fresh rows. Every seed has different rows. --maps measures
 * the gain in log-likelihood of other maps of the domains, fitted for 1,500 steps or --steps each,
 * also for UCI tables in --folder. --errors measures errors of log-likelihoods with --evaluations N
 * (100) relative to 1,600. --calls measures the time of single calls of an open model and of calls
 * that open it. --records appends each result to a file as a line of JSON; `--table FILE` prints
 * the table of such a file.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { FlowKind, NetworkKind } from "diffeo-tables";
import { uciSets } from "diffeo-tables/density";
import { timedCalls } from "./tables/calls.ts";
import { deviation, mean } from "./tables/distance.ts";
import { tasks } from "./tables/distributions.ts";
import { likelihoodErrors } from "./tables/errors.ts";
import { type Known, runKnown } from "./tables/known.ts";
import { triedMaps } from "./tables/maps.ts";
import { type Measured, runTask } from "./tables/measure.ts";

const KNOWN = "known-density";

type Result = Measured | Known;

const isKnown = (result: Result): result is Known => result.task === KNOWN;

const print = (cells: readonly string[]): void =>
  void process.stdout.write(`| ${cells.join(" | ")} |\n`);

function heading(text: string): void {
  const cells = text.split(" | ");
  print(cells);
  process.stdout.write(`|${cells.map(() => "---|").join("")}\n`);
}

const spread = (values: readonly number[], digits: number): string =>
  values.length > 1
    ? `${mean(values).toFixed(digits)} ± ${deviation(values).toFixed(digits)}`
    : mean(values).toFixed(digits);

/** Prints one line per task, over its seeds. */
function printResults(results: readonly Result[]): void {
  const measured = results.filter((r): r is Measured => !isKnown(r));
  if (measured.length > 0)
    heading(
      "task | seeds | SWD | floor | ratio | as laid by the peer | peer's | energy | floor | outside | evaluations | training s | sampling s | steps | held-out loss",
    );
  for (const task of new Set(measured.map((r) => r.task))) {
    const some = measured.filter((r) => r.task === task);
    const [{ floor, floorDeviation, peer, evaluations }] = some;
    const of = (name: keyof Measured): number[] => some.map((r) => r[name] as number);
    const total = (name: keyof Measured): number => of(name).reduce((s, v) => s + v, 0);
    print([
      task,
      String(some.length),
      spread(of("swd"), 5),
      `${floor.toFixed(5)} ± ${floorDeviation.toFixed(5)}`,
      (mean(of("swd")) / floor).toFixed(2),
      spread(of("laid"), 5),
      peer.toFixed(5),
      mean(of("energy")).toExponential(1),
      mean(of("energyFloor")).toExponential(1),
      `${total("outside")} of ${total("looked")}`,
      String(evaluations),
      mean(of("trainingSeconds")).toFixed(0),
      mean(of("samplingSeconds")).toFixed(1),
      mean(of("steps")).toFixed(0),
      mean(of("heldOut")).toFixed(4),
    ]);
  }
  const known = results.filter(isKnown);
  if (known.length > 0)
    heading(
      `${KNOWN}: seed | truth | less the model's | share of the Gaussian | in the rows | training s | step | held-out loss | ms per row`,
    );
  for (const {
    seed,
    truth,
    gap,
    share,
    shareOfRows,
    trainingSeconds,
    steps,
    heldOut,
    scoringMilliseconds,
  } of known)
    print([
      String(seed),
      truth.toFixed(3),
      gap.toFixed(4),
      share.toFixed(3),
      shareOfRows.toFixed(3),
      trainingSeconds.toFixed(0),
      String(steps),
      heldOut.toFixed(4),
      scoringMilliseconds.toFixed(2),
    ]);
}

/** Prints the gain of other maps of each task's domain, by short fits. */
async function printMaps(
  names: readonly string[],
  source: Parameters<typeof triedMaps>[1],
  fit: Parameters<typeof triedMaps>[2],
  keep: (record: unknown) => void,
) {
  heading("task | map | gain, nats per row | standard error | kept | s");
  for (const name of names)
    await triedMaps(name, source, fit, (tried) => {
      const { map, gain, error, kept, seconds } = tried;
      print([name, map, gain.toFixed(3), error.toFixed(3), kept ? "yes" : "", seconds.toFixed(0)]);
      keep(tried);
    });
}

/** Prints errors of log-likelihoods with a number of evaluations. */
async function printErrors(
  names: readonly string[],
  how: Parameters<typeof likelihoodErrors>[1],
  fit: Parameters<typeof likelihoodErrors>[2],
) {
  heading("task | columns | mean | 90 % | most | 1,200 and 1,600 differ by");
  for (const name of names) {
    const { columns, average, most90, most, settled } = await likelihoodErrors(name, how, fit);
    print([
      name,
      String(columns),
      ...[average, most90, most, settled].map((error) => error.toExponential(1)),
    ]);
  }
}

/** Prints the time of calls of a model that is fitted for some steps. */
async function printCalls(steps: number): Promise<void> {
  heading("call | opened for it, ms | open, ms");
  await timedCalls(steps, (name, anew, open) => print([name, anew.toFixed(0), open.toFixed(0)]));
}

const parseRecords = (path: string): Result[] =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Result);

export async function run(): Promise<void> {
  const text = { type: "string" } as const;
  const { values, positionals } = parseArgs({
    args: process.argv.slice(3),
    allowPositionals: true,
    options: {
      seeds: text,
      seed: text,
      steps: text,
      minutes: text,
      width: text,
      blocks: text,
      rate: text,
      rows: text,
      inside: text,
      threads: text,
      records: text,
      table: text,
      network: text,
      flow: text,
      folder: text,
      evaluations: text,
      maps: { type: "boolean" },
      errors: { type: "boolean" },
      calls: { type: "boolean" },
    },
  });
  if (values.table !== undefined) return printResults(parseRecords(values.table));
  if (values.calls) return printCalls(Number(values.steps ?? 200));
  const names = [...Object.keys(tasks), KNOWN];
  const all = [...names, ...(values.maps ? Object.keys(uciSets) : [])];
  const unknown = positionals.filter((name) => !all.includes(name));
  if (unknown.length > 0) {
    process.stderr.write(`unknown task ${unknown.join(", ")}. Tasks: ${all.join(", ")}\n`);
    process.exitCode = 2;
    return;
  }
  const given = (["steps", "minutes", "width", "blocks", "rate"] as const).filter(
    (name) => values[name] !== undefined,
  );
  const fit = {
    threads: Number(values.threads ?? 2),
    ...Object.fromEntries(given.map((name) => [name, Number(values[name])])),
    ...(values.network !== undefined && { network: values.network as NetworkKind }),
    ...(values.flow !== undefined && { flow: values.flow as FlowKind }),
  };
  const [first, count] = [Number(values.seed ?? 0), Number(values.seeds ?? 1)];
  const [rows, inside] = [Number(values.rows ?? 50_000), Number(values.inside ?? 100_000)];
  const keep = (record: unknown): void => {
    if (values.records !== undefined) appendFileSync(values.records, `${JSON.stringify(record)}\n`);
  };
  const asked = positionals.length > 0 ? positionals : names;
  const source = { rows, seed: first, folder: values.folder ?? "data" };
  if (values.errors)
    return printErrors(asked, { ...source, evaluations: Number(values.evaluations ?? 100) }, fit);
  if (values.maps) return printMaps(asked, source, fit, keep);
  const results: Result[] = [];
  for (let seed = first; seed < first + count; seed++)
    for (const name of asked) {
      const result: Result =
        name === KNOWN
          ? await runKnown(seed, fit)
          : await runTask(name, { rows, inside: seed === first ? inside : 0, seed, fit });
      results.push(result);
      keep(result);
    }
  printResults(results);
}
