/**
 * Which w gives how many pieces: the mean number of pieces of boards sampled at several w, made once for a model and read
 * the other way round.
 *
 * The means are of samples, so neighbours may stand in the wrong order. They are pooled until they rise (pool adjacent
 * violators, the least-squares fit of a rising sequence: R. Barlow et al. 1972); between the pooled points w is linear in
 * the number of pieces. At one w the numbers of pieces spread widely, by six or seven; it is their mean that is aimed at.
 */
import { fail } from "diffeo/graph";
import { legalityShares } from "../board/legality.ts";
import { materialOf } from "../board/material.ts";
import type { Positions } from "../board/position.ts";
import { meanAndSd } from "../measure/histogram.ts";
import type { BoardOptions, BoardSampler } from "./sample.ts";

/** What boards at one w are like. */
export interface ScalePoint {
  readonly w: number;
  readonly count: number;
  /** Mean and standard deviation of the number of pieces. */
  readonly pieces: number;
  readonly sd: number;
  readonly oneKingEach: number;
  readonly legal: number;
}

export interface Calibration {
  readonly format: "diffeo-calibration-1";
  /** The digest of the model's file. */
  readonly model: string;
  /** The curve is that of one sampler and one number of steps: both decide how the scaled drift is integrated. */
  readonly method: "domainPreserving";
  readonly steps: number;
  readonly seed: number;
  readonly points: readonly ScalePoint[];
}

/** What boards at one w are like. */
export function scalePoint(w: number, positions: Positions): ScalePoint {
  const { mean, sd } = meanAndSd(materialOf(positions).pieces);
  const { oneKingEach, legal } = legalityShares(positions);
  return { w, count: positions.count, pieces: mean, sd, oneKingEach, legal };
}

/** Boards at one w, drawn and measured; a calibration's are by the domain-preserving sampler on the simplex. */
export const measureScale = async (
  draw: BoardSampler,
  w: number,
  options: Omit<BoardOptions, "driftScale">,
): Promise<ScalePoint> => scalePoint(w, (await draw({ ...options, driftScale: w })).positions);

/** Points of a rising curve. */
interface Knot {
  readonly w: number;
  readonly pieces: number;
}

/** The points, pooled where pieces do not rise with w. */
export function risingKnots(points: readonly Pick<ScalePoint, "w" | "pieces" | "count">[]): Knot[] {
  const blocks: { w: number; pieces: number; count: number }[] = [];
  for (const { w, pieces, count } of points.toSorted((a, b) => a.w - b.w)) {
    let block = { w, pieces, count };
    for (let last = blocks.at(-1); last && last.pieces >= block.pieces; last = blocks.at(-1)) {
      blocks.pop();
      const total = last.count + block.count;
      const pooled = (a: number, b: number): number => (last.count * a + block.count * b) / total;
      block = { w: pooled(last.w, block.w), pieces: pooled(last.pieces, block.pieces), count: total };
    }
    blocks.push(block);
  }
  return blocks.map(({ w, pieces }) => ({ w, pieces }));
}

/** The least and the greatest mean number of pieces that a calibration gives a w for. */
export function reachOf({ points }: Pick<Calibration, "points">): [least: number, most: number] {
  const knots = risingKnots(points);
  return [knots[0].pieces, (knots.at(-1) as Knot).pieces];
}

/** The w at which boards have so many pieces in the mean. */
export function driftScaleFor(calibration: Pick<Calibration, "points">, pieces: number): number {
  const knots = risingKnots(calibration.points);
  const [least, most] = reachOf(calibration);
  if (!(pieces >= least && pieces <= most))
    fail(
      "usage",
      `${pieces} pieces: the calibration reaches from ${least.toFixed(1)} to ${most.toFixed(1)}`,
      "aim within that, or measure a wider range of `w`",
    );
  const above = Math.max(
    1,
    knots.findIndex((knot) => knot.pieces >= pieces),
  );
  if (knots.length === 1) return knots[0].w;
  const [a, b] = [knots[above - 1], knots[above]];
  return a.w + ((pieces - a.pieces) / (b.pieces - a.pieces)) * (b.w - a.w);
}
