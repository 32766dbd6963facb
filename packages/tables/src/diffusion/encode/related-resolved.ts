/** Makes sampled cells obey the rules of columns that follow from others. */
import type { Cell, ProductPart } from "diffeo/domain";
import { isHole, type OpenCell } from "./points.ts";
import type { Helper, Related } from "./related.ts";
import { allowedLabels, follows, isSame, rounded } from "./related-settled.ts";

const clamp = (value: number, [low, high]: readonly [number, number]): number =>
  Math.min(Math.max(value, low), high);

/** The range of a part of a sum: that of the rows. */
const rangeOf = ({ derivation }: Helper, i: number): readonly [number, number] =>
  (derivation.by === "sum" && derivation.ranges?.[i]) || [-Infinity, Infinity];

/** The unknown parts of a known sum: the first is the rest of the sum. */
function resolveSum(helper: Helper, given: readonly OpenCell[], out: OpenCell[]): void {
  const { part, from } = helper;
  const open = from.flatMap((k, i) => (isHole(given[k]) ? [i] : []));
  const total = Number(given[part]);
  const sumBut = (but: number): number =>
    from.reduce((sum, k, i) => sum + (i === but ? 0 : Number(out[k])), 0);
  // What does not fit into the range of one part goes to the next.
  for (const i of open) out[from[i]] = rounded(clamp(total - sumBut(i), rangeOf(helper, i)));
  const [first] = open;
  if (!isSame(sumBut(-1), total)) out[from[first]] = rounded(total - sumBut(first));
}

/** An unknown sum stays within its range: the last part is changed. */
function resolveRange({ from, derivation }: Helper, out: OpenCell[]): void {
  if (derivation.by !== "sum" || !derivation.range) return;
  const sum = from.reduce((s, k) => s + Number(out[k]), 0);
  const over = sum - clamp(sum, derivation.range);
  const last = from.length - 1;
  if (over !== 0) {
    const range = derivation.ranges?.[last] ?? [-Infinity, Infinity];
    out[from[last]] = rounded(clamp(Number(out[from[last]]) - over, range));
  }
}

/** The label whose code is nearest to y. */
function nearestLabel(
  { domain, at }: ProductPart,
  labels: readonly Cell[],
  y: ArrayLike<number>,
): Cell {
  let [best, least] = [labels[0], Number.POSITIVE_INFINITY];
  for (const label of labels) {
    const code = domain.encode([label], []);
    const far = code.reduce((sum, v, j) => sum + (v - y[at.y + j]) ** 2, 0);
    if (far < least) [best, least] = [label, far];
  }
  return best;
}

/**
 * Cells of all parts, of which some are given and the others were drawn as y, so that the rules
 * hold.
 */
export function resolvedCells(
  related: Related,
  given: readonly OpenCell[],
  drawn: readonly Cell[],
  y: ArrayLike<number>,
): Cell[] {
  const { parts } = related.domain;
  const at = parts.map((part) => part.at.cells);
  const known = at.map((place) => given[place]);
  const out: OpenCell[] = at.map((place) => drawn[place]);
  const labels = related.helpers.flatMap(({ derivation, from }) =>
    derivation.by === "label" ? from : [],
  );
  for (const label of new Set([...labels, ...related.conditions.map(({ from }) => from)])) {
    if (!isHole(known[label])) continue;
    const allowed = allowedLabels(related, label, known);
    if (allowed && allowed.length > 0 && !allowed.includes(out[label] as Cell))
      out[label] = nearestLabel(parts[label], allowed, y);
  }
  for (const helper of related.helpers) {
    const isOpen = helper.from.some((k) => isHole(known[k]));
    const isKnown = !isHole(known[helper.part]);
    if (helper.derivation.by === "label") {
      out[helper.part] = isKnown ? known[helper.part] : follows(helper, out);
      continue;
    }
    if (isOpen && isKnown) resolveSum(helper, known, out);
    else if (isOpen) resolveRange(helper, out);
    out[helper.part] = isKnown ? known[helper.part] : follows(helper, out);
  }
  const cells = [...drawn];
  out.forEach((cell, k) => {
    if (parts[k].domain.cells === 1) cells[at[k]] = cell as Cell;
  });
  return cells;
}
