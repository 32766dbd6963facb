/** Cells that follow from others in a row, and sentences on cells that do not go together. */
import type { Cell, ProductPart } from "diffeo/domain";
import { formatDate } from "../../table/dates.ts";
import { isHole, type OpenCell } from "./points.ts";
import type { Helper, Related } from "./related.ts";

/** Sums of decimal numbers have no more digits than these. */
const DIGITS = 12;

export const rounded = (value: number): number => Number(value.toPrecision(DIGITS));

export const isSame = (a: number, b: number): boolean =>
  Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));

const quoted = ({ name }: ProductPart): string => `"${name}"`;

/** A cell as the file writes it. */
const shown = ({ domain: { spec } }: ProductPart, cell: OpenCell): string =>
  spec?.kind === "date" && typeof cell === "number" ? formatDate(cell, spec.format) : `${cell}`;

/** The cell of a helper by the cells of all parts; undefined where they do not settle it. */
export function follows({ derivation, from, cellOf }: Helper, cells: readonly OpenCell[]) {
  if (from.some((k) => isHole(cells[k]))) return undefined;
  return derivation.by === "sum"
    ? rounded(from.reduce((sum, k) => sum + Number(cells[k]), 0))
    : cellOf.get(cells[from[0]] as Cell);
}

/**
 * The cells of helpers, in their order, by cells of the columns that are learned; empty where these
 * do not settle them.
 */
export function helperCells(related: Related, cells: readonly OpenCell[]): readonly Cell[] {
  const own = related.domain.parts.map(({ at }) => cells[at.cells]);
  return related.helpers.map((helper) => follows(helper, own) ?? "");
}

/** Labels that go with all known helpers of a part, where one is known. */
export function allowedLabels(
  { domain: { parts }, helpers, conditions }: Related,
  part: number,
  cells: readonly OpenCell[],
): readonly Cell[] | undefined {
  const asked = conditions.filter((one) => one.from === part && !isHole(cells[one.part]));
  const known = helpers.filter(
    (one) => one.derivation.by === "label" && one.from[0] === part && !isHole(cells[one.part]),
  );
  const { spec } = parts[part].domain;
  if (known.length + asked.length === 0 || spec?.kind !== "category") return undefined;
  return spec.labels.filter(
    (label) =>
      known.every((one) => one.cellOf.get(label) === cells[one.part]) &&
      asked.every(({ labels }) => labels.has(label)),
  );
}

/** Sums that are known, two or more of whose parts are not; cells by part. */
export function openSums({ helpers }: Related, cells: readonly OpenCell[]) {
  return helpers.flatMap(({ derivation, part, from }) => {
    const open = from.filter((k) => isHole(cells[k]));
    if (derivation.by !== "sum" || isHole(cells[part]) || open.length < 2) return [];
    const known = from.reduce((sum, k) => sum + (open.includes(k) ? 0 : Number(cells[k])), 0);
    return [{ total: Number(cells[part]), open, known }];
  });
}

/** Why cells of which all but the helper are known do not go together. */
function conflict({ domain: { parts } }: Related, helper: Helper, cells: readonly OpenCell[]) {
  const found = follows(helper, cells);
  const own = cells[helper.part];
  if (found === undefined || isHole(own)) return undefined;
  const fits =
    typeof found === "number" && typeof own === "number" ? isSame(found, own) : found === own;
  if (fits) return undefined;
  const { derivation, from } = helper;
  return derivation.by === "sum"
    ? `${quoted(parts[helper.part])} is ${shown(parts[helper.part], own)}, and ` +
        `${from.map((k) => quoted(parts[k])).join(" + ")} is ${shown(parts[helper.part], found)}`
    : `${quoted(parts[helper.part])} is ${own}, and with ${quoted(parts[from[0]])} ` +
        `${cells[from[0]]} goes ${found}`;
}

/** That no label goes with all that is known. */
function noLabel(
  { domain: { parts }, helpers, conditions }: Related,
  label: number,
  cells: readonly OpenCell[],
) {
  const known = [
    ...helpers.filter(({ derivation, from }) => derivation.by === "label" && from[0] === label),
    ...conditions.filter(({ from }) => from === label),
  ].filter(({ part }) => !isHole(cells[part]));
  const words = known.map(
    ({ part }) => `${quoted(parts[part])} ${shown(parts[part], cells[part])}`,
  );
  return `no row has ${words.join(" and ")}${words.length > 1 ? " together" : ""}`;
}

/**
 * Cells of all parts, one each, with those that follow from the others; or a sentence on why they
 * do not go together.
 */
export function settledCells(
  related: Related,
  cells: readonly OpenCell[],
): readonly OpenCell[] | string {
  const { parts } = related.domain;
  const out = [...cells];
  const cellAt = related.domain.parts.map(({ at }) => at.cells);
  // Parts with several cells have no part in rules: places are those of single cells.
  const byPart = (): OpenCell[] => cellAt.map((at) => out[at]);
  const labels = new Set([
    ...related.helpers.flatMap(({ derivation, from }) => (derivation.by === "label" ? from : [])),
    ...related.conditions.map(({ from }) => from),
  ]);
  for (const label of labels) {
    const own = byPart();
    if (!isHole(own[label])) continue;
    const allowed = allowedLabels(related, label, own);
    if (allowed?.length === 0) return noLabel(related, label, own);
    if (allowed?.length === 1) out[cellAt[label]] = allowed[0];
  }
  for (const { part, from, labels: present } of related.conditions) {
    const own = byPart();
    if (!isHole(own[part]) && !isHole(own[from]) && !present.has(own[from] as Cell))
      return (
        `${quoted(parts[part])} is ${shown(parts[part], own[part])}, and a row with ` +
        `${quoted(parts[from])} ${own[from]} has none`
      );
  }
  for (const helper of related.helpers) {
    const { derivation, from, part } = helper;
    let own = byPart();
    const open = from.filter((k) => isHole(own[k]));
    if (derivation.by === "sum" && open.length === 1 && !isHole(own[part])) {
      const rest = from.reduce((sum, k) => sum + (k === open[0] ? 0 : Number(own[k])), 0);
      const left = rounded(Number(own[part]) - rest);
      const target = parts[open[0]];
      const fault = target.domain.fault([left]);
      if (fault !== undefined)
        return (
          `${quoted(parts[part])} is ${shown(parts[part], own[part])}, which leaves ${left} for ` +
          `${quoted(target)}: ${fault}`
        );
      out[cellAt[open[0]]] = left;
    }
    own = byPart();
    const fault = conflict(related, helper, own);
    if (fault !== undefined) return fault;
    const found = follows(helper, own);
    if (found !== undefined && isHole(own[part])) out[cellAt[part]] = found;
  }
  return out;
}

/** Cells without those of helpers that say nothing new: all that they follow from is known. */
export function withoutIdle(
  { domain: { parts }, helpers }: Related,
  cells: readonly OpenCell[],
): readonly OpenCell[] {
  const out = [...cells];
  for (const { part, from } of helpers)
    if (from.every((k) => !isHole(cells[parts[k].at.cells]))) out[parts[part].at.cells] = null;
  return out;
}
