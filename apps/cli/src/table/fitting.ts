/**
 * The fits that one command asks for: maps that are chosen first, several seeds, all kept in a
 * folder if it says so.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Domain, domainOf } from "diffeo/domain";
import { fail } from "diffeo/graph";
import { byName, mapValues } from "diffeo/host";
import { inFolder, type RunConfig, RunFolder, readJson, writeFileAtomic } from "diffeo/node";
import { canonical } from "diffeo-queue";
import {
  chooseMaps,
  type FlowKind,
  fitSeeds,
  flowKinds,
  heldOut,
  type NetworkKind,
  type Row,
  type SeedsFit,
  type TriedMap,
  usualSteps,
} from "diffeo-tables";
import * as v from "valibot";
import type { Io } from "../shell/io.ts";
import { engineOf, type RunOptions } from "../shell/options.ts";
import { inParts, type PartOptions } from "../shell/parts.ts";
import { progress } from "../shell/progress.ts";
import { version } from "../shell/version.ts";
import { fitInParts, partsFolder } from "./fit-parts.ts";

/**
 * The maps that one can ask for: those of the columns, what short fits choose, or a flow after
 * those of the columns.
 */
export const mapChoices = ["usual", "auto", "affine-flow", "spline-flow"] as const;

export interface FittingCommand extends RunOptions, PartOptions {
  readonly out: string;
  readonly minutes?: number;
  readonly steps?: number;
  /** Whether there is a network of given cells. */
  readonly given: boolean;
  readonly seeds: number;
  readonly map: (typeof mapChoices)[number];
  readonly network: NetworkKind;
  /** Where runs are kept. */
  readonly run?: string;
}

export interface Fitted extends SeedsFit {
  readonly maps: readonly TriedMap[];
}

type Columns = Readonly<Record<string, Domain>>;

interface Maps {
  readonly columns: Columns;
  readonly flow?: FlowKind;
  readonly maps: readonly TriedMap[];
}

/** What tells rows from other rows. */
function digestOf(rows: readonly Row[]): string {
  const hash = createHash("sha256");
  for (const row of rows) hash.update(JSON.stringify(row));
  return `${rows.length} rows, SHA-256 ${hash.digest("hex").slice(0, 12)}…`;
}

const specsOf = (columns: Columns): Record<string, unknown> =>
  mapValues(columns, ({ spec }) => spec);

/** What shapes the numbers of a run. */
const configOf = (
  rows: readonly Row[],
  { columns, flow }: Maps,
  seed: number,
  options: FittingCommand,
): RunConfig => {
  const { minutes, steps, seeds, network } = options;
  return {
    version,
    data: digestOf(rows),
    columns: specsOf(columns),
    network,
    flow,
    seed,
    steps,
    ...(minutes !== undefined && { minutes: minutes / seeds }),
  };
};

/** The folder of a seed's run: as it was left, or new. */
async function runOf(path: string, config: RunConfig): Promise<RunFolder> {
  return existsSync(join(path, "config.json"))
    ? RunFolder.open(path, config)
    : RunFolder.create(path, config);
}

// JSON has no NaN, which is what a map that could not be compared has gained.
const number = v.union([
  v.number(),
  v.pipe(
    v.null(),
    v.transform(() => Number.NaN),
  ),
]);
const mapsFile = {
  schema: v.strictObject({
    /** What they were chosen for. */
    data: v.string(),
    asked: byName(v.unknown()),
    seed: v.number(),
    network: v.string(),
    columns: byName(v.unknown()),
    flow: v.optional(v.picklist(flowKinds)),
    maps: v.array(
      v.strictObject({ map: v.string(), gain: number, error: number, kept: v.boolean() }),
    ),
  }),
  what: "file of chosen maps",
  remedy: "move it away, and they are chosen anew",
};

/** The maps that a run wrote down, if they were chosen for what is asked now. */
async function keptMaps(path: string, now: Readonly<Record<string, unknown>>): Promise<Maps> {
  const { columns, flow, maps, ...before } = await readJson(path, mapsFile);
  if (canonical(before) !== canonical(now))
    fail(
      "usage",
      `the maps of ${path} were chosen for other rows or settings`,
      "give the same, or another --run",
    );
  return {
    columns: mapValues(columns, (spec, name) => domainOf(spec, `column ${name}`)),
    maps,
    flow,
  };
}

const triedLine = ({ map, gain, error, kept }: TriedMap): string =>
  `${map}: ${gain < 0 ? "−" : "+"}${Math.abs(gain).toFixed(3)} ± ${error.toFixed(3)} nats a row${kept ? ", kept" : ""}\n`;

