/** Measures of samples compared with rows, and of their distance to training rows. */

import type { Product } from "diffeo/domain";
import type { NdArray } from "diffeo/graph";
import { pickRows } from "diffeo/host";
import { fold, key as keyOf } from "diffeo/random";
import { energyDistance } from "diffeo/two-sample";
import { wholeRows } from "../diffusion/encode/index.ts";
import { attributesOf } from "./attributes.ts";
import { someRows } from "./baseline/baselines.ts";
import { rowsAuc } from "./classifier.ts";
import { columnDistances, correlationDifferences, slicedDistance } from "./distances.ts";
import type { SampleMeasures, TableEvaluation } from "./evaluation.ts";
import type { Features } from "./features.ts";
import { cellMarks } from "./marks.ts";
import { privacyOf } from "./neighbours.ts";
import type { Cells, OpenCells, ShownRows, TableDistribution } from "./table-distribution.ts";

export const LEAST_ROWS = 2;

export const FOLDS = 10;

/** Minimum number of rows for folds, and for a classifier. */
export const LEAST_FOLDED = 20;

const LEAST_COMPARED = 8;

/**
 * Maximum number of rows of each kind for a classifier, for distances, and for nearest neighbours.
 */
const MOST_COMPARED = 2000;

export const MOST_APART = 3000;

const MOST_NEAR = 20_000;

const firstOf = (features: NdArray, most: number): NdArray =>
  features.shape[0] <= most
    ? features
    : pickRows(
        features,
        Int32Array.from({ length: most }, (_, i) => i),
      );

/** Rows unchanged, and with their missing cells filled in. */
export interface Compared {
  readonly rows: readonly OpenCells[];
  readonly filled: readonly Cells[];
  /** The columns that single columns and pairs are measured in. */
  readonly shown: ShownRows;
}

export function sampleMeasures(
  domain: Product,
  features: Features,
  drawn: readonly Cells[],
  { rows, filled, shown }: Compared,
  seed: number,
): SampleMeasures {
  const [ofDrawn, ofFilled] = [shown.cells(drawn), shown.cells(filled)];
  const key = fold(keyOf(seed), "measures");
  const [a, b] = [features.of(drawn), features.of(filled)];
  const compared = Math.min(MOST_COMPARED, a.shape[0], b.shape[0]);
  const [near, far] = [firstOf(a, MOST_APART), firstOf(b, MOST_APART)];
  const { value, chance } = energyDistance(near, far, {
    key: fold(key, "energy"),
    permutations: 10,
  });
  return {
    ...(compared >= LEAST_COMPARED && {
      auc: rowsAuc(
        firstOf(a, compared),
        firstOf(b, compared),
        fold(key, "auc"),
        cellMarks(domain, [drawn.slice(0, compared), filled.slice(0, compared)]),
      ),
    }),
    columns: columnDistances(shown.domain, ofDrawn, shown.cells(rows), ofFilled),
    correlations: correlationDifferences(shown.domain, ofDrawn, ofFilled),
    sliced: slicedDistance(near, far, { key: fold(key, "sliced") }),
    energy: { value, floor: chance.mean },
  };
}

/** Rows with their missing cells filled in, in their order. */
export async function filledRows(
  { complete }: TableDistribution,
  rows: readonly OpenCells[],
  seed: number,
): Promise<readonly Cells[]> {
  const whole = wholeRows(rows);
  if (whole.length === rows.length || !complete) return whole;
  return complete(rows, seed);
}

/** With fewer rows, copies are not reported. */
const LEAST_NEAR = 10;

/**
 * How near samples are to training rows, and what they reveal of single cells, for rows without
 * missing cells; empty if there are too few.
 */
export function privacyBy(
  domain: Product,
  features: Features,
  drawn: readonly Cells[],
  fresh: readonly OpenCells[],
  training: readonly OpenCells[],
): Pick<TableEvaluation, "privacy" | "attributes"> {
  const [own, others] = [wholeRows(training), wholeRows(fresh)];
  if (own.length < LEAST_NEAR || others.length < LEAST_ROWS) return {};
  const among = someRows(own, MOST_NEAR);
  const attributes = attributesOf(domain, drawn, others, among, features);
  return {
    privacy: privacyOf(drawn.slice(0, others.length), others, among, features.of),
    ...(attributes && { attributes }),
  };
}
