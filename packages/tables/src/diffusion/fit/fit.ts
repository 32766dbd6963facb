/**
 * From rows to a model, in stages:
 *
 *   rows → points z, standardised, a tenth held out        `prepare.ts`
 *   z → the network of given and hidden parts              `given.ts`, where rows have missing values or cells shall be given
 *   z → z without missing values                           sampled from that network
 *   z → x = T(w)                                           `train-flow.ts`, where a flow is wanted
 *   x → the network of whole rows                          `train.ts`
 *
 * Rows may have missing values. The network of given parts is trained on what is there. It then
 * samples the missing values of every row given the rest of the row, a few times each, and the
 * network of whole rows is trained on the rows so completed. Where cells are missing at random, for
 * reasons that the rest of the row shows, completed rows have the distribution of the table; rows
 * without missing values alone would have another.
 */
import type { Domain } from "diffeo/domain";
import type { NdArray } from "diffeo/graph";
import type { RunStore } from "diffeo/train";
import { mapRows, namedColumns, type Row, type Standard, standardMap } from "../encode/index.ts";
import type { TableLayout } from "../kinds/index.ts";
import {
  type Coordinates,
  type EngineOptions,
  type FittedTable,
  type Flow,
  type FlowKind,
  type GivenWeights,
  givenCoordinates,
  headOf,
  intoFlow,
  openedTable,
  withGraphs,
} from "../network/index.ts";
import {
  completedPoints,
  type DrawnRows,
  type DrawRows,
  drawRows,
  openTable,
  type RowObject,
  sampleGiven,
  type TableModel,
} from "../query/index.ts";
import { energyScores, rangesOf } from "./distance.ts";
import { requireFit, type WeightChoice } from "./fit-options.ts";
import { trainGiven } from "./given.ts";
import { binsOf, trainMasked } from "./masked.ts";
import { type PreparedRows, preparedRows, type SplitPoints } from "./prepare.ts";
import {
  type NetworkTraining,
  type TrainingOptions,
  type TrainingProgress,
  trainScore,
} from "./train.ts";
import { trainFlow } from "./train-flow.ts";

/** How far a fit is. */
export interface TableProgress extends TrainingProgress {
  /**
   * What is trained: the network of rows with given cells and missing values, that of the whole
   * table, or a flow before it.
   */
  readonly network: "given" | "whole" | "flow";
}

/** The domains of the columns, and how a table is fitted. */
export interface FitTableOptions extends Omit<TrainingOptions, "onProgress" | "onWeights"> {
  /** Domains by name: a column's, or that of a group of columns that the domain names itself. */
  readonly columns: Readonly<Record<string, Domain>>;
  /** The columns that rows are written with, where some of them have no domain (`layoutOf`). */
  readonly layout?: TableLayout;
  /**
   * The share of rows that training does not see, of no more than 5,000 rows. Default 0.1, and 0.2
   * where weights are chosen by distance.
   */
  readonly held?: number;
  /**
   * What the weights of the network of whole rows are chosen by: the loss on held-out rows, which
   * bounds their likelihood, or the distance of sampled rows to them (`distance.ts`). Of a few
   * hundred rows the loss is least after a few hundred steps, where samples are still too far
   * spread; by distance likelihoods are worse and samples better, and nearer to rows of training.
   * Default loss.
   */
  readonly choose?: WeightChoice;
  /**
   * Whether rows can be drawn given some of their cells, for which a second network is trained.
   * Default true; where rows have missing values it is trained in any case.
   */
  readonly given?: boolean;
  /**
   * A flow of couplings as the last link of φ (`flow.ts`), to be trained or of another fit to these
   * rows. Default none.
   */
  readonly flow?: FlowKind | Flow;
  /** Where the runs of the second network and of the flow are kept. Default: memory. */
  readonly givenStore?: RunStore;
  readonly flowStore?: RunStore;
  readonly onProgress?: (progress: TableProgress) => void;
  /**
   * Called at every measurement with a way to draw rows by the weights as they are by then, of the
   * network that is being trained. Training waits for it.
   */
  readonly onMeasured?: (draw: (options: DrawRows) => Promise<DrawnRows>) => Promise<void> | void;
}

