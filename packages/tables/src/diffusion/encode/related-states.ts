/** Which parts are given, sampled and hidden where columns follow from others. */
import { DRAWN, GIVEN, HIDDEN } from "./pattern.ts";
import type { Related } from "./related.ts";

/**
 * The states of all parts where some are known: a helper counts only where one that it follows from
 * is not known, and of a sum it then stands for that one.
 */
export function statesOfKnown(
  { domain: { parts }, helpers }: Related,
  isKnown: (part: number) => boolean,
  known: number,
  unknown: number,
): Uint8Array {
  const states = Uint8Array.from(parts, (_, k) => (isKnown(k) ? known : unknown));
  for (const { part, from, derivation } of helpers) {
    const open = from.find((k) => !isKnown(k));
    if (!isKnown(part) || open === undefined) states[part] = HIDDEN;
    else if (derivation.by === "sum") states[open] = HIDDEN;
  }
  return states;
}

/**
 * Makes states of training such as there are: of a sum either the helper or one that it follows
 * from is hidden, by a uniform number each.
 */
export function settleStates(
  { helpers }: Related,
  states: Uint8Array,
  u: ArrayLike<number>,
): Uint8Array {
  helpers.forEach(({ part, from, derivation }, i) => {
    if (derivation.by === "sum") {
      const other = from[Math.min(from.length - 1, Math.floor((2 * u[i] - 1) * from.length))];
      states[u[i] < 0.5 ? part : other] = HIDDEN;
    } else {
      const label = states[from[0]];
      const isIdle = label === GIVEN || (label === DRAWN && states[part] === DRAWN);
      if (u[i] < 0.5 || isIdle) states[part] = HIDDEN;
    }
  });
  return states;
}

/** Lets a part be drawn, in the place of the helper that stands for it. */
export function drawPart({ helpers }: Related, states: Uint8Array, part: number): void {
  states[part] = DRAWN;
  for (const one of helpers) if (one.from.includes(part)) states[one.part] = HIDDEN;
}

/** Whether a helper that is known stands for, or next to, a part that is not. */
export const isHelped = (
  { helpers, conditions }: Related,
  isKnown: (part: number) => boolean,
): boolean =>
  helpers.some(({ part, from }) => isKnown(part) && from.some((k) => !isKnown(k))) ||
  conditions.some(({ part, from }) => isKnown(part) && !isKnown(from));
