/** The fits of one command: maps are chosen first, then each seed is fitted. */
import type { Domain } from "diffeo/domain";
import { fail } from "diffeo/graph";
import { inFolder } from "diffeo/node";
import {
  type ChooseMapsOptions,
  type ChosenMaps,
  fitSeeds,
  heldOut,
  type MapChoice,
  mapsFor,
  type NetworkKind,
  type Row,
  type SeedsFit,
  type TableLayout,
  type TableProgress,
  type TriedMap,
  usualSteps,
  type WeightChoice,
} from "diffeo-tables";
import { type FitFolder, openFitFolder } from "diffeo-tables/node";
import type { Io } from "../shell/io.ts";
import { asJobs, type JobOptions } from "../shell/job-options.ts";
import { engineOf, type RunOptions } from "../shell/options.ts";
import { progress } from "../shell/progress.ts";
import { version } from "../shell/version.ts";
import { fitAsJobs, jobsFolder } from "./fit-jobs.ts";

export interface FittingCommand extends RunOptions, JobOptions {
  readonly out: string;
  readonly minutes?: number;
  readonly steps?: number;
  /** Whether there is a network of given cells. */
  readonly given: boolean;
  readonly seeds: number;
  readonly map: MapChoice;
  readonly network: NetworkKind;
  /** The criterion by which weights are chosen. */
  readonly choose: WeightChoice;
  /** Whether the model is fitted to all rows at the end. */
  readonly allRows?: boolean;
  /** The folder of the runs. */
  readonly run?: string;
}

export interface Fitted extends SeedsFit {
  readonly maps: readonly TriedMap[];
}

/** The columns of a table: the domains of those that a model learns, and how all are written. */
interface Schema {
  readonly columns: Readonly<Record<string, Domain>>;
  readonly layout: TableLayout;
  /** Other domains of the columns, if maps are to be chosen. */
  readonly others?: ChooseMapsOptions["others"];
}

const triedLine = ({ map, gain, error, kept, unit }: TriedMap): string =>
  `${map}: ${gain < 0 ? "−" : "+"}${Math.abs(gain).toFixed(3)} ± ${error.toFixed(3)} ` +
  `${unit ?? "nats per row"}${kept ? ", kept" : ""}\n`;

const fitted = { given: "given cells", whole: "rows", flow: "a flow" } as const;

/** Training that takes fewer seconds is not announced. */
const SHORT = 30;

/** A notice of how long training will take, if it is long. */
function estimateLine(network: TableProgress["network"], seconds: number, steps: number): string {
  if (seconds < SHORT) return "";
  const minutes = seconds / 60;
  const about = minutes < 10 ? minutes.toFixed(1) : minutes.toFixed(0);
  const then = network === "whole" ? "" : "; the network of rows comes after it";
  return (
    `fitting ${fitted[network]} takes about ${about} minutes for ${steps} steps${then}; ` +
    `--minutes and --steps limit it\n`
  );
}

/** A line of progress for each network of each seed. */
function progressLines({ stderr }: Io, seeds: number) {
  let bar: ReturnType<typeof progress> | undefined;
  let [seed, stage, planned] = ["", "", 0];
  let isEstimated = false;
  const end = (): void => {
    bar?.end();
    bar = undefined;
  };
  return {
    end,
    /** Number of steps of the last network, that of whole rows. */
    planned: () => planned,
    onSeed: (one: number) => {
      end();
      seed = seeds > 1 ? `, seed ${one}` : "";
    },
    onProgress: ({
      network,
      step,
      steps,
      seconds,
      secondsLeft,
      loss,
      validation,
    }: TableProgress) => {
      if (!isEstimated && seconds > 2 && step < steps) {
        isEstimated = true;
        stderr.write(estimateLine(network, seconds + secondsLeft, steps));
      }
      if (network !== stage) end();
      bar ??= progress(stderr, steps, `fitting ${fitted[network]}${seed}`, step);
      [stage, planned] = [network, steps];
      bar.update(step, `loss ${loss.toFixed(3)}, held out ${validation.toFixed(3)}`);
    },
  };
}

/** A notice if the time did not suffice for the usual steps. */
function shortTime(
  { minutes, steps, network }: FittingCommand,
  rows: readonly Row[],
  planned: number,
): string {
  const wanted = steps ?? usualSteps(heldOut(rows.length).seen.length, network);
  if (minutes === undefined || planned === 0 || planned >= wanted / 2) return "";
  return (
    `the time was enough for ${planned} ${planned === 1 ? "step" : "steps"}, but ${wanted} ` +
    `${steps === undefined ? "are usual for so many rows" : "were specified"}: use more ` +
    `--minutes for a better model\n`
  );
}

async function fitChosen(
  io: Io,
  rows: readonly Row[],
  chosen: ChosenMaps & { readonly layout: TableLayout },
  options: FittingCommand,
  folder: FitFolder | undefined,
  say: (text: string) => void,
): Promise<SeedsFit> {
  const { minutes, steps, given, network, seed, seeds, run } = options;
  const lines = progressLines(io, seeds);
  const found = await fitSeeds(rows, {
    ...engineOf(options),
    columns: chosen.columns,
    flow: chosen.flow,
    layout: chosen.layout,
    network,
    choose: options.choose,
    seed,
    seeds,
    given,
    minutes,
    steps,
    storeOf: folder?.storeOf(chosen),
    signal: io.signal,
    onSeed: lines.onSeed,
    onProgress: lines.onProgress,
  }).finally(lines.end);
  if (io.signal.aborted && run !== undefined)
    say(`interrupted; repeat the command to resume ${run}\n`);
  io.signal.throwIfAborted();
  say(shortTime(options, rows, lines.planned()));
  return found;
}

async function fitting(
  io: Io,
  rows: readonly Row[],
  schema: Schema,
  options: FittingCommand,
  say: (text: string) => void,
): Promise<Fitted | undefined> {
  const { map, run, seed, network } = options;
  const { columns, layout, others } = schema;
  const folder =
    run === undefined ? undefined : openFitFolder(run, rows, { ...options, columns, version });
  const chosen = await mapsFor(rows, {
    ...engineOf(options),
    map,
    mapStore: folder?.mapStore,
    columns,
    others,
    seed,
    network,
    signal: io.signal,
    onTried: (one) => say(triedLine(one)),
  });
  const found = asJobs(options, jobsFolder(options))
    ? await fitAsJobs(io, rows, { ...chosen, layout }, options)
    : await fitChosen(io, rows, { ...chosen, layout }, options, folder, say);
  return found && { ...found, maps: chosen.tried };
}

/**
 * Runs the fits of the command; `say` prints a text for the user. Returns undefined if this process
 * collects nothing: in a dry run, or as one shard of many.
 */
export async function runFit(
  io: Io,
  rows: readonly Row[],
  schema: Schema,
  options: FittingCommand,
  say: (text: string) => void,
): Promise<Fitted | undefined> {
  const { run } = options;
  if (asJobs(options, jobsFolder(options)) && (run !== undefined || options.minutes !== undefined))
    fail(
      "usage",
      run === undefined
        ? "a fit with --minutes is not reproducible, so it cannot be a job"
        : "--run stores only fits of this process",
      run === undefined ? "give --steps instead of --minutes" : "omit --run",
    );
  const fit = (): Promise<Fitted | undefined> => fitting(io, rows, schema, options, say);
  return run === undefined ? fit() : inFolder(run, fit);
}