/** Rows are completed as often as it takes to have so many, and at most four times. */
const ENOUGH = 10_000;
const DRAWS = 4;
/** The share of its time that a network leaves to a flow. */
const FLOW_SHARE = 0.25;

/** Points several times over, their missing values sampled each time. */
async function completed(
  model: FittedTable,
  z: Float64Array,
  seed: number,
  options: TrainingOptions,
): Promise<Float64Array> {
  const rows = z.length / givenCoordinates(model).domain.dimension;
  const draws = Math.max(1, Math.min(DRAWS, Math.floor(ENOUGH / rows)));
  const all = new Float64Array(draws * z.length);
  for (let k = 0; k < draws; k++) all.set(z, k * z.length);
  const { signal } = options;
  return withGraphs(options, (graphs) =>
    completedPoints(openedTable(model, graphs), all, { seed, signal }),
  );
}

/** Options of one network: a share of the time, and a store of its own. */
const partOf = (
  { minutes, ...rest }: TrainingOptions,
  share: number,
  store: RunStore | undefined,
): TrainingOptions => ({
  ...rest,
  minutes: minutes === undefined ? undefined : share * minutes,
  store,
});

/**
 * Points in x: standardised, and taken through a flow, which is trained here unless it is given.
 */
async function pointsInX(
  coordinates: Coordinates,
  { seen, unseen }: SplitPoints,
  wanted: FlowKind | Flow | undefined,
  options: TrainingOptions,
): Promise<{ readonly seen: NdArray; readonly unseen: NdArray; readonly flow?: Flow }> {
  const n = coordinates.domain.dimension;
  const array = (from: Float64Array): NdArray => ({
    shape: [from.length / n, n],
    dtype: "float32",
    data: Float32Array.from(from),
  });
  const [inside, outside] = [seen, unseen].map((z) =>
    mapRows(z, n, standardMap(coordinates.standard).inverse),
  );
  if (wanted === undefined) return { seen: array(inside), unseen: array(outside) };
  const flow =
    typeof wanted === "object"
      ? wanted
      : // The same for all seeds, which are compared by their loss in its x.
        await trainFlow(coordinates, array(inside), array(outside), {
          ...options,
          seed: 0,
          kind: wanted,
        });
  return withGraphs(options, async (graphs) => {
    const through = async (w: Float64Array): Promise<NdArray> =>
      array((await intoFlow(flow, w, graphs)).x);
    return { seen: await through(inside), unseen: await through(outside), flow };
  });
}

/**
 * Samples rows by one of the networks: that of given cells is given none. Its weights are of the
 * moment, and so are the graphs.
 */
const samplerOf =
  (
    coordinates: Coordinates & Pick<FittedTable, "flow" | "bins" | "related">,
    network: TableProgress["network"],
    weights: GivenWeights,
    engine: EngineOptions,
  ) =>
  (options: DrawRows): Promise<DrawnRows> =>
    withGraphs(engine, (graphs) =>
      network === "given"
        ? sampleGiven(
            openedTable({ ...coordinates, given: weights } as FittedTable, graphs),
            {},
            options,
          )
        : drawRows(openedTable({ ...coordinates, ...weights } as FittedTable, graphs), options),
    );

/** What a network's training reports, and to whom. */
const reportsOf = (
  { onProgress, onMeasured, ...engine }: FitTableOptions,
  coordinates: Coordinates & Pick<FittedTable, "flow" | "bins" | "related">,
  network: TableProgress["network"],
  standard?: Standard,
): Pick<TrainingOptions, "onProgress" | "onWeights"> => ({
  onProgress: onProgress && ((progress) => onProgress({ ...progress, network })),
  onWeights:
    onMeasured &&
    ((weights) =>
      onMeasured(
        samplerOf(coordinates, network, { ...weights, ...(standard && { standard }) }, engine),
      )),
});

