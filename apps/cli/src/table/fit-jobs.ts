/** Fits of a table as jobs: one a seed, from the rows to the bytes of the model's file. */
import { type Domain, domainOf } from "diffeo/domain";
import { fail } from "diffeo/graph";
import { byName, mapValues } from "diffeo/host";
import { jobOf, type Kind } from "diffeo-queue";
import { sha256 } from "diffeo-queue/node";
import {
  bestOfSeeds,
  type FlowKind,
  fitTable,
  flowKinds,
  isDrawnBySeed,
  type NetworkKind,
  networkKinds,
  openTable,
  parseTableModel,
  type Row,
  type SeedsFit,
  serializeTableModel,
  type TableLayout,
  type TableModel,
} from "diffeo-tables";
import * as v from "valibot";
import type { Io } from "../shell/io.ts";
import { doJobs, type JobOptions, RELEASE, requireNone } from "../shell/jobs.ts";
import { engineOf, MOST, type RunOptions } from "../shell/options.ts";

const whole = (least: number, most: number) =>
  v.pipe(v.number(), v.safeInteger(), v.minValue(least), v.maxValue(most));

export interface TableFitJob {
  readonly seed: number;
  readonly steps?: number;
  /** Whether there is a network of given cells. */
  readonly given: boolean;
  readonly network: NetworkKind;
  readonly flow?: FlowKind;
  /** The domains of the columns, as they are written down. */
  readonly columns: Readonly<Record<string, unknown>>;
}

const parameters: v.GenericSchema<unknown, TableFitJob> = v.strictObject({
  seed: whole(0, MOST.seed),
  steps: v.optional(whole(1, MOST.steps)),
  given: v.boolean(),
  network: v.picklist(networkKinds),
  flow: v.optional(v.picklist(flowKinds)),
  columns: byName(v.unknown()),
});

const table = v.pipe(
  v.string(),
  v.parseJson(),
  v.array(v.array(v.nullable(v.union([v.string(), v.number()])))),
);

export const tableFitKind: Kind<TableFitJob, TableModel> = {
  name: "table/fit",
  version: 2,
  parameters,
  run: async (
    { seed, steps, given, network, flow, columns },
    { input, device, threads, report, signal },
  ) => {
    const rows = v.safeParse(table, new TextDecoder().decode(await input("rows")));
    if (!rows.success) return fail("data", 'the input "rows" is no rows', "send the job again");
    return fitTable(rows.output, {
      columns: mapValues(columns, (spec, name) => domainOf(spec, `column ${name}`)),
      seed,
      given,
      network,
      device,
      flow,
      steps,
      threads,
      signal,
      onProgress: ({ step, steps: all }) => report(step / all),
    });
  },
  make: (model) => Buffer.concat(serializeTableModel(model)),
  parse: (bytes, source) => parseTableModel(bytes, source),
};

interface SeedsCommand extends RunOptions, JobOptions {
  readonly out: string;
  readonly steps?: number;
  readonly given: boolean;
  readonly network: NetworkKind;
  readonly seeds: number;
}

/** Where shards leave their fits. */
export const jobsFolder = ({ out }: Pick<SeedsCommand, "out">): string => `${out}.jobs`;

/** The best of several seeds, each fitted as a job. Nothing where there is nothing to collect. */
export async function fitAsJobs(
  io: Io,
  rows: readonly Row[],
  {
    columns,
    flow,
    layout,
  }: {
    readonly columns: Readonly<Record<string, Domain>>;
    readonly flow?: FlowKind;
    readonly layout: TableLayout;
  },
  options: SeedsCommand,
): Promise<SeedsFit | undefined> {
  const { seed: first, seeds, steps, given, network, device, threads } = options;
  if (flow && seeds > 1 && isDrawnBySeed(rows, columns))
    fail(
      "usage",
      "rows with empty cells, or with whole numbers of a wide range, are not the same for all seeds, which share the flow that the first of them learns",
      "fit all seeds in one process, or without a flow",
    );
  const input = Buffer.from(JSON.stringify(rows));
  const specs = mapValues(columns, ({ spec }) => spec);
  const setting = { release: RELEASE, device, inputs: { rows: sha256(input) } };
  const groups = Array.from({ length: seeds }, (_, i) => {
    const job = {
      ...{ seed: first + i, given, network, columns: specs },
      ...(flow && { flow }),
      ...(steps !== undefined && { steps }),
    };
    return {
      name: `seed ${first + i}`,
      jobs: [{ job: jobOf(tableFitKind, job, setting), size: 1 }],
    };
  });
  const models: TableModel[] = [];
  const failed = await doJobs<TableFitJob, TableModel>(
    io,
    options,
    {
      ...{
        what: "fitting",
        unit: "seeds",
        kind: tableFitKind,
        device,
        inputs: [input],
        signal: io.signal,
      },
      ...{ folder: jobsFolder(options), threads },
    },
    groups,
    async ({ results: [model] }, i) => {
      models[i] = model;
    },
  );
  if (!failed) return undefined;
  requireNone(io, failed);
  const best = bestOfSeeds(models);
  return { ...best, model: openTable({ ...best.model, layout }, engineOf(options)) };
}
