/**
 * Columns that follow from others (`derived` of diffeo/domain): helpers. The network of whole rows
 * does not see them. That of given cells does: where a helper is known and one of the columns that
 * it follows from is not, it stands for that column,
 *
 *   end = start + duration        (start, duration) → (end, duration)        start = end − duration
 *
 * so that each of the columns can be given, and what comes out obeys the rule by construction. A
 * helper of a label says less than the label: it stands next to it, and among the labels that go
 * with it the one is taken whose code is nearest to what was drawn.
 */
import {
  type Cell,
  type Derivation,
  type Domain,
  derived,
  type Product,
  type ProductPart,
  product,
} from "diffeo/domain";
import { fail } from "diffeo/graph";
import { formatDate } from "../../table/dates.ts";
import { DRAWN, GIVEN, HIDDEN } from "./pattern.ts";
import { isHole, type OpenCell } from "./points.ts";

/** A column that follows from others; numbers are of parts of the wide product. */
interface Helper {
  readonly part: number;
  readonly derivation: Derivation;
  readonly from: readonly number[];
  /** Of a label, the cell that goes with each. */
  readonly cellOf: ReadonlyMap<Cell, Cell>;
}

/** A column that has cells only where another has one of some labels. */
interface Condition {
  readonly part: number;
  readonly derivation: Derivation;
  readonly from: number;
  readonly labels: ReadonlySet<Cell>;
}

/** All columns of a table: those that whole rows are learned in, and after them their helpers. */
export interface Related {
  readonly domain: Product;
  readonly helpers: readonly Helper[];
  readonly conditions: readonly Condition[];
}

/**
 * What columns are: the product of those that are learned, and of all where some follow from them.
 */
export interface RelatedColumns {
  readonly domain: Product;
  readonly related?: Related;
}

const derivationOf = ({ spec }: Domain): Derivation | undefined =>
  spec?.kind === "derived" ? spec.derivation : undefined;

/** The domain of the cells themselves. */
const innerOf = (own: Domain): Domain =>
  own.spec?.kind === "derived" ? { ...own, spec: own.spec.domain } : own;

/** Splits columns into those that are learned and those that follow from them. */
export function relatedColumns(columns: Readonly<Record<string, Domain>>): RelatedColumns {
  const all = Object.entries(columns);
  const isHelper = ([, own]: readonly [string, Domain]): boolean => {
    const { by } = derivationOf(own) ?? {};
    return by !== undefined && by !== "presence";
  };
  const primary = all
    .filter((one) => !isHelper(one))
    .map(([name, own]) => [name, innerOf(own)] as const);
  const domain = product(Object.fromEntries(primary));
  if (all.every(([, own]) => !derivationOf(own))) return { domain };
  const others = all.filter(isHelper);
  const wide = product(
    Object.fromEntries([...primary, ...others.map(([name, own]) => [name, innerOf(own)])]),
  );
  const helpers = others.map(([name, own], i): Helper => {
    const derivation = derivationOf(own) as Derivation;
    const sources = derivation.by === "sum" ? derivation.from : [derivation.from];
    const from = sources.map((source) => partNamed(domain, source, name));
    const cellOf = new Map<Cell, Cell>(
      derivation.by === "label"
        ? derivation.labels.map((label, k) => [label, derivation.cells[k]])
        : [],
    );
    return { part: primary.length + i, derivation, from, cellOf };
  });
  const conditions = all.flatMap(([name, own]): Condition[] => {
    const derivation = derivationOf(own);
    if (derivation?.by !== "presence") return [];
    const [part, from] = [name, derivation.from].map((one) => partNamed(domain, one, name));
    return [{ part, derivation, from, labels: new Set(derivation.labels) }];
  });
  return { domain, related: { domain: wide, helpers, conditions } };
}

/** The part of a column that another follows from. */
function partNamed({ parts }: Product, source: string, name: string): number {
  const at = parts.findIndex((part) => part.name === source);
  return at >= 0 && parts[at].domain.cells === 1
    ? at
    : fail(
        "usage",
        `"${name}" follows from "${source}", which is not a single column of the model`,
        "give its domain in `columns`, under its name",
      );
}

