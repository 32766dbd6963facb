/**
 * Columns that follow from others (`derived` of diffeo/domain): helpers. The network of whole rows
 * does not see them. That of given cells does: where a helper is known and one of the columns that
 * it follows from is not, it stands for that column,
 *
 *   end = start + duration        (start, duration) → (end, duration)        start = end − duration
 *
 * so that each of the columns can be given, and what comes out obeys the rule by construction. A
 * helper of a label does not determine the label, so the network sees both. Of the labels that go
 * with the helper, the one is taken whose code is nearest to the sampled point.
 */
import {
  type Cell,
  type Derivation,
  type Domain,
  derived,
  type Product,
  product,
} from "diffeo/domain";
import { fail } from "diffeo/graph";
import type { OpenCell } from "./points.ts";

/** A column that follows from others; numbers are of parts of the wide product. */
export interface Helper {
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
