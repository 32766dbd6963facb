/**
 * Boards that meet conditions, by rejection: boards are sampled in order until enough meet them.
 * The accepted boards depend only on the key, not on the batch size. The result states the share
 * that was rejected.
 */

import { concatArrays } from "diffeo/host";
import { joinReports } from "diffeo/sampler";
import { boardAt, type Positions, select } from "../board/position.ts";
import { type BoardCondition, requirePossible } from "./condition.ts";
import type { Boards } from "./sample.ts";
import { joinTraces, selectTrace } from "./trace.ts";

/** How many boards are requested, and the conditions that they meet. */
export interface RejectionOptions {
  readonly count: number;
  /** Default none: the boards are the first `count`. */
  readonly conditions?: readonly BoardCondition[] | undefined;
  /** Maximum number of boards to sample. Default 100 per requested board. */
  readonly tries?: number | undefined;
  /** Maximum number of boards per batch. */
  readonly batch: number;
}

/** Boards that meet the conditions, and how many were sampled. */
export interface Accepted extends Boards {
  /** Number of boards sampled until the last requested one was accepted. */
  readonly drawn: number;
}

/**
 * A batch of a few boards costs little more than one board, but another round costs the same again.
 */
const FEW = 8;

/**
 * Samples boards in their order until enough meet the conditions.
 *
 * @param draw boards `first` … `first` + `count` of the run
 */
export async function drawAccepted(
  draw: (first: number, count: number) => Promise<Boards>,
  { count, conditions = [], tries = 100 * count, batch }: RejectionOptions,
): Promise<Accepted> {
  if (conditions.length === 0) return { ...(await draw(0, count)), drawn: count };
  requirePossible(conditions);
  // All rounds have one size: another size would compile another graph.
  const size = Math.min(batch, Math.max(count, FEW));
  const rounds: Boards[] = [];
  let [drawn, found] = [0, 0];
  let last = 0;
  while (found < count && drawn < tries) {
    const round = await draw(drawn, size);
    const looked = Math.min(size, tries - drawn);
    const passed = passing(round.positions, looked, conditions).slice(0, count - found);
    found += passed.length;
    last = found === count ? drawn + (passed.at(-1) as number) + 1 : drawn + looked;
    drawn += size;
    rounds.push({
      ...round,
      positions: select(round.positions, passed),
      ...(round.trace && { trace: selectTrace(round.trace, passed) }),
    });
  }
  return { ...joinBoards(rounds), drawn: last };
}

/** The numbers of the first boards that meet all conditions. */
function passing(
  positions: Positions,
  looked: number,
  conditions: readonly BoardCondition[],
): number[] {
  const numbers = Array.from({ length: looked }, (_, i) => i);
  return numbers.filter((i) => {
    const board = boardAt(positions, i);
    return conditions.every(({ holds }) => holds(board));
  });
}

/** Joins consecutive boards as if one call had sampled them. */
export function joinBoards(parts: readonly Boards[]): Boards {
  const positions = parts.map((part) => part.positions);
  const bytes = concatArrays(
    (length) => new Uint8Array(length),
    positions.map((part) => part.bytes),
  );
  const traces = parts.flatMap(({ trace }) => trace ?? []);
  return {
    ...joinReports(parts),
    positions: { count: positions.reduce((n, part) => n + part.count, 0), bytes },
    ...(traces.length > 0 && { trace: joinTraces(traces) }),
  };
}
