/** The seeds of a fit as jobs. */
import type { Domain } from "diffeo/domain";
import {
  bestOfSeeds,
  type FlowKind,
  type NetworkKind,
  openTable,
  type Row,
  type SeedsFit,
  type TableLayout,
  type TableModel,
  tableFitJobs,
  type WeightChoice,
} from "diffeo-tables";
import type { Io } from "../shell/io.ts";
import { planOrShard } from "../shell/job-groups.ts";
import type { JobOptions } from "../shell/job-options.ts";
import { collectJobs } from "../shell/jobs.ts";
import { engineOf, type RunOptions } from "../shell/options.ts";

interface SeedsCommand extends RunOptions, JobOptions {
  readonly out: string;
  readonly steps?: number;
  readonly given: boolean;
  readonly network: NetworkKind;
  readonly choose: WeightChoice;
  readonly seeds: number;
}

/** The folder in which shards store their fits. */
export const jobsFolder = ({ out }: Pick<SeedsCommand, "out">): string => `${out}.jobs`;

/**
 * The best of several seeds, each fitted as a job. Returns undefined if this process collects
 * nothing.
 */
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
  const { seed, seeds, steps, given, network, choose, device, threads } = options;
  const jobs = tableFitJobs(rows, {
    ...{ seed, seeds, steps, given, network, device, columns, flow },
    // The default is left out, so that jobs keep the digests they had before this option existed.
    choose: choose === "loss" ? undefined : choose,
  });
  const work = {
    what: "fitting",
    unit: "seeds",
    device,
    threads,
    folder: jobsFolder(options),
    signal: io.signal,
  };
  if (await planOrShard(io, options, work, () => [{ name: "seeds", jobs }])) return undefined;
  const models = await collectJobs(io, options, work, jobs, async (results) => {
    const found: TableModel[] = [];
    for await (const { value } of results) found.push(value);
    return found;
  });
  const best = bestOfSeeds(models);
  return { ...best, model: openTable({ ...best.model, layout }, engineOf(options)) };
}
