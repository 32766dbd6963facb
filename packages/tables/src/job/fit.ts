/** Fits of a table as jobs: one per seed, from the rows to the model. */
import { type Domain, domainOf } from "diffeo/domain";
import { fail } from "diffeo/graph";
import { byName, concatArrays, mapValues } from "diffeo/host";
import { inputOf, type Job, jobOf, type Kind } from "diffeo/job";
import * as v from "valibot";
import type { Row } from "../diffusion/encode/index.ts";
import { parseTableModel, serializeTableModel } from "../diffusion/file/index.ts";
import {
  fitTable,
  isDrawnBySeed,
  type WeightChoice,
  weightChoices,
} from "../diffusion/fit/index.ts";
import {
  type FlowKind,
  flowKinds,
  type NetworkKind,
  networkKinds,
} from "../diffusion/network/index.ts";
import type { TableModel } from "../diffusion/query/index.ts";

const whole = (least: number, most: number) =>
  v.pipe(v.number(), v.safeInteger(), v.minValue(least), v.maxValue(most));

/** The settings of a fit in a job. */
export interface TableFitParameters {
  readonly seed: number;
  /** Default: the result of `usualSteps`. */
  readonly steps?: number;
  /** Whether there is a network of given cells. */
  readonly given: boolean;
  readonly network: NetworkKind;
  readonly flow?: FlowKind;
  /** The criterion by which weights are chosen. Default loss. */
  readonly choose?: WeightChoice;
  /** The domains of the columns, as plain data. */
  readonly columns: Readonly<Record<string, unknown>>;
}

/** The input of fits: the rows of the table. */
export interface TableFitInputs {
  readonly rows: readonly Row[];
}

const parameters: v.GenericSchema<unknown, TableFitParameters> = v.strictObject({
  seed: whole(0, Number.MAX_SAFE_INTEGER),
  steps: v.optional(whole(1, 10_000_000)),
  given: v.boolean(),
  network: v.picklist(networkKinds),
  flow: v.optional(v.picklist(flowKinds)),
  choose: v.optional(v.picklist(weightChoices)),
  columns: byName(v.unknown()),
});

const table = v.pipe(
  v.string(),
  v.parseJson(),
  v.array(v.array(v.nullable(v.union([v.string(), v.number()])))),
);

function misfitOf(
  { domain, training, given }: TableModel,
  job: TableFitParameters,
): string | undefined {
  if (domain.parts.map(({ name }) => name).join("\n") !== Object.keys(job.columns).join("\n"))
    return "its columns differ from those of the job";
  if (training.seed !== job.seed)
    return `its seed is ${training.seed}, but the job's is ${job.seed}`;
  if (given && !job.given) return "it has a network of given cells, but the job has none";
  return undefined;
}

/** A fit of a table as a kind of job: `fitTable` of one seed. */
export const tableFitKind: Kind<TableFitParameters, TableFitInputs, TableModel> = {
  name: "table/fit",
  version: 2,
  parameters,
  inputs: {
    rows: (bytes, source) => {
      const rows = v.safeParse(table, new TextDecoder().decode(bytes));
      return rows.success
        ? rows.output
        : fail("data", `${source} does not contain rows`, "send the job again");
    },
  },
  run: async (
    { seed, steps, given, network, flow, choose, columns },
    { input, device, threads, report, signal },
  ) =>
    fitTable(await input("rows"), {
      columns: mapValues(columns, (spec, name) => domainOf(spec, `column ${name}`)),
      seed,
      given,
      network,
      device,
      flow,
      choose,
      steps,
      threads,
      signal,
      onProgress: ({ step, steps: all }) => report(step / all),
    }),
  serialize: (model) =>
    concatArrays((length) => new Uint8Array(length), serializeTableModel(model)),
  parse: (bytes, source) => parseTableModel(bytes, source),
  misfit: misfitOf,
};

/** The options that all fits share. */
export interface TableFitJobsOptions extends Omit<TableFitParameters, "columns" | "seed"> {
  readonly columns: Readonly<Record<string, Domain>>;
  /** The first seed, and the number of seeds. */
  readonly seed: number;
  readonly seeds: number;
  /** The device that computes them. Default `cpu`. */
  readonly device?: string;
}

/**
 * Fits of rows as jobs, one per seed; `bestOfSeeds` chooses among the models.
 *
 * @throws DiffeoError of kind `usage` if seeds cannot share a flow, because completed or spread
 * rows differ between seeds
 */
export function tableFitJobs(
  rows: readonly Row[],
  { seed, seeds, columns, device, ...run }: TableFitJobsOptions,
): Job<TableFitParameters, TableFitInputs, TableModel>[] {
  if (run.flow && seeds > 1 && isDrawnBySeed(rows, columns))
    fail(
      "usage",
      "rows with empty cells, or with integers of a wide range, differ between seeds, so the " +
        "seeds cannot share one flow",
      "fit all seeds in one process, or without a flow",
    );
  const inputs = { rows: inputOf(() => new TextEncoder().encode(JSON.stringify(rows)), rows) };
  const specs = mapValues(columns, ({ spec }) => spec);
  return Array.from({ length: seeds }, (_, i) =>
    jobOf(tableFitKind, { ...run, seed: seed + i, columns: specs }, { device, inputs }),
  );
}
