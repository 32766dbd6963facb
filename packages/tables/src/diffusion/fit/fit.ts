/**
 * From rows to a model: cells are encoded, mapped to x and standardised, a tenth is held out, and
 * the networks are trained.
 *
 * Rows may have holes. First the network of given and hidden parts is trained, on what is there
 * (`given.ts`). It then draws the holes of every row given the rest of the row, a few times each,
 * and the network of the whole table is trained on the rows so completed. Where cells are missing
 * at random, for reasons that the rest of the row shows, completed rows have the table's law; rows
 * without holes alone would have another.
 */
import { type Domain, type Product, product } from "diffeo/domain";
import { fail, type NdArray } from "diffeo/graph";
import { key as keyOf, permutation } from "diffeo/random";
import type { RunStore } from "diffeo/train";
import {
  atomsOf,
  cellNoise,
  cellsOf,
  codedRanges,
  coordinateName,
  encoded,
  mapped,
  pointsOf,
  type Row,
  standardMap,
  standardOf,
  withTails,
} from "../encode/index.ts";
import {
  type Coordinates,
  type EngineOptions,
  type FittedTable,
  type Flow,
  type FlowKind,
  headOf,
  intoFlow,
  openedTable,
  type Weights,
  withGraphs,
} from "../network/index.ts";
import {
  type DrawnRows,
  type DrawRows,
  drawRows,
  filledPoints,
  openTable,
  sampleGiven,
  type TableModel,
} from "../query/index.ts";
import { LEAST_ROWS, requireFit } from "./fit-options.ts";
import { trainGiven } from "./given.ts";
import { type TrainingOptions, type TrainingProgress, trainScore } from "./train.ts";
import { trainFlow } from "./train-flow.ts";

export interface TableProgress extends TrainingProgress {
  /**
   * What is trained: the network of rows with given cells and holes, that of the whole table, or a
   * flow before it.
   */
  readonly network: "given" | "whole" | "flow";
}

