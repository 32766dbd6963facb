/**
 * How like real positions a set of samples is. Each measure is blind to something: independent
 * squares pass marginals, rejection repairs legality, memorising passes everything but the distance
 * to the training set. So all are taken together, beside the same number of real positions and
 * beside independent squares (`measureAll`).
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

/**
 * How like real positions a set of positions is: legality, counts of pieces, distances and copies.
 */
export interface BoardMeasures {
  /** How many positions were measured. */
  readonly count: number;
  /** Share with exactly one king of each colour. */
  readonly oneKingEach: number;
  /** Share whose material promotions can explain. */
  readonly feasibleMaterial: number;
  /** Share that is strictly legal (legality.ts). */
  readonly legal: number;
  /** Mean over squares of the total variation between the square's law and the real one. */
  readonly marginalDistance: number;
  /**
   * Of the cross-square covariance (covariance.ts); null where it vanishes, as that of equal boards
   * does.
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

/** Distances have none: how large they are by chance is what as many real positions have. */
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

/** Real positions, summed up once for all comparisons. */
export interface Reference {
  readonly positions: Positions;
  readonly marginals: Float64Array;
  readonly covariance: Float64Array;
  readonly pieces: Float64Array;
  readonly types: readonly Float64Array[];
  /** The first of the training positions, among which the nearest is looked for. */
  readonly neighbours: Positions;
  /** All training positions, of which a sample may be a copy. */
  readonly known: PositionSet;
}

/**
 * More would find nearer neighbours: a distance means something beside others to as many positions
 * only.
 */
const MOST_NEIGHBOURS = 100_000;

/** What `measure` needs besides positions. */
export interface BoardMeasureOptions {
  /**
   * What draws the halves of the two-sample test and its real positions, and independent squares.
   */
  readonly key: Key;
  /** How many samples look for their nearest training position. Default 1,000. */
  readonly neighbours?: number;
}

const typeHistograms = ({ types }: Material): Float64Array[] =>
  Array.from({ length: TYPES }, (_, k) => histogram(types, SQUARES + 1, k, TYPES));

/**
 * Sums up real positions once, to compare samples with them.
 *
 * @throws DiffeoError of kind `data` where there are none
 *
 * @param training what samples may be copies of; by default the positions themselves
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
 * Measures how like real positions samples are.
 *
 * @param samples what is measured
 * @param reference real positions, from `referenceOf`
 * @throws DiffeoError of kind `data` where there are no samples
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
      : twoSampleAuc(material, materialOf(drawn(reference.positions, opponents, key)), key);
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

/** One board does not say how boards differ. */
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

const drawn = (positions: Positions, count: number, key: Key): Positions =>
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
 * The samples beside as many real positions, set apart from those they are compared with, and
 * beside as many boards of independent squares. Where there are not twice as many real positions as
 * samples, half of them are set apart.
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
      `${positions.count} real positions cannot be split to be compared`,
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
