/** Measures and statistics as text: one row per measure, one column per set of positions. */

import { PIECES } from "../board/position.ts";
import type { BoardMeasures, Comparison, MeasureErrors } from "./measures.ts";
import type { Statistics } from "./statistics.ts";

const share = (x: number | null): string => (x === null ? "–" : x.toFixed(3));
const plain = (x: number): string => String(Math.round(10 * x) / 10);
const two = (x: number): string => x.toFixed(2).replace(/^-(0\.0*)$/, "$1");
const meanSd = (mean: number, sd: number): string => `${two(mean)} (${sd.toFixed(2)})`;
const percent = (x: number): string => `${(100 * x).toFixed(2)} %`;

/** A value with one standard error, if there is one. */
const within = (text: string, error: number | null | undefined, digits = 3): string =>
  error === null || error === undefined ? text : `${text} ± ${error.toFixed(digits)}`;

type Shown = (m: BoardMeasures, errors: Partial<MeasureErrors>) => string;

const ROWS: readonly (readonly [label: string, show: Shown])[] = [
  ["positions", (m) => m.count.toLocaleString("en")],
  ["exactly one king each", (m, e) => within(share(m.oneKingEach), e.oneKingEach)],
  ["feasible material", (m, e) => within(share(m.feasibleMaterial), e.feasibleMaterial)],
  ["strictly legal", (m, e) => within(share(m.legal), e.legal)],
  ["mean TV of a square's marginal", (m) => share(m.marginalDistance)],
  ["cosine of the cross-square covariance", (m) => share(m.covarianceCosine)],
  ["relative error of that covariance", (m) => share(m.covarianceError)],
  ["pieces, mean", (m, e) => within(two(m.piecesMean), e.piecesMean, 2)],
  ["pieces, SD", (m, e) => within(two(m.piecesSd), e.piecesSd, 2)],
  ["piece-count W₁", (m) => two(m.piecesDistance)],
  ["mean TV of the counts by type", (m) => share(m.typesDistance)],
  ["material balance, mean", (m, e) => within(two(m.balanceMean), e.balanceMean, 2)],
  ["material balance, SD", (m, e) => within(two(m.balanceSd), e.balanceSd, 2)],
  [
    "bishop pairs on opposite colours",
    (m, e) => within(share(m.bishopPairsOpposite), e.bishopPairsOpposite),
  ],
  ["AUC of the two-sample test", (m, e) => within(share(m.auc), e.auc)],
  [
    "nearest training position, median (5–95 %)",
    (m) => `${plain(m.nearestMedian)} (${plain(m.nearest5)}–${plain(m.nearest95)})`,
  ],
  ["exact copies of training positions", (m) => percent(m.copies)],
  ["distinct", (m) => share(m.distinct)],
];

/**
 * The two-sample test fits about two hundred numbers. With fewer than ten boards per number it
 * underestimates the difference.
 */
const AUC_BOARDS = 2000;
const AUC = "the AUC";

/**
 * Distances from real positions, with their names. By chance they are as large as for an equal
 * number of real positions.
 */
const DISTANCES: readonly (readonly [
  label: string,
  distance: (m: BoardMeasures) => number | null,
])[] = [
  ["a square's marginal", (m) => m.marginalDistance],
  ["the covariance", (m) => m.covarianceError],
  ["the piece-count W₁", (m) => m.piecesDistance],
  ["the counts by type", (m) => m.typesDistance],
];

/**
 * The measures that need more samples: the AUC, and distances of which real positions alone reach
 * more than half.
 */
export function tooFew({ samples, real }: Comparison): string[] {
  const chance = DISTANCES.filter(([, of]) => (of(real) ?? 0) > (of(samples) ?? 0) / 2).map(
    ([label]) => label,
  );
  return samples.count < AUC_BOARDS ? [...chance, AUC] : chance;
}

/**
 * A table of the measures of samples, with standard errors, of real positions and of independent
 * squares.
 */
export function measureTable(comparison: Comparison): string {
  const { samples, real, independent } = comparison;
  const table = layOut([
    ["measure", "samples", "real", "independent"],
    ...ROWS.map(([label, show]) => [
      label,
      show(samples, samples.errors),
      show(real, {}),
      show(independent, {}),
    ]),
  ]);
  const few = tooFew(comparison);
  const count =
    samples.count === 1 ? "1 sample is" : `${samples.count.toLocaleString("en")} samples are`;
  const said = (labels: readonly string[], why: string): string =>
    labels.length === 0 ? "" : `${count} too few for ${labels.join(", ")}: ${why}\n`;
  return [
    table,
    said(
      few.filter((label) => label !== AUC),
      "most of the distance may be chance",
    ),
    said(
      few.filter((label) => label === AUC),
      `with fewer than ${AUC_BOARDS.toLocaleString("en")} it underestimates the difference`,
    ),
  ].join("");
}

/** The statistics that fit a screen. The marginals are in the JSON output only. */
export function statisticsTable(s: Statistics): string {
  const rows: string[][] = [
    ["positions", s.positions.toLocaleString("en")],
    ["pieces, mean (SD)", meanSd(s.pieces.mean, s.pieces.sd)],
    ["pieces, 5/25/50/75/95 %", s.pieces.percentiles_5_25_50_75_95.map(plain).join("/")],
    ["empty squares", share(s.empty_square_fraction)],
    ["exactly one king each", share(s.share_exactly_one_king_each)],
    ["no pawn on ranks 1 and 8", share(s.share_no_pawn_on_rank_1_or_8)],
    ["feasible material", share(s.share_material_feasible)],
    ["strictly legal", share(s.share_strictly_legal)],
    ["material balance, mean (SD)", meanSd(s.material_balance.mean, s.material_balance.sd)],
    ["white pairs of bishops; on opposite colours", pair(s, "white")],
    ["black pairs of bishops; on opposite colours", pair(s, "black")],
  ];
  if (s.share_white_to_move !== undefined)
    rows.push(["white to move", share(s.share_white_to_move)]);
  if (s.share_legal_with_own_side_to_move !== undefined)
    rows.push(["legal with the side to move", share(s.share_legal_with_own_side_to_move)]);
  const counts = layOut([
    ["share of boards by count", "mean", ...Array.from({ length: 9 }, (_, i) => String(i))],
    ...[...PIECES].map((piece) => [
      piece,
      s.mean_count_by_type[piece].toFixed(3),
      ...s.count_histogram_by_type[piece].slice(0, 9).map((p) => (p === 0 ? "·" : p.toFixed(3))),
    ]),
  ]);
  return `${layOut(rows)}\n${counts}`;
}

const pair = ({ bishops }: Statistics, side: string): string =>
  `${share(bishops[`${side}_pair_share`])}; ${share(bishops[`${side}_pair_opposite`])}`;

/** Lays out columns as wide as their widest cell, the first left-aligned, the others right. */
export function layOut(rows: readonly (readonly string[])[]): string {
  const columns = Math.max(...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, j) =>
    Math.max(...rows.map((row) => row[j]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    row.map((cell, j) => (j === 0 ? cell.padEnd(widths[j]) : cell.padStart(widths[j]))).join("  ");
  return `${rows.map((row) => line(row).trimEnd()).join("\n")}\n`;
}