/** The maps that short fits choose; a run that goes on has them written down. */
async function mapsOf(
  io: Io,
  rows: readonly Row[],
  columns: Columns,
  options: FittingCommand,
  say: (text: string) => void,
): Promise<Maps> {
  const { map, run, seed } = options;
  if (map !== "auto") {
    const flow = flowKinds.find((kind) => map === `${kind}-flow`);
    return { columns, maps: [], flow };
  }
  const path = run === undefined ? undefined : join(run, "maps.json");
  const asked = { data: digestOf(rows), asked: specsOf(columns), seed, network: options.network };
  if (path !== undefined && existsSync(path)) return keptMaps(path, asked);
  const { tried: maps, ...chosen } = await chooseMaps(rows, {
    columns,
    seed,
    network: options.network,
    ...engineOf(options),
    signal: io.signal,
    onTried: (one) => say(triedLine(one)),
  });
  if (path !== undefined)
    await writeFileAtomic(
      path,
      `${JSON.stringify({ ...asked, ...chosen, columns: specsOf(chosen.columns), maps }, undefined, 1)}\n`,
    );
  return { ...chosen, maps };
}

const fitted = { given: "given cells", whole: "rows", flow: "a flow" } as const;

async function fitting(
  io: Io,
  rows: readonly Row[],
  columns: Columns,
  options: FittingCommand,
  say: (text: string) => void,
): Promise<Fitted | undefined> {
  const { minutes, steps, given, network, seed, seeds, run } = options;
  const chosen = await mapsOf(io, rows, columns, options, say);
  if (inParts(options, partsFolder(options))) {
    const found = await fitInParts(io, rows, chosen, options);
    return found && { ...found, maps: chosen.maps };
  }
  let bar: ReturnType<typeof progress> | undefined;
  let what = "";
  let stage: string | undefined;
  /** Steps of the last network, that of whole rows. */
  let planned = 0;
  const found = await fitSeeds(rows, {
    columns: chosen.columns,
    flow: chosen.flow,
    network,
    seed,
    seeds,
    given,
    ...engineOf(options),
    ...(minutes !== undefined && { minutes }),
    ...(steps !== undefined && { steps }),
    ...(run !== undefined && {
      storeOf: (one, part) =>
        runOf(
          join(run, `seed-${one}${part === "whole" ? "" : `-${part}`}`),
          configOf(rows, chosen, one, options),
        ),
    }),
    signal: io.signal,
    onSeed: (one) => {
      bar?.end();
      bar = undefined;
      what = seeds > 1 ? `, seed ${one}` : "";
    },
    onProgress: ({ network: part, step, steps: all, loss, validation }) => {
      if (part !== stage) bar?.end();
      if (part !== stage || !bar)
        bar = progress(io.stderr, all, `fitting ${fitted[part]}${what}`, step);
      stage = part;
      planned = all;
      bar.update(step, `loss ${loss.toFixed(3)}, held out ${validation.toFixed(3)}`);
    },
  }).finally(() => bar?.end());
  if (io.signal.aborted && run !== undefined)
    say(`interrupted; the same command continues it: ${run}\n`);
  io.signal.throwIfAborted();
  const wanted = steps ?? usualSteps(heldOut(rows.length).seen.length);
  if (minutes !== undefined && planned > 0 && planned < wanted / 2)
    say(
      `the time was enough for ${planned} ${planned === 1 ? "step" : "steps"}, and ${wanted} ${steps === undefined ? "are usual for so many rows" : "were asked for"}: more --minutes do better\n`,
    );
  return { ...found, maps: chosen.maps };
}

/**
 * Fits as the command says; `say` is told what a person should read. Nothing is returned where
 * there is nothing to collect: a dry run, or one shard of many.
 */
export async function fitAsAsked(
  io: Io,
  rows: readonly Row[],
  columns: Columns,
  options: FittingCommand,
  say: (text: string) => void,
): Promise<Fitted | undefined> {
  const { run } = options;
  if (
    inParts(options, partsFolder(options)) &&
    (run !== undefined || options.minutes !== undefined)
  )
    fail(
      "usage",
      `${run === undefined ? "a fit that ends by the clock is not the same twice, and no part" : "--run keeps fits of this process"}`,
      run === undefined ? "give --steps instead of --minutes" : "leave --run out",
    );
  if (run === undefined) return fitting(io, rows, columns, options, say);
  const own = Object.entries(columns).find(([, { spec }]) => !spec);
  if (own)
    fail(
      "usage",
      `"${own[0]}" has a domain of one's own, which no folder can hold`,
      "leave out --run",
    );
  return inFolder(run, () => fitting(io, rows, columns, options, say));
}
