/**
 * Boards that meet conditions, by rejection: boards are drawn in their order until enough have passed. Which ones do is a
 * function of the key alone, whatever the size of a batch; the share that was rejected is part of the result.
 */

import { boardAt, type Positions, select } from "../board/position.ts";
import type { BoardCondition } from "./condition.ts";
import type { Boards } from "./sample.ts";
import { joinTraces, selectTrace } from "./trace.ts";

export interface RejectionOptions {
  readonly count: number;
  readonly conditions: readonly BoardCondition[];
  /** The most boards to draw. */
  readonly tries: number;
  /** The most to draw at once. */
  readonly batch: number;
}

export interface Accepted extends Boards {
  /** How many boards were looked at until the last that is wanted passed. */
  readonly drawn: number;
}

/** @param draw boards `first` … `first` + `count` of the run */
export async function drawAccepted(
  draw: (first: number, count: number) => Promise<Boards>,
  { count, conditions, tries, batch }: RejectionOptions,
): Promise<Accepted> {
  if (conditions.length === 0) return { ...(await draw(0, count)), drawn: count };
  const rounds: Boards[] = [];
  let [drawn, found] = [0, 0];
  let last = 0;
  while (found < count && drawn < tries) {
    // As many as should do, by the share that has passed so far.
    const likely = Math.ceil(((count - found) * (drawn + 1)) / (found + 1));
    const size = Math.min(batch, tries - drawn, likely);
    const round = await draw(drawn, size);
    const passed = passing(round.positions, conditions).slice(0, count - found);
    found += passed.length;
    last = found === count ? drawn + (passed.at(-1) as number) + 1 : drawn + size;
    drawn += size;
    rounds.push({
      ...round,
      positions: select(round.positions, passed),
      ...(round.trace && { trace: selectTrace(round.trace, passed) }),
    });
  }
  return { ...joined(rounds), drawn: last };
}

function passing(positions: Positions, conditions: readonly BoardCondition[]): number[] {
  const numbers = Array.from({ length: positions.count }, (_, i) => i);
  return numbers.filter((i) => {
    const board = boardAt(positions, i);
    return conditions.every(({ holds }) => holds(board));
  });
}

function joined(rounds: readonly Boards[]): Boards {
  const total = (of: (round: Boards) => number): number => rounds.reduce((n, round) => n + of(round), 0);
  const bytes = new Uint8Array(total(({ positions }) => positions.bytes.length));
  let at = 0;
  for (const { positions } of rounds) {
    bytes.set(positions.bytes, at);
    at += positions.bytes.length;
  }
  const most = (of: (round: Boards) => number): number => Math.max(...rounds.map(of));
  const traces = rounds.flatMap(({ trace }) => trace ?? []);
  return {
    ...rounds[0],
    positions: { count: total(({ positions }) => positions.count), bytes },
    steps: most(({ steps }) => steps),
    rejected: most(({ rejected }) => rejected),
    scoreEvaluations: most(({ scoreEvaluations }) => scoreEvaluations),
    exits: total(({ exits }) => exits),
    clamps: total(({ clamps }) => clamps),
    ...(traces.length > 0 && { trace: joinTraces(traces) }),
  };
}
