/**
 * A classifier two-sample test: how well a logistic regression on the material of a board
 * distinguishes samples from real positions.
 *
 *   P(real | board) = 1/(1 + e^{−θ·f})
 *
 * f are indicators of each type's count, bishops of each colour on each colour of square, pawns of
 * each colour on each file, and the material balance. Indicators, because independent squares have
 * the right mean of every count, and only the distributions of counts are wrong. The indicators of
 * a group sum to 1, so an intercept is included. The result is the area under the ROC curve on
 * boards that the regression was not fitted to.
 */
import { type FeatureRows, linearScores, logisticRegression } from "diffeo/host";
import type { Key } from "diffeo/random";
import { crossFittedAuc, type RowPair } from "diffeo/two-sample";
import type { Material } from "../board/material.ts";
import { TYPES } from "../board/position.ts";

/** Bins of a count; the last one is open. */
const PAWN_BINS = 10;
const PIECE_BINS = 5;
const BISHOP_BINS = 4;
const FILE_BINS = 5;
/** Balances from −12 to 12, the ends open. */
const MOST_BALANCE = 12;

/**
 * How many indicators of a board are 1: one for each type, 4 kinds of bishops, 16 pawn files, and
 * the balance.
 */
const ACTIVE = TYPES + 4 + 16 + 1;

/** The indicators of boards that are 1. */
function indicators(material: Material): FeatureRows {
  const { count, types, bishops, pawnFiles, balance } = material;
  const indices = new Int32Array(count * ACTIVE);
  let size = 0;
  for (let i = 0; i < count; i++) {
    let to = i * ACTIVE;
    let base = 0;
    const put = (value: number, bins: number): void => {
      indices[to++] = base + Math.min(value, bins - 1);
      base += bins;
    };
    for (let k = 0; k < TYPES; k++) put(types[TYPES * i + k], k % 6 === 0 ? PAWN_BINS : PIECE_BINS);
    for (let j = 0; j < 4; j++) put(bishops[4 * i + j], BISHOP_BINS);
    for (let j = 0; j < 16; j++) put(pawnFiles[16 * i + j], FILE_BINS);
    put(Math.max(0, balance[i] + MOST_BALANCE), 2 * MOST_BALANCE + 1);
    size = base;
  }
  return { size, active: ACTIVE, indices };
}

function pickRows(features: FeatureRows, rows: Int32Array): FeatureRows {
  const indices = new Int32Array(rows.length * ACTIVE);
  rows.forEach((row, i) => {
    indices.set(features.indices.subarray(row * ACTIVE, (row + 1) * ACTIVE), i * ACTIVE);
  });
  return { ...features, indices };
}

/** The area under the curve for two sets of boards. */
export function twoSampleAuc(samples: Material, real: Material, key: Key): number {
  const [a, b] = [indicators(samples), indicators(real)];
  const of = ([first, second]: RowPair) => [pickRows(a, first), pickRows(b, second)] as const;
  return crossFittedAuc([samples.count, real.count], key, (rows) => {
    const theta = logisticRegression(...of(rows));
    return (others) => {
      const [first, second] = of(others);
      return [linearScores(first, theta), linearScores(second, theta)];
    };
  });
}