export interface FitTableOptions extends Omit<TrainingOptions, "onProgress" | "onWeights"> {
  /** Domains by name: a column's, or that of a group of columns that the domain names itself. */
  readonly columns: Readonly<Record<string, Domain>>;
  /** The share of rows that training does not see. Default 0.1, of no more than 5,000 rows. */
  readonly held?: number;
  /**
   * Whether rows can be drawn given some of their cells, for which a second network is trained.
   * Default true; where rows have holes it is trained in any case.
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

const MOST_HELD = 5000;
/** Rows are completed as often as it takes to have so many, and no more than four times. */
const ENOUGH = 10_000;
const DRAWS = 4;
/** The share of its time that a network leaves to a flow. */
const FLOW_SHARE = 0.25;

/** A column of nothing but holes is an error. */
function requireColumns(z: Float64Array, n: number, nameOf: (i: number) => string): void {
  const seen = new Uint8Array(n);
  for (let i = 0; i < z.length; i++) if (!Number.isNaN(z[i])) seen[i % n] = 1;
  const empty = seen.indexOf(0);
  if (empty >= 0) fail("data", `${nameOf(empty)} has holes in all rows`, "leave it out");
}

/** Some rows of z, but for those of nothing but holes. */
function rowsAt(z: Float64Array, n: number, order: ArrayLike<number>): Float64Array {
  const some = Array.from(order, (row) => z.subarray(row * n, (row + 1) * n)).filter(
    (row) => !row.every(Number.isNaN),
  );
  const out = new Float64Array(some.length * n);
  some.forEach((row, i) => {
    out.set(row, i * n);
  });
  return out;
}

/** Points several times over, their holes drawn each time. */
async function completed(
  model: FittedTable,
  z: Float64Array,
  seed: number,
  options: TrainingOptions,
) {
  const rows = z.length / model.domain.dimension;
  const draws = Math.max(1, Math.min(DRAWS, Math.floor(ENOUGH / rows)));
  const all = new Float64Array(draws * z.length);
  for (let k = 0; k < draws; k++) all.set(z, k * z.length);
  const { signal } = options;
  return withGraphs(options, (graphs) =>
    filledPoints(openedTable(model, graphs), all, { seed, signal }),
  );
}

/** Options for a share of the time, kept in a store of its own. */
const shared = (
  { store: _, minutes, ...rest }: TrainingOptions,
  share: number,
  own?: RunStore,
): TrainingOptions => ({
  ...rest,
  ...(minutes !== undefined && { minutes: share * minutes }),
  ...(own && { store: own }),
});

/**
 * Points z of rows that training sees and of others as x: standardised, and by a flow where there
 * is or shall be one.
 */
async function inX(
  coordinates: Coordinates,
  seen: Float64Array,
  unseen: Float64Array,
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
    mapped(z, n, standardMap(coordinates.standard).inverse),
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
 * Which rows of so many training sees, and which it is only measured on: the same for all seeds, so
 * that they can be compared.
 */
export function heldOut(rows: number, held = 0.1) {
  const order = permutation(keyOf("held"), rows).data;
  const kept = Math.min(MOST_HELD, Math.max(1, Math.round(held * rows)));
  return { held: order.subarray(0, kept), seen: order.subarray(kept) };
}

/**
 * Points without those of rows held out; but all codes, which are names of labels and no
 * measurements.
 */
function learnedFrom(
  z: Float64Array,
  n: number,
  held: ArrayLike<number>,
  codes: ReturnType<typeof codedRanges>,
) {
  const isCode = (i: number): boolean => codes.some(([from, to]) => i >= from && i < to);
  const numbers = Array.from({ length: n }, (_, i) => i).filter((i) => !isCode(i));
  const learned = z.slice();
  for (const row of Array.from(held)) for (const i of numbers) learned[row * n + i] = Number.NaN;
  return learned;
}

/**
 * Points z of rows in their domains, with tails where those that training sees have them, and what
 * z are standardised by.
 */
function pointsIn(
  plain: Product,
  rows: readonly Row[],
  split: ReturnType<typeof heldOut>,
  seed: number,
) {
  const domain = product(
    withTails(plain, rowsAt(pointsOf(rows, plain, seed), plain.dimension, split.seen)),
  );
  const n = domain.dimension;
  const cells = rows.map((row, i) => cellsOf(row, domain.columns, i, "refused"));
  const atoms = atomsOf(cells, domain);
  const nameOf = (i: number): string => coordinateName(domain, i);
  const z = encoded(cells, domain, cellNoise(rows.length, domain, seed), atoms);
  requireColumns(z, n, nameOf);
  const codes = codedRanges(domain, atoms);
  const standard = standardOf(learnedFrom(z, n, split.held, codes), n, nameOf, codes);
  return { domain, standard, atoms, z };
}

/**
 * Draws rows by one of the networks: that of given cells is given none. Its weights are of the
 * moment, and so are the graphs.
 */
const drawerOf =
  (
    coordinates: Pick<FittedTable, "domain" | "standard" | "atoms" | "flow">,
    network: TableProgress["network"],
    weights: Weights,
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

/**
 * Fits a model of rows whose columns live in the given domains, and opens it on the device and
 * threads that trained it.
 */
export async function fitTable(
  rows: readonly Row[],
  options: FitTableOptions,
): Promise<TableModel> {
  const {
    columns,
    held = 0.1,
    seed = 0,
    given: wanted = true,
    givenStore,
    flow: kind,
    flowStore,
    onProgress,
    onMeasured,
    ...rest
  } = options;
  requireFit(rows, options);
  const split = heldOut(rows.length, held);
  const { z, ...coordinates } = pointsIn(product(columns), rows, split, seed);
  const { domain } = coordinates;
  const n = domain.dimension;
  const open = z.some(Number.isNaN);
  const both = open || (wanted && domain.parts.length > 1);
  const training: TrainingOptions = {
    ...rest,
    seed,
    ...(both && rest.minutes !== undefined && { minutes: rest.minutes / 2 }),
  };
  let [seen, unseen] = [rowsAt(z, n, split.seen), rowsAt(z, n, split.held)];
  if (seen.length < n * (LEAST_ROWS - 1) || unseen.length === 0)
    fail(
      "data",
      `${(seen.length + unseen.length) / n} rows are too few to fit and to measure`,
      "fill some holes",
    );
  const told = (
    network: TableProgress["network"],
    flow?: Flow,
  ): Pick<TrainingOptions, "onProgress" | "onWeights"> => ({
    ...(onProgress && { onProgress: (progress) => onProgress({ ...progress, network }) }),
    ...(onMeasured && {
      onWeights: (weights) =>
        onMeasured(drawerOf({ ...coordinates, ...(flow && { flow }) }, network, weights, rest)),
    }),
  });
  let given: Weights | undefined;
  if (both) {
    const { network, parameters } = await trainGiven(coordinates, seen, unseen, {
      ...shared(training, 1),
      ...told("given"),
      ...(givenStore && { store: givenStore }),
    });
    given = { network, parameters };
  }
  if (open) {
    const filler = { ...coordinates, given } as FittedTable;
    [seen, unseen] = [
      await completed(filler, seen, seed, training),
      await completed(filler, unseen, seed + 1, training),
    ];
  }
  const { flow, ...points } = await inX(coordinates, seen, unseen, kind, {
    ...shared(training, FLOW_SHARE),
    ...told("flow"),
    ...(flowStore && { store: flowStore }),
  });
  const head = headOf(coordinates);
  const found = await trainScore(points.seen, points.unseen, {
    ...(flow ? shared(training, 1 - FLOW_SHARE, training.store) : training),
    ...told("whole", flow),
    head,
  });
  const { network, parameters, best: step, validation } = found;
  return openTable(
    {
      ...coordinates,
      network,
      parameters,
      ...(flow && { flow }),
      ...(given && { given }),
      training: { seed, rows: rows.length, step, validation },
    },
    rest,
  );
}