/** Minutes of a fit that are left, of which the least is enough for one step. */
function clockOf(minutes: number | undefined): () => number | undefined {
  const began = performance.now();
  return () =>
    minutes === undefined
      ? undefined
      : Math.max(LEAST_MINUTES, minutes - (performance.now() - began) / 60_000);
}

const LEAST_MINUTES = 1e-4;

/** What all networks of a fit are trained with. */
function trainingOf(options: FitTableOptions): TrainingOptions {
  const { columns, layout, held, given, choose, ...training } = options;
  const { givenStore, flow, flowStore, onProgress, onMeasured, ...rest } = training;
  const { seed = 0 } = rest;
  return { ...rest, seed };
}

/** The network of given parts, with the standard that it works in. */
async function trainedGiven(
  { coordinates, givenStandard: standard, wide, ...points }: PreparedRows,
  options: FitTableOptions,
  training: NetworkTraining,
): Promise<GivenWeights> {
  const { seen, unseen } = wide ?? points;
  const own = {
    ...coordinates,
    ...(standard && { standard }),
    ...(wide && { domain: wide.related.domain }),
  };
  const { network, parameters, best } = await trainGiven(own, seen, unseen, wide?.related, {
    ...partOf(training, 1, options.givenStore),
    ...reportsOf(options, { ...coordinates, related: wide?.related }, "given", standard),
  });
  return { network, parameters, step: best, ...(standard && { standard }) };
}

/**
 * The points of rows with their missing values sampled given the rest, by the network of given
 * parts.
 */
async function withoutMissing(
  { coordinates, wide, ...points }: PreparedRows,
  given: GivenWeights | undefined,
  training: TrainingOptions,
): Promise<SplitPoints> {
  const { seen, unseen } = wide ?? points;
  const model = { ...coordinates, related: wide?.related, given } as FittedTable;
  const { seed = 0 } = training;
  const whole = await completed(model, seen, seed, training);
  return {
    seen: whole,
    unseen: unseen === seen ? whole : await completed(model, unseen, seed + 1, training),
  };
}

/** Measurements of a run whose weights are chosen by distance, and the rows that each samples. */
const DISTANCES = 10;
const COMPARED = 1024;
/** Held-out rows that they are compared with at most. */
const MOST_COMPARED = 512;
/** Evaluations of the network per row of them. */
const COARSE = 16;

/** Weights by the distance of their samples to the rows held out. */
function byDistance(
  { coordinates, cells, held }: PreparedRows,
  flow: Flow | undefined,
  options: FitTableOptions,
): Partial<NetworkTraining> {
  const ranges = rangesOf(cells);
  const unseen = Array.from(held, (row) => cells[row]).slice(0, MOST_COMPARED);
  return {
    measurements: DISTANCES,
    patience: Number.POSITIVE_INFINITY,
    score: async (weights) => {
      const { rows } = await samplerOf(
        { ...coordinates, flow },
        "whole",
        weights,
        options,
      )({
        ...{ count: COMPARED, evaluations: COARSE, signal: options.signal },
      });
      return energyScores(unseen, rows, ranges);
    },
  };
}

/** What the training of each network has of its own. */
interface Plans {
  readonly given?: Partial<NetworkTraining>;
  readonly whole?: Partial<NetworkTraining>;
}

/**
 * Trains a network of masked cells, and opens the model: one network, whatever is given or missing.
 */
async function fitMasked(
  prepared: PreparedRows,
  rows: number,
  options: FitTableOptions,
  plans: Plans,
): Promise<TableModel> {
  const { coordinates, seen, unseen } = prepared;
  const { seed = 0, layout } = options;
  const training = trainingOf(options);
  const own = { ...coordinates, bins: binsOf(coordinates, seen) };
  const { network, parameters, best, validation } = await trainMasked(own, seen, unseen, {
    ...{ ...training, ...reportsOf(options, own, "whole") },
    ...(options.choose === "distance" &&
      byDistance({ ...prepared, coordinates: own }, undefined, options)),
    ...plans.whole,
  });
  return openTable(
    {
      ...{ ...own, related: prepared.wide?.related, network, parameters, layout },
      training: { seed, rows, step: best, validation },
    },
    training,
  );
}

