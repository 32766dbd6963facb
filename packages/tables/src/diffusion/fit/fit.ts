/**
 * From rows to a model, in stages:
 *
 *   rows → points z, standardised, a tenth held out        `prepare.ts`
 *   z → the network of given and hidden parts              `given.ts`, where rows have missing
 *                                                          values or cells shall be given
 *   z → z without missing values                           sampled from that network
 *   z → x = T(w)                                           `train-flow.ts`, where a flow is wanted
 *   x → the network of whole rows                          `train.ts`
 *
 * Rows may have missing values. The network of given parts is trained on what is there. It then
 * samples the missing values of every row given the rest of the row, a few times each, and the
 * network of whole rows is trained on the rows so completed. Where cells are missing at random, for
 * reasons that the rest of the row shows, completed rows have the distribution of the table. Rows
 * without missing values would have another distribution.
 */

import type { NdArray } from "diffeo/graph";
import { mapRows, namedColumns, type Row, standardMap } from "../encode/index.ts";
import {
  type Coordinates,
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
import { completedPoints, openTable, type RowObject, type TableModel } from "../query/index.ts";
import { fitMasked } from "./fit-masked.ts";
import { requireFit } from "./fit-options.ts";
import { byDistance, clockOf, partOf, reportsOf, trainingOf } from "./fit-parts.ts";
import type { FitTableOptions, Plans, RefitTableOptions } from "./fit-table-options.ts";
import { trainGiven } from "./given.ts";
import { type PreparedRows, preparedRows, type SplitPoints } from "./prepare.ts";
import { trainScore } from "./train.ts";
import { trainFlow } from "./train-flow.ts";
import type { NetworkTraining, TrainingOptions } from "./training-options.ts";

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
  // The type of rows by name is known only for those that the model was fitted to.
  const model: unknown = await fitPoints(prepared, rows.length, options);
  return model as TableModel<RowObject<R>>;
}

/**
 * Fits a model again to all rows, those that its fit held out among them, for as many steps as
 * that fit chose by the held-out rows. Nothing is held out then, so the model must be evaluated
 * before. Where rows are few, a tenth more is a large gain.
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
