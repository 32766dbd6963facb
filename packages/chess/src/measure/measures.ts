/**
 * The similarity of samples to real positions. Each measure misses something: independent squares
 * match marginals, rejection makes boards legal, and memorised boards differ only in their distance
 * to the training set. So all measures are computed together, and also for an equal number of real
 * positions and for independent squares (`measureAll`).
 */
import { fail } from "diffeo/graph";
import { choice, fold, type Key } from "diffeo/random";
import { BISHOP } from "../board/attack.ts";
import { legalityShares } from "../board/legality.ts";
import { type Material, materialOf } from "../board/material.ts";
import { type Positions, range, SQUARES, select, TYPES } from "../board/position.ts";
import { PositionSet } from "../board/set.ts";
import { covarianceCosine, covarianceError, crossCovariance } from "./covariance.ts";
import { aucError, meanError, sdError, shareError } from "./errors.ts";
import { histogram, meanAndSd, quantiles, totalVariation, wasserstein } from "./histogram.ts";
import { independentSquares, marginalDistance, squareMarginals } from "./marginals.ts";
import { distinctShare, exactCopies, nearestDistances } from "./neighbours.ts";
import { twoSampleAuc } from "./two-sample.ts";

/** The similarity of positions to real ones: legality, counts of pieces, distances and copies. */
export interface BoardMeasures {
  /** How many positions were measured. */
  readonly count: number;
  /** Share with exactly one king of each colour. */
  readonly oneKingEach: number;
  /** Share whose material can arise by promotions. */
  readonly feasibleMaterial: number;
  /** Share that is strictly legal (legality.ts). */
  readonly legal: number;
  /**
   * Mean over squares of the total variation between the square's distribution and the real one.
   */
  readonly marginalDistance: number;
  /**
   * Cosine of the cross-square covariance (covariance.ts); null where the covariance is 0, as for
   * equal boards.
   */
  readonly covarianceCosine: number | null;
  readonly covarianceError: number | null;
  readonly piecesMean: number;
  readonly piecesSd: number;
  /** Wasserstein-1 distance of the number of pieces. */
  readonly piecesDistance: number;
  /** Mean over the 12 types of the total variation of their count. */
  readonly typesDistance: number;
  readonly balanceMean: number;
  readonly balanceSd: number;
  /**
   * Among sides with exactly two bishops, the share with one on each colour; null where no side has
   * two.
   */
  readonly bishopPairsOpposite: number | null;
  /**
   * Area under the curve of the logistic two-sample test against real positions; null for fewer
   * than 4 positions.
   */
  readonly auc: number | null;
  /**
   * Hamming distance to the nearest of the first 100,000 training positions: median, and 5th and
   * 95th percentile.
   */
  readonly nearestMedian: number;
  readonly nearest5: number;
  readonly nearest95: number;
  /** Share that is a training position, square for square. */
  readonly copies: number;
  /** Share that is not a copy of an earlier sample. */
  readonly distinct: number;
  /** One standard error of each measure that has one (errors.ts). */
  readonly errors: MeasureErrors;
}

/** Standard errors. Distances have none: compare them with those of as many real positions. */
export type MeasureErrors = {
  readonly [Name in
    | "oneKingEach"
    | "feasibleMaterial"
    | "legal"
    | "piecesMean"
    | "piecesSd"
    | "balanceMean"
    | "balanceSd"
    | "bishopPairsOpposite"
    | "auc"
    | "copies"]: number | null;
};

/** Statistics of real positions, computed once for all comparisons. */
export interface Reference {
  readonly positions: Positions;
  readonly marginals: Float64Array;
  readonly covariance: Float64Array;
  readonly pieces: Float64Array;
  readonly types: readonly Float64Array[];
  /** The first training positions, in which the nearest is searched. */
  readonly neighbours: Positions;
  /** All training positions, for finding copies. */
  readonly known: PositionSet;
}

/**
 * With more positions the nearest is nearer, so distances are comparable only for equally many.
 */
const MOST_NEIGHBOURS = 100_000;

/** Options of `measure`. */
export interface BoardMeasureOptions {
  /**
   * The stream for the halves of the two-sample test, its real positions, and independent squares.
   */
  readonly key: Key;
  /** Number of samples whose nearest training position is searched. Default 1,000. */
  readonly neighbours?: number;
}

const typeHistograms = ({ types }: Material): Float64Array[] =>
  Array.from({ length: TYPES }, (_, k) => histogram(types, SQUARES + 1, k, TYPES));

/**
 * Computes statistics of real positions once, for comparisons with samples.
 *
 * @throws DiffeoError of kind `data` if there are none
 *
 * @param training positions that samples may copy. Default: the positions themselves
 */
export function referenceOf(positions: Positions, training = positions): Reference {
  if (positions.count === 0)
    fail("data", "there are no real positions to compare with", "give at least one");
  const material = materialOf(positions);
  return {
    positions,
    marginals: squareMarginals(positions),
    covariance: crossCovariance(positions),
    pieces: histogram(material.pieces, SQUARES + 1),
    types: typeHistograms(material),
    neighbours: firstOf(training, MOST_NEIGHBOURS),
    known: PositionSet.of(training),
  };
}

