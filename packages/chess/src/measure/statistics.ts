/**
 * The target statistics of a set of positions: numbers of pieces, counts by type, legality,
 * balance, bishops and the 64 × 13 marginals. Keys and layout are those of the statistics file that
 * goes with the public data set, so that the two compare line by line; its order of classes puts
 * 'empty' first.
 */

import { BISHOP } from "../board/attack.ts";
import { legalityShares, mayMove } from "../board/legality.ts";
import { type Material, materialOf } from "../board/material.ts";
import {
  CLASSES,
  EMPTY,
  PIECES,
  type Positions,
  SQUARES,
  squareName,
  TYPES,
  unpack,
} from "../board/position.ts";
import { histogram, meanAndSd, quantiles } from "./histogram.ts";
import { squareMarginals } from "./marginals.ts";

/** Statistics of a set of positions, under the names of its JSON file. */
export interface Statistics {
  readonly positions: number;
  readonly piece_order: string;
  readonly square_order: string;
  readonly pieces: {
    readonly mean: number;
    readonly sd: number;
    readonly percentiles_5_25_50_75_95: readonly number[];
    readonly histogram_2_to_32: readonly number[];
  };
  readonly empty_square_fraction: number;
  readonly mean_count_by_type: Readonly<Record<string, number>>;
  readonly count_histogram_by_type: Readonly<Record<string, readonly number[]>>;
  readonly share_exactly_one_king_each: number;
  readonly share_no_pawn_on_rank_1_or_8: number;
  readonly share_material_feasible: number;
  readonly share_strictly_legal: number;
  /** Where the side to move is known. */
  readonly share_legal_with_own_side_to_move?: number;
  readonly share_white_to_move?: number;
  readonly material_balance: {
    readonly mean: number;
    readonly sd: number;
    readonly values: string;
  };
  readonly bishops: Readonly<Record<string, number>>;
  readonly square_marginals: Readonly<Record<string, readonly number[]>>;
}

const round = (x: number, digits = 5): number => Number(x.toFixed(digits));

/**
 * Statistics of positions, rounded as they are written to a file.
 *
 * @param sides the side to move of each: 0 white, 1 black, 2 unknown
 */
export function statisticsOf(positions: Positions, sides?: Uint8Array): Statistics {
  const material = materialOf(positions);
  const shares = legalityShares(positions);
  const { mean, sd } = meanAndSd(material.pieces);
  const balance = meanAndSd(material.balance);
  const byType = <T>(value: (k: number) => T): Record<string, T> =>
    Object.fromEntries([...PIECES].map((piece, k) => [piece, value(k)]));
  const marginals = squareMarginals(positions);
  const list = (shares: Float64Array): number[] => Array.from(shares, (p) => round(p));
  return {
    positions: positions.count,
    piece_order: `.${PIECES}`,
    square_order: "a8..h8,a7..h7,...,a1..h1 (FEN reading order)",
    pieces: {
      mean: round(mean, 4),
      sd: round(sd, 4),
      percentiles_5_25_50_75_95: quantiles(material.pieces, [0.05, 0.25, 0.5, 0.75, 0.95]),
      histogram_2_to_32: list(histogram(material.pieces, SQUARES + 1)).slice(2, 33),
    },
    empty_square_fraction: round(1 - mean / SQUARES),
    mean_count_by_type: byType((k) => {
      let sum = 0;
      for (let i = k; i < material.types.length; i += TYPES) sum += material.types[i];
      return round(sum / positions.count, 4);
    }),
    count_histogram_by_type: byType((k) =>
      list(histogram(material.types, k % 6 === 0 ? 10 : 5, k, TYPES)),
    ),
    share_exactly_one_king_each: round(shares.oneKingEach),
    share_no_pawn_on_rank_1_or_8: round(shares.pawnsInside),
    share_material_feasible: round(shares.feasibleMaterial),
    share_strictly_legal: round(shares.legal),
    ...sideShares(positions, sides),
    material_balance: {
      mean: round(balance.mean, 4),
      sd: round(balance.sd, 4),
      values: "P1 N3 B3 R5 Q9, white minus black",
    },
    bishops: bishopShares(material),
    square_marginals: Object.fromEntries(
      Array.from({ length: SQUARES }, (_, square) => {
        const own = list(marginals.subarray(square * CLASSES, (square + 1) * CLASSES));
        return [squareName(square), [own[EMPTY], ...own.slice(0, EMPTY)]];
      }),
    ),
  };
}

function sideShares(
  positions: Positions,
  sides?: Uint8Array,
): { share_legal_with_own_side_to_move?: number; share_white_to_move?: number } {
  if (!sides || sides.length !== positions.count || sides.includes(2)) return {};
  const boards = unpack(positions);
  let white = 0;
  let legal = 0;
  for (let i = 0; i < positions.count; i++) {
    if (sides[i] === 0) white++;
    if (mayMove(boards.subarray(i * SQUARES, (i + 1) * SQUARES), sides[i] === 0)) legal++;
  }
  return {
    share_legal_with_own_side_to_move: round(legal / positions.count),
    share_white_to_move: round(white / positions.count, 4),
  };
}

function bishopShares({ count, bishops, types }: Material): Record<string, number> {
  const tally = {
    whitePair: 0,
    whiteOpposite: 0,
    white3: 0,
    blackPair: 0,
    blackOpposite: 0,
    black3: 0,
  };
  const colours = [0, 0, 0, 0];
  let oneEach = 0;
  let oneEachOpposite = 0;
  for (let i = 0; i < count; i++) {
    const [whiteLight, whiteDark, blackLight, blackDark] = bishops.subarray(4 * i, 4 * i + 4);
    for (let j = 0; j < 4; j++) colours[j] += bishops[4 * i + j];
    const white = types[TYPES * i + BISHOP];
    const black = types[TYPES * i + 6 + BISHOP];
    if (white === 2) tally.whitePair++;
    if (white === 2 && whiteLight === 1) tally.whiteOpposite++;
    if (white > 2) tally.white3++;
    if (black === 2) tally.blackPair++;
    if (black === 2 && blackLight === 1) tally.blackOpposite++;
    if (black > 2) tally.black3++;
    if (white === 1 && black === 1) oneEach++;
    if (white === 1 && black === 1 && whiteLight === blackDark && whiteDark === blackLight)
      oneEachOpposite++;
  }
  const share = (n: number, of = count): number => (of === 0 ? 0 : round(n / of, 4));
  return {
    white_light_mean: share(colours[0]),
    white_dark_mean: share(colours[1]),
    white_pair_share: share(tally.whitePair),
    white_pair_opposite: share(tally.whiteOpposite, tally.whitePair),
    white_ge3: share(tally.white3),
    black_light_mean: share(colours[2]),
    black_dark_mean: share(colours[3]),
    black_pair_share: share(tally.blackPair),
    black_pair_opposite: share(tally.blackOpposite, tally.blackPair),
    black_ge3: share(tally.black3),
    one_each_share: share(oneEach),
    one_each_opposite_coloured: share(oneEachOpposite, oneEach),
  };
}
