/**
 * Completion of positions: known squares are kept, unknown ones are sampled by the reverse
 * diffusion, which sees the known squares noised like the others.
 *
 *   guided        the score of the conditional distribution, by the gradient of the posterior of
 *                 the known squares (known-sites.ts)
 *   resample      each step repeated, so that unknown squares adapt to the known ones (RePaint)
 *   replacement   the known squares are set at each step, nothing else
 */

import type { Model } from "diffeo/categorical";
import { fail } from "diffeo/graph";
import { type Key, sampleKeys, uniform } from "diffeo/random";
import { legalityShares } from "../board/legality.ts";
import { materialOf } from "../board/material.ts";
import { EMPTY, type Positions, SQUARES, UNKNOWN, unpack } from "../board/position.ts";
import { meanAndSd } from "../measure/histogram.ts";
import type { BoardOptions, BoardSampler, Boards } from "./sample.ts";

/**
 * The methods by which `completeBoards` completes a position: by guidance, by repeated steps, or
 * by plain replacement of the known squares.
 */
export const COMPLETIONS = ["guided", "resample", "replacement"] as const;
/** The name of a method of completion. */
export type Completion = (typeof COMPLETIONS)[number];

/** Options of `completeBoards`. */
export interface CompleteOptions extends Omit<BoardOptions, "count" | "partial" | "known"> {
  /** Default guided if the network predicts posteriors, else resample. */
  readonly completion?: Completion;
  /** How often each step is repeated. Default 4 for resample, 1 otherwise. */
  readonly resample?: number;
  /** The strength of guidance. Default 3. */
  readonly guidance?: number;
}

/**
 * 1 is Bayes' rule. A learned posterior, taken square by square, underestimates the information,
 * and up to 3 more hidden pieces are recovered.
 */
const GUIDANCE = 3;

/** The default method of completion for a model. */
export const defaultCompletion = ({ spec }: Pick<Model, "spec">): Completion =>
  spec.parameterisation === "posterior" ? "guided" : "resample";

/**
 * Completes boards that lie one after the other, 64 classes each, `UNKNOWN` where a square is
 * unknown.
 */
export async function completeBoards(
  draw: BoardSampler,
  partial: Uint8Array,
  options: CompleteOptions,
): Promise<Boards> {
  const {
    completion = defaultCompletion(draw.model),
    resample,
    guidance = GUIDANCE,
    ...rest
  } = options;
  if (!COMPLETIONS.includes(completion))
    fail("usage", `unknown completion "${completion}"`, `use one of ${COMPLETIONS.join(", ")}`);
  if (completion === "guided" && draw.model.spec.parameterisation !== "posterior")
    fail(
      "usage",
      `a network that predicts ${draw.model.spec.parameterisation} has no posterior to guide by`,
      "complete by resample or replacement, or train a network that predicts the posterior",
    );
  const known = {
    resample: resample ?? (completion === "resample" ? 4 : 1),
    strength: completion === "guided" ? guidance : 0,
  };
  return draw({ ...rest, partial, known });
}

/** Boards with a share of their squares hidden: as many on each board, at random places. */
export function hideSquares(positions: Positions, share: number, key: Key): Uint8Array {
  const boards = unpack(positions);
  const hidden = Math.round(share * SQUARES);
  const { data } = uniform(sampleKeys(key, positions.count), [SQUARES]);
  for (let at = 0; at < boards.length; at += SQUARES) {
    const order = Array.from({ length: SQUARES }, (_, square) => square);
    order.sort((a, b) => data[at + a] - data[at + b]);
    for (const square of order.slice(0, hidden)) boards[at + square] = UNKNOWN;
  }
  return boards;
}

/** How well hidden squares were recovered, and how legal the completed boards are. */
export interface CompletionMeasures {
  readonly boards: number;
  /** Share of known squares that are unchanged. */
  readonly kept: number;
  readonly oneKingEach: number;
  readonly legal: number;
  /** Share of hidden squares, and of pieces on hidden squares, that were recovered. */
  readonly squaresRecovered: number;
  readonly piecesRecovered: number;
  readonly piecesMean: number;
}

/** Measures completions of `partial` against the boards that it was made from. */
export function completionMeasures(
  completed: Positions,
  partial: Uint8Array,
  truth: Positions,
): CompletionMeasures {
  const made = unpack(completed);
  const real = unpack(truth);
  const tally = { known: 0, kept: 0, hidden: 0, right: 0, pieces: 0, found: 0 };
  for (let i = 0; i < made.length; i++) {
    const same = made[i] === real[i] ? 1 : 0;
    if (partial[i] !== UNKNOWN) {
      tally.known++;
      tally.kept += same;
      continue;
    }
    tally.hidden++;
    tally.right += same;
    if (real[i] === EMPTY) continue;
    tally.pieces++;
    tally.found += same;
  }
  const { oneKingEach, legal } = legalityShares(completed);
  return {
    boards: completed.count,
    kept: tally.kept / tally.known,
    oneKingEach,
    legal,
    squaresRecovered: tally.right / tally.hidden,
    piecesRecovered: tally.found / tally.pieces,
    piecesMean: meanAndSd(materialOf(completed).pieces).mean,
  };
}
