/**
 * diffeo grid sample: samples grids of a trained model, guided by rules, or completes grids with
 * unknown sites. Nothing is searched or repaired. `--check` counts the samples that meet rules:
 * distinct completions of a puzzle that meet all of its rules are distinct solutions.
 */
import {
  type ClassArray,
  classArray,
  type GridRules,
  type Model,
  meets,
  openGrids,
  parseRules,
} from "diffeo/categorical";
import { fail, sizeOf } from "diffeo/graph";
import { loadModel, readBytes, writeFileAtomic } from "diffeo/node";
import { key } from "diffeo/random";
import type { Declare, Io } from "../shell/io.ts";
import {
  engineOf,
  integer,
  MOST,
  positive,
  type RunOptions,
  withRunOptions,
} from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { progress } from "../shell/progress.ts";
import { classesOf, formatGrid, readGrids } from "./grids.ts";

interface SampleCommand extends RunOptions {
  readonly model: string;
  readonly count: number;
  readonly known?: string;
  readonly draws: number;
  readonly rules?: string;
  readonly rulesFile?: string;
  readonly strength: number;
  readonly check?: string;
  readonly evaluations: number;
  readonly w: number;
  readonly batch: number;
  readonly out?: string;
  readonly json?: boolean;
  readonly force?: boolean;
}

/** The completions of one grid, or all samples if no grid is given. */
interface Found {
  readonly known?: string;
  readonly grids: readonly string[];
  /** How many meet the rules of --check, and how many of these are distinct. */
  readonly meeting?: number;
  readonly distinct?: number;
}

async function rulesOf(
  { rules, rulesFile }: SampleCommand,
  about: { readonly grid: readonly number[]; readonly symbols: readonly string[] },
): Promise<GridRules | undefined> {
  if (rules !== undefined && rulesFile !== undefined)
    fail("usage", "--rules and --rules-file cannot be combined", "give one of them");
  if (rulesFile !== undefined)
    return parseRules(new TextDecoder().decode(await readBytes(rulesFile)), about);
  return rules === undefined ? undefined : parseRules(rules, about);
}

/** Rules with known sites and a file of known sites cannot be combined. */
function requireOneKnown({ known }: SampleCommand, rules: GridRules | undefined, classes: number) {
  if (known !== undefined && rules?.known.some((k) => k < classes))
    fail(
      "usage",
      "--rules with known sites cannot be combined with --known",
      "put the known sites into the file",
    );
}

/** The grids that meet all rules of --check, known sites included. */
function checked(grids: readonly ClassArray[], { known, conditions }: GridRules, classes: number) {
  return grids.filter(
    (grid) =>
      conditions.every((condition) => meets(grid, condition)) &&
      known.every((k, site) => k >= classes || k === grid[site]),
  );
}

/** Samples `total` grids, with the known sites if some are given, and shows progress. */
async function draw(
  io: Io,
  model: Model,
  options: SampleCommand,
  { total, rules, known }: Request,
): Promise<ClassArray> {
  const { seed, evaluations, w, strength, batch } = options;
  const bar = progress(io.stderr, evaluations * Math.ceil(total / batch), "sampling");
  const sampler = await openGrids(model, { solver: "dpmSolver2MSde", rules, ...engineOf(options) });
  let done = 0;
  return sampler({
    count: total,
    key: key(seed),
    steps: evaluations - 1,
    driftScale: w,
    batch,
    strength,
    known: known && { classes: known },
    onStep: () => bar.update(++done),
    signal: io.signal,
  }).finally(async () => {
    bar.end();
    await sampler.dispose();
  });
}

/** What is sampled: how many grids, by which rules, and with which known sites. */
interface Request {
  readonly total: number;
  readonly rules: GridRules | undefined;
  readonly known: ClassArray | undefined;
}

/** Repeats each grid `each` times. */
const repeated = (grids: ClassArray, sites: number, each: number, classes: number): ClassArray =>
  classArray(grids.length * each, classes).map(
    (_, i) => grids[Math.floor(i / (each * sites)) * sites + (i % sites)],
  );

async function sample(io: Io, options: SampleCommand): Promise<void> {
  const { known, draws, count, out, json } = options;
  await outputs(out === undefined ? [] : [{ path: out }], {
    inputs: [options.model, known, options.rulesFile],
    force: options.force,
  });
  const model = await loadModel(options.model);
  const { grid, classes } = model.encoding;
  const symbols = model.encoding.symbols ?? Array.from({ length: classes }, (_, k) => String(k));
  const rules = await rulesOf(options, { grid, symbols });
  requireOneKnown(options, rules, classes);
  const check =
    options.check === undefined ? undefined : parseRules(options.check, { grid, symbols });
  const puzzles = known === undefined ? undefined : await readGrids(known, grid);
  const given = puzzles && classesOf(puzzles, symbols, true);
  const sites = sizeOf(grid);
  const each = puzzles ? draws : count;
  const total = (puzzles?.grids.length ?? 1) * each;
  const drawn = await draw(io, model, options, {
    total,
    rules,
    known: given && repeated(given, sites, each, classes),
  });
  const at = (i: number): ClassArray => drawn.subarray(i * sites, (i + 1) * sites);
  const found = Array.from({ length: total / each }, (_, p): Found => {
    const own = Array.from({ length: each }, (_, i) => at(p * each + i));
    const format = (one: ArrayLike<number>): string => formatGrid(one, symbols);
    const meeting = check && checked(own, check, classes);
    return {
      known: given && format(given.subarray(p * sites, (p + 1) * sites)),
      grids: own.map(format),
      meeting: meeting?.length,
      distinct: meeting && new Set(meeting.map(format)).size,
    };
  });
  const text = json
    ? `${JSON.stringify({ model: options.model, symbols, samples: found })}\n`
    : found.map(({ grids }) => grids.map((line) => `${line}\n`).join("")).join("");
  if (out === undefined) io.stdout.write(text);
  else await writeFileAtomic(out, text);
  if (!json && check)
    for (const { known: puzzle, meeting, distinct } of found) {
      const prefix = puzzle === undefined ? "" : `${puzzle}: `;
      io.stderr.write(`${prefix}${meeting} of ${each} meet the rules, ${distinct} distinct\n`);
    }
}

export const declare: Declare = (command, io) => {
  withRunOptions(
    command
      .requiredOption("--model <file>", "a model that grid fit wrote")
      .option("--count <n>", "number of grids", integer(1, MOST.boards), 16)
      .option("--known <file>", "grids to complete, one per line; . is an unknown site")
      .option("--draws <n>", "completions per grid of --known", integer(1, MOST.boards), 1)
      .option("--rules <text>", 'guide grids by rules, such as "(1, 3) = 7; sum (1, *) = 15"')
      .option("--rules-file <file>", "the same from a file, one rule per line")
      .option("--strength <x>", "strength of the guidance by rules", positive, 1)
      .option("--check <text>", "count the samples that meet these rules, and the distinct ones")
      .option("--evaluations <n>", "evaluations of the network per grid", integer(2, 10_000), 50)
      .option("--w <x>", "drift scale; above 1 samples are sharper than the model", positive, 1)
      .option("--batch <n>", "grids per batch", integer(1, MOST.batch), 64)
      .option("--out <file>", "file for the grids (default: standard output)")
      .option("--json", "print samples and counts as JSON")
      .option("--force", "replace an existing file"),
    0,
  ).action((options: SampleCommand) => sample(io, options));
};
