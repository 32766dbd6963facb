/**
 * What the networks of a fit share: time, reports, and weights chosen by the distance of samples.
 */

import type { RunStore } from "diffeo/train";
import type { Standard } from "../encode/index.ts";
import {
  type Coordinates,
  type EngineOptions,
  type FittedTable,
  type Flow,
  type GivenWeights,
  openedTable,
  withGraphs,
} from "../network/index.ts";
import { type DrawnRows, type DrawRows, drawRows, sampleGiven } from "../query/index.ts";
import { energyScores, rangesOf } from "./distance.ts";
import type { FitTableOptions, TableProgress } from "./fit-table-options.ts";
import type { PreparedRows } from "./prepare.ts";
import type { NetworkTraining, TrainingOptions } from "./training-options.ts";

/** Options of one network: a share of the time, and a store of its own. */
export const partOf = (
  { minutes, ...rest }: TrainingOptions,
  share: number,
  store: RunStore | undefined,
): TrainingOptions => ({
  ...rest,
  minutes: minutes === undefined ? undefined : share * minutes,
  store,
});

/**
 * Samples rows by one of the networks; that of given cells gets no given cells. Weights are those
 * of the moment, so graphs are compiled for them and freed.
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

/** The reports of a network's training. */
export const reportsOf = (
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

/** The minutes of a fit that are left: at least enough for one step. */
export function clockOf(minutes: number | undefined): () => number | undefined {
  const began = performance.now();
  return () =>
    minutes === undefined
      ? undefined
      : Math.max(LEAST_MINUTES, minutes - (performance.now() - began) / 60_000);
}

const LEAST_MINUTES = 1e-4;

/** What all networks of a fit are trained with. */
export function trainingOf(options: FitTableOptions): TrainingOptions {
  const { columns, layout, held, given, choose, ...training } = options;
  const { givenStore, flow, flowStore, onProgress, onMeasured, ...rest } = training;
  const { seed = 0 } = rest;
  return { ...rest, seed };
}

/**
 * How many measurements a run has whose weights are chosen by distance, and how many rows each
 * samples.
 */
const DISTANCES = 10;

const COMPARED = 1024;

/** Held-out rows that they are compared with at most. */
const MOST_COMPARED = 512;

/** Evaluations of the network per row of them. */
const COARSE = 16;

/** Options that choose weights by the distance of their samples to held-out rows. */
export function byDistance(
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