/** Columns by name, from which `relatedColumns` makes the same. */
export function namedColumns({ domain, related }: RelatedColumns): Record<string, Domain> {
  const rules = [...(related?.helpers ?? []), ...(related?.conditions ?? [])];
  return Object.fromEntries(
    (related?.domain ?? domain).parts.map(({ name, domain: own }, k) => {
      const rule = rules.find(({ part }) => part === k);
      return [name, rule ? derived(own, rule.derivation) : own];
    }),
  );
}

/** Whether a cell of a row belongs to a column that has none there. */
export const isBlank = (
  { conditions, domain: { parts } }: Related,
  part: number,
  cells: readonly OpenCell[],
): boolean =>
  conditions.some(
    (one) => one.part === part && !one.labels.has(cells[parts[one.from].at.cells] as Cell),
  );

/** The same with the parts of the wide product as they have become, bent say. */
export function withParts({ helpers, conditions }: Related, wide: Product): RelatedColumns {
  const first = wide.parts.length - helpers.length;
  return {
    domain: product(
      Object.fromEntries(wide.parts.slice(0, first).map(({ name, domain }) => [name, domain])),
    ),
    related: { domain: wide, helpers, conditions },
  };
}

/** Sums of decimal numbers have no more digits than these. */
const DIGITS = 12;
const rounded = (value: number): number => Number(value.toPrecision(DIGITS));
const isSame = (a: number, b: number): boolean =>
  Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));

const quoted = ({ name }: ProductPart): string => `"${name}"`;

/** A cell as the file writes it. */
const shown = ({ domain: { spec } }: ProductPart, cell: OpenCell): string =>
  spec?.kind === "date" && typeof cell === "number" ? formatDate(cell, spec.format) : `${cell}`;

/** The cell of a helper by the cells of all parts; undefined where they do not settle it. */
function follows({ derivation, from, cellOf }: Helper, cells: readonly OpenCell[]) {
  if (from.some((k) => isHole(cells[k]))) return undefined;
  return derivation.by === "sum"
    ? rounded(from.reduce((sum, k) => sum + Number(cells[k]), 0))
    : cellOf.get(cells[from[0]] as Cell);
}

/** The cells of helpers, in their order, by cells of the columns that are learned. */
export function helperCells(related: Related, cells: readonly Cell[]): readonly Cell[] {
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
    ? `${quoted(parts[helper.part])} is ${shown(parts[helper.part], own)}, and ${from.map((k) => quoted(parts[k])).join(" + ")} is ${shown(parts[helper.part], found)}`
    : `${quoted(parts[helper.part])} is ${own}, and with ${quoted(parts[from[0]])} ${cells[from[0]]} goes ${found}`;
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
      return `${quoted(parts[part])} is ${shown(parts[part], own[part])}, and a row with ${quoted(parts[from])} ${own[from]} has none`;
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
        return `${quoted(parts[part])} is ${shown(parts[part], own[part])}, which leaves ${left} for ${quoted(target)}: ${fault}`;
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

/** Whether a helper that is known stands for, or next to, a part that is not. */
export const isHelped = (
  { helpers, conditions }: Related,
  isKnown: (part: number) => boolean,
): boolean =>
  helpers.some(({ part, from }) => isKnown(part) && from.some((k) => !isKnown(k))) ||
  conditions.some(({ part, from }) => isKnown(part) && !isKnown(from));

const clamp = (value: number, [low, high]: readonly [number, number]): number =>
  Math.min(Math.max(value, low), high);

/** Where a part of a sum may be: as far as was seen. */
const rangeOf = ({ derivation }: Helper, i: number): readonly [number, number] =>
  (derivation.by === "sum" && derivation.ranges?.[i]) || [-Infinity, Infinity];

/** The parts of a known sum that are not known: the first is what the others leave of it. */
function resolveSum(helper: Helper, given: readonly OpenCell[], out: OpenCell[]): void {
  const { part, from } = helper;
  const open = from.flatMap((k, i) => (isHole(given[k]) ? [i] : []));
  const total = Number(given[part]);
  const sumBut = (but: number): number =>
    from.reduce((sum, k, i) => sum + (i === but ? 0 : Number(out[k])), 0);
  // What one cannot take within its range, the next takes.
  for (const i of open) out[from[i]] = rounded(clamp(total - sumBut(i), rangeOf(helper, i)));
  const [first] = open;
  if (!isSame(sumBut(-1), total)) out[from[first]] = rounded(total - sumBut(first));
}

/** A sum that is not known stays within its range: the last part gives way. */
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
