/**
 * Labels and small integers as atoms: the distribution of x has points c_k there, one a label or
 * number, and a network gives the chances of each (`head.ts`). The atom of an integer k is the
 * x of k + ½, on its own coordinate.
 *
 * Integers of a wide range are spread over [k, k + 1) instead: they have too many values for a
 * logit each, or values that are not apart at the last level of noise. Integers of few values are
 * atoms, because a network would only smooth the steps of a spread distribution.
 */
import type { Product, ProductPart } from "diffeo/domain";
import { sumOfSquares } from "diffeo/host";
import { mapRows } from "./map-rows.ts";
import { isHole, type OpenCell, partCells, plainSpec } from "./points.ts";

/** Of each part whose integers are atoms, the least and the greatest. */
export type Atoms = Readonly<Record<string, readonly [least: number, most: number]>>;

/** Atoms that a part may have. */
export const MOST_ATOMS = 64;
/**
 * How far apart atoms are at least, in standard deviations of their column: four times the noise
 * that rows are data at.
 */
const APART = 4 * Math.exp(-4);

/**
 * The y of the labels or atoms of a part, in its first coordinates; undefined where there are none.
 */
export const codesOf = (
  { name, domain }: ProductPart,
  atoms: Atoms,
): readonly (readonly number[])[] | undefined =>
  Object.hasOwn(atoms, name) ? wholesIn(atoms[name]).map((k) => [k + 0.5]) : domain.codes;

/** Whether a part has coordinates of labels or atoms. */
export const isCoded = (part: ProductPart, atoms: Atoms): boolean =>
  codesOf(part, atoms) !== undefined;

/** Whether an integer is beyond its part's atoms. */
export function isBeyond(
  { name, at }: ProductPart,
  atoms: Atoms,
  cells: readonly OpenCell[],
): boolean {
  if (!Object.hasOwn(atoms, name)) return false;
  const [least, most] = atoms[name];
  const k = cells[at.cells];
  return !isHole(k) && (Number(k) < least || Number(k) > most);
}

/** Why nothing can be sampled given an integer; undefined where nothing is. */
export const beyondFault = (
  part: ProductPart,
  atoms: Atoms,
  cells: readonly OpenCell[],
): string | undefined =>
  isBeyond(part, atoms, cells)
    ? `${cells[part.at.cells]} has probability 0 under the model, which knows ` +
      `${atoms[part.name].join(" to ")}`
    : undefined;

/** What to do about a row with one. */
export const EMPTY_OR_DROP = "fix or empty the cell, or drop the row";

/**
 * Integers of a row beyond all that the model has seen: missing values cannot be sampled given
 * these. A row without missing values has none.
 */
export const strangers = ({ parts }: Product, atoms: Atoms, cells: readonly OpenCell[]) =>
  parts.every((part) => partCells(part, cells))
    ? []
    : parts.flatMap((part) => {
        const fault = beyondFault(part, atoms, cells);
        return fault === undefined ? [] : [{ part, fault }];
      });

/** The coordinates of x of the labels or atoms of each part that has some, from and to. */
export const codedRanges = (
  { parts }: Product,
  atoms: Atoms,
): readonly (readonly [from: number, to: number])[] =>
  parts.flatMap((part) => {
    const codes = codesOf(part, atoms);
    return codes ? [[part.at.x, part.at.x + codes[0].length] as const] : [];
  });

/** Each coordinate of x that comes after those of labels in its part, from and to. */
export const scoreRanges = (
  { parts }: Pick<Product, "parts">,
  atoms: Atoms,
): readonly (readonly [from: number, to: number])[] =>
  parts.flatMap((part) => {
    const { at, domain } = part;
    const labels = codesOf(part, atoms)?.[0].length ?? domain.dimension;
    return Array.from(
      { length: domain.dimension - labels },
      (_, i) => [at.x + labels + i, at.x + labels + i + 1] as const,
    );
  });

/** z of the atoms of a part of integers. */
const placesOf = ({ domain }: ProductPart, values: readonly number[]): Float64Array =>
  mapRows(
    Float64Array.from(values, (k) => k + 0.5),
    1,
    domain.map.inverse,
  );

const wholesIn = ([least, most]: readonly [number, number]): number[] =>
  Array.from({ length: most - least + 1 }, (_, i) => least + i);

/**
 * The range of a part's atoms: that of the rows, and as far again beyond it, within its bounds
 * and the most atoms.
 */
function rangeOf(
  part: ProductPart,
  seen: readonly number[],
): readonly [number, number] | undefined {
  const spec = plainSpec(part.domain);
  if (spec?.kind !== "integer" || seen.length === 0) return undefined;
  const [low, high] = seen.reduce(
    ([a, b], v) => [Math.min(a, v), Math.max(b, v)],
    [Infinity, -Infinity],
  );
  const room = Math.max(0, Math.floor((MOST_ATOMS - 1 - (high - low)) / 2));
  const margin = spec.range ? Math.min(high - low + 8, room) : high - low + 8;
  const range = [
    Math.max(spec.least ?? -Infinity, low - margin),
    Math.min(spec.most ?? Infinity, high + margin),
  ] as const;
  if (range[1] - range[0] >= MOST_ATOMS || low === high) return undefined;
  const z = placesOf(part, seen);
  const deviation = Math.sqrt(sumOfSquares(z) / z.length);
  const places = placesOf(part, wholesIn([low, high]));
  const gap = places.slice(1).reduce((least, v, i) => Math.min(least, v - places[i]), Infinity);
  return gap >= APART * deviation ? range : undefined;
}

/** Which integers of rows are atoms. */
export function atomsOf(rows: readonly (readonly OpenCell[])[], { parts }: Product): Atoms {
  return Object.fromEntries(
    parts.flatMap((part) => {
      if (plainSpec(part.domain)?.kind !== "integer") return [];
      const seen = rows.map((row) => row[part.at.cells]).filter((cell) => !isHole(cell));
      // Cells that are not integers are refused where rows are encoded.
      const range = seen.every(Number.isSafeInteger) ? rangeOf(part, seen as number[]) : undefined;
      return range ? [[part.name, range]] : [];
    }),
  );
}