/** Trains the networks of points, and opens the model. */
async function fitPoints(
  prepared: PreparedRows,
  rows: number,
  options: FitTableOptions,
  plans: Plans = {},
): Promise<TableModel> {
  const { seed = 0, given: wanted = true, flow: kind } = options;
  const left = clockOf(options.minutes);
  const { coordinates, hasMissing } = prepared;
  if (options.network === "masked") return fitMasked(prepared, rows, options, plans);
  const isGiven = hasMissing || (wanted && coordinates.domain.parts.length > 1);
  const training = trainingOf(options);
  // Both networks, and what is between them, share the time.
  const given = isGiven
    ? await trainedGiven(prepared, options, {
        ...partOf({ ...training, minutes: left() }, 0.5, undefined),
        ...plans.given,
      })
    : undefined;
  const whole = hasMissing ? await withoutMissing(prepared, given, training) : prepared;
  const rest = { ...training, minutes: left() };
  const { flow, seen, unseen } = await pointsInX(coordinates, whole, kind, {
    ...partOf(rest, FLOW_SHARE, options.flowStore),
    ...reportsOf(options, coordinates, "flow"),
  });
  const { network, parameters, best, validation } = await trainScore(seen, unseen, {
    ...{ ...rest, minutes: left() },
    ...reportsOf(options, { ...coordinates, flow }, "whole"),
    ...(options.choose === "distance" && byDistance(prepared, flow, options)),
    ...plans.whole,
    head: headOf(coordinates),
  });
  return openTable(
    {
      ...coordinates,
      related: prepared.wide?.related,
      network,
      parameters,
      flow,
      given,
      layout: options.layout,
      training: { seed, rows, step: best, validation },
    },
    training,
  );
}

/**
 * Fits a model of rows whose columns live in the given domains, and opens it on the device and
 * threads that trained it.
 */
export async function fitTable<R extends Row>(
  rows: readonly R[],
  options: FitTableOptions,
): Promise<TableModel<RowObject<R>>> {
  requireFit(rows, options);
  const { columns, choose = "loss", seed = 0 } = options;
  const { held = choose === "loss" ? 0.1 : 0.2 } = options;
  const prepared = await preparedRows(rows, columns, held, seed, options.signal);
  // What its rows are by name is known of those it was fitted to alone.
  const model: unknown = await fitPoints(prepared, rows.length, options);
  return model as TableModel<RowObject<R>>;
}

/** How a model is fitted again: its columns, layout and flow are those it has. */
export type RefitTableOptions = Omit<
  FitTableOptions,
  | "columns"
  | "layout"
  | "flow"
  | "held"
  | "choose"
  | "steps"
  | "patience"
  | "minutes"
  | "store"
  | "givenStore"
  | "flowStore"
>;

/**
 * Fits a model again to all rows, those that its fit held out among them, for as many steps as that
 * fit chose by the held-out rows. Nothing is held out then: what is to be known of the model by
 * held-out rows has to be measured before. Of few rows, a tenth more is a large gain.
 */
export async function refitTable(
  rows: readonly Row[],
  { domain, related, layout, training, given, flow }: FittedTable,
  options: RefitTableOptions = {},
): Promise<TableModel> {
  const columns = namedColumns({ domain, related });
  const all: FitTableOptions = { ...options, columns, layout, flow, choose: "loss" };
  requireFit(rows, all);
  const as = (steps: number): NetworkTraining => ({ steps, measurements: 1 });
  const again = await fitPoints(
    await preparedRows(rows, columns, 0, options.seed ?? 0, options.signal),
    rows.length,
    all,
    { given: as(given?.step ?? training.step), whole: as(training.step) },
  );
  return { ...again, training: { ...again.training, validation: training.validation } };
}