const firstOf = (positions: Positions, count: number): Positions =>
  range(positions, 0, Math.min(count, positions.count));

/**
 * Measures how similar samples are to real positions.
 *
 * @param samples the positions to measure
 * @param reference real positions, from `referenceOf`
 * @throws DiffeoError of kind `data` if there are no samples
 */
export function measure(
  samples: Positions,
  reference: Reference,
  options: BoardMeasureOptions,
): BoardMeasures {
  const { count } = samples;
  if (count === 0) fail("data", "there are no positions to measure", "give at least one");
  const { key, neighbours = 1000 } = options;
  const material = materialOf(samples);
  const { oneKingEach, feasibleMaterial, legal } = legalityShares(samples);
  const covariance = crossCovariance(samples);
  const pieces = meanAndSd(material.pieces);
  const balance = meanAndSd(material.balance);
  const types = typeHistograms(material);
  const nearest = nearestDistances(firstOf(samples, neighbours), reference.neighbours);
  const [nearest5, nearestMedian, nearest95] = quantiles(nearest, [0.05, 0.5, 0.95]);
  const opponents = Math.min(count, reference.positions.count);
  const bishops = oppositePairs(material);
  const auc =
    opponents < 4
      ? null
      : twoSampleAuc(material, materialOf(drawPositions(reference.positions, opponents, key)), key);
  const copies = exactCopies(samples, reference.known) / count;
  return {
    count,
    oneKingEach,
    feasibleMaterial,
    legal,
    marginalDistance: marginalDistance(squareMarginals(samples), reference.marginals),
    covarianceCosine: finite(covarianceCosine(covariance, reference.covariance)),
    covarianceError: finite(covarianceError(covariance, reference.covariance)),
    piecesMean: pieces.mean,
    piecesSd: pieces.sd,
    piecesDistance: wasserstein(histogram(material.pieces, SQUARES + 1), reference.pieces),
    typesDistance:
      types.reduce((sum, h, k) => sum + totalVariation(h, reference.types[k]), 0) / types.length,
    balanceMean: balance.mean,
    balanceSd: balance.sd,
    bishopPairsOpposite: bishops.share,
    auc,
    nearestMedian,
    nearest5,
    nearest95,
    copies,
    distinct: distinctShare(samples),
    errors: {
      oneKingEach: shareError(oneKingEach, count),
      feasibleMaterial: shareError(feasibleMaterial, count),
      legal: shareError(legal, count),
      piecesMean: ofSeveral(meanError(pieces.sd, count), count),
      piecesSd: ofSeveral(sdError(material.pieces), count),
      balanceMean: ofSeveral(meanError(balance.sd, count), count),
      balanceSd: ofSeveral(sdError(material.balance), count),
      bishopPairsOpposite: bishops.share === null ? null : shareError(bishops.share, bishops.pairs),
      auc: auc === null ? null : aucError(auc, opponents, count),
      copies: shareError(copies, count),
    },
  };
}

/** The standard error of a standard deviation needs at least two boards. */
const ofSeveral = (error: number, count: number): number | null => (count < 2 ? null : error);

const finite = (x: number): number | null => (Number.isFinite(x) ? x : null);

function oppositePairs({ count, types, bishops }: Material): {
  share: number | null;
  pairs: number;
} {
  let pairs = 0;
  let opposite = 0;
  for (let i = 0; i < count; i++)
    for (const side of [0, 1]) {
      if (types[TYPES * i + 6 * side + BISHOP] !== 2) continue;
      pairs++;
      if (bishops[4 * i + 2 * side] === 1) opposite++;
    }
  return { share: pairs === 0 ? null : opposite / pairs, pairs };
}

const drawPositions = (positions: Positions, count: number, key: Key): Positions =>
  select(
    positions,
    choice(fold(key, "opponents"), positions.count, count, { replace: false }).data,
  );

/**
 * Measures of samples, of as many real positions, and of as many boards with independent squares.
 */
export interface Comparison {
  readonly samples: BoardMeasures;
  readonly real: BoardMeasures;
  readonly independent: BoardMeasures;
}

/**
 * Measures samples, an equal number of real positions that are kept apart from the reference, and
 * an equal number of boards with independent squares. If there are fewer than twice as many real
 * positions as samples, half of them are kept apart.
 */
export function measureAll(
  samples: Positions,
  positions: Positions,
  options: BoardMeasureOptions & { readonly training?: Positions },
): Comparison {
  const { key, training } = options;
  if (positions.count < 2)
    fail(
      "data",
      `${positions.count} real positions are too few to be split for the comparison`,
      "give more real positions",
    );
  const aside = Math.min(samples.count, positions.count >> 1);
  const order = choice(fold(key, "aside"), positions.count, positions.count, {
    replace: false,
  }).data;
  const reference = referenceOf(select(positions, order.subarray(aside)), training);
  const independent = independentSquares(
    reference.marginals,
    samples.count,
    fold(key, "independent"),
  );
  return {
    samples: measure(samples, reference, options),
    real: measure(select(positions, order.subarray(0, aside)), reference, options),
    independent: measure(independent, reference, options),
  };
}
