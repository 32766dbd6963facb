/**
 * A folder that stores the fits of one command: the maps that were chosen, and the run of each
 * seed's networks. Opened again with the same rows and settings, it continues them.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { type Domain, domainOf } from "diffeo/domain";
import { fail } from "diffeo/graph";
import { byName, mapValues } from "diffeo/host";
import { type RunConfig, RunFolder, readJson, writeFileAtomic } from "diffeo/node";
import * as v from "valibot";
import type { Row } from "../diffusion/encode/index.ts";
import type {
  ChosenMaps,
  FitSeedsOptions,
  MapStore,
  WeightChoice,
} from "../diffusion/fit/index.ts";
import type { FlowKind, NetworkKind } from "../diffusion/network/index.ts";

type Columns = Readonly<Record<string, Domain>>;

/** The settings that determine the numbers of the fits in a folder. */
export interface FitFolderOptions {
  /** The columns before maps are chosen. */
  readonly columns: Columns;
  readonly network: NetworkKind;
  readonly seed: number;
  readonly seeds: number;
  readonly steps?: number;
  readonly minutes?: number;
  /** The criterion by which weights are chosen. Default loss. */
  readonly choose?: WeightChoice;
  /** Facts about the program, for the record. */
  readonly version?: string;
}

/** A folder that stores the runs of a fit, so that they can be continued. */
export interface FitFolder {
  readonly mapStore: MapStore;
  /** The folder of the runs of a fit with these maps. */
  readonly storeOf: (maps: ChosenMaps) => NonNullable<FitSeedsOptions["storeOf"]>;
}

/** Identifies rows. */
function digestOf(rows: readonly Row[]): string {
  const hash = createHash("sha256");
  for (const row of rows) hash.update(JSON.stringify(row));
  return `${rows.length} rows, SHA-256 ${hash.digest("hex").slice(0, 12)}…`;
}

const specsOf = (columns: Columns): Record<string, unknown> =>
  mapValues(columns, ({ spec }) => spec);

// JSON has no NaN, which is the gain of a map that could not be compared.
const number = v.union([
  v.number(),
  v.pipe(
    v.null(),
    v.transform(() => Number.NaN),
  ),
]);
const mapsFile = (flowKinds: readonly FlowKind[]) => ({
  schema: v.strictObject({
    /** The rows and settings that they were chosen for. */
    data: v.string(),
    asked: byName(v.unknown()),
    seed: v.number(),
    network: v.string(),
    columns: byName(v.unknown()),
    flow: v.optional(v.picklist(flowKinds)),
    maps: v.array(
      v.strictObject({
        map: v.string(),
        gain: number,
        error: number,
        kept: v.boolean(),
        unit: v.optional(v.literal("energy score")),
      }),
    ),
  }),
  what: "file of chosen maps",
  remedy: "move it away, so that maps are chosen again",
});

/** The chosen maps in a file, for the rows and settings they were chosen for. */
function mapStoreIn(path: string, now: Readonly<Record<string, unknown>>): MapStore {
  return {
    load: async () => {
      if (!existsSync(path)) return undefined;
      // Loaded here: fits of densities need the files of this package, but no networks.
      const { flowKinds } = await import("../diffusion/network/index.ts");
      const { columns, flow, maps: tried, ...before } = await readJson(path, mapsFile(flowKinds));
      if (!isDeepStrictEqual(before, JSON.parse(JSON.stringify(now))))
        fail(
          "usage",
          `the maps of ${path} were chosen for other rows or settings`,
          "use the same rows and settings, or another --run",
        );
      return {
        columns: mapValues(columns, (spec, name) => domainOf(spec, `column ${name}`)),
        flow,
        tried,
      };
    },
    save: ({ columns, flow, tried: maps }) =>
      writeFileAtomic(
        path,
        `${JSON.stringify({ ...now, columns: specsOf(columns), flow, maps }, undefined, 1)}\n`,
      ),
  };
}

/** The folder of a network's run, new or to be continued. */
const runAt = (path: string, config: RunConfig): Promise<RunFolder> =>
  existsSync(join(path, "config.json"))
    ? RunFolder.open(path, config)
    : RunFolder.create(path, config);

/** Opens a folder for fits to rows. Writes nothing yet. */
export function openFitFolder(
  folder: string,
  rows: readonly Row[],
  options: FitFolderOptions,
): FitFolder {
  const { columns, network, seed, seeds, steps, minutes, choose, version } = options;
  const custom = Object.entries(columns).find(([, { spec }]) => !spec);
  if (custom)
    fail(
      "usage",
      `"${custom[0]}" has a custom domain, which cannot be stored in a folder`,
      "omit --run",
    );
  const data = digestOf(rows);
  return {
    mapStore: mapStoreIn(join(folder, "maps.json"), {
      data,
      asked: specsOf(columns),
      seed,
      network,
    }),
    storeOf: (maps) => (own, part) =>
      runAt(join(folder, `seed-${own}${part === "whole" ? "" : `-${part}`}`), {
        version,
        data,
        columns: specsOf(maps.columns),
        network,
        flow: maps.flow,
        // Absent, as in folders from before this option existed.
        choose: choose === "loss" ? undefined : choose,
        seed: own,
        steps,
        minutes: minutes === undefined ? undefined : minutes / seeds,
      }),
  };
}
