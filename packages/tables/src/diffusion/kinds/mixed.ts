/**
 * Numbers with point masses: values that far more rows have than their neighbours, 0 first of all,
 * are labels, and the rest is a number by its own distribution function.
 */
import { empirical, mixed as mixedDomain } from "diffeo/domain";
import { fail } from "diffeo/graph";
import { quote } from "../../table/quote.ts";
import { bounds } from "./column-cells.ts";
import {
  areApart,
  type Counted,
  countsOf,
  distributionOf,
  MANY_ROWS,
  stepOf,
  tooClose,
} from "./distribution.ts";
import type { Column, ColumnKind, Meaning, NumberTreatment } from "./kind.ts";

/** Rows below which shares say little. */
const LEAST_ROWS = 50;
/** The share of rows that a point mass has, of few rows and of many, and how many rows. */
const LEAST_SHARE_OF_FEW = 0.3;
const LEAST_SHARE = 0.02;
const LEAST_COUNT = 10;
/** How much heavier it is than the two values on each side of it. */
const HEAVIER = 5;
/** Point masses of a column, the heaviest. */
const MOST_ATOMS = 10;
/** Numbers that take so few values have no others. */
const FEW_VALUES = 32;
/**
 * Rows per value of such numbers: labels have no order, so that each is learned from its own rows.
 */
const ROWS_EACH = 50;
/** Integers of so small a range have a chance each already. */
const SMALL_RANGE = 63;

/** The heaviest count of a value's two neighbours on each side. */
const aroundOf = (counts: readonly Counted[], i: number): number =>
  [i - 2, i - 1, i + 1, i + 2].reduce((most, j) => Math.max(most, counts[j]?.count ?? 0), 0);

/** Values with a mass of their own. */
function heavyValues(
  counts: readonly Counted[],
  rows: number,
  treatment: NumberTreatment,
): number[] {
  const isBold = rows >= MANY_ROWS || treatment === "point masses";
  const share = isBold ? LEAST_SHARE : LEAST_SHARE_OF_FEW;
  const least = Math.max(LEAST_COUNT, share * rows);
  return counts
    .filter(({ count }, i) => count >= least && count > HEAVIER * aroundOf(counts, i))
    .sort((a, b) => b.count - a.count)
    .slice(0, MOST_ATOMS)
    .map(({ value }) => value)
    .sort((a, b) => a - b);
}

const percent = (share: number): string => `${Number((100 * share).toPrecision(2))} %`;

/** The column with such atoms; undefined where the numbers are too close to each other. */
function meaningOf(
  numbers: readonly number[],
  atoms: readonly number[],
  why: string,
): Meaning | undefined {
  const others = numbers.filter((v) => !atoms.includes(v));
  // Of few others the distribution is that of all.
  const own = new Set(others).size < 2 ? numbers : others;
  const distribution = distributionOf(own, stepOf(numbers));
  if (!areApart(distribution)) return undefined;
  return {
    domain: mixedDomain(atoms, empirical(distribution)),
    reason: why,
  };
}

const masses = (numbers: readonly number[], atoms: readonly number[]): string =>
  atoms
    .map((a) => `${a} in ${percent(numbers.filter((v) => v === a).length / numbers.length)}`)
    .join(", ");

function recognised({ numbers }: Column, treatment: NumberTreatment): Meaning | undefined {
  if (!numbers || numbers.length < LEAST_ROWS || treatment === "smooth") return undefined;
  const counts = countsOf(numbers);
  if (counts.length < 2) return undefined;
  const [low, high] = bounds(numbers);
  if (numbers.every(Number.isSafeInteger) && high - low <= SMALL_RANGE) return undefined;
  if (counts.length <= FEW_VALUES && numbers.length >= ROWS_EACH * counts.length)
    return meaningOf(
      numbers,
      counts.map(({ value }) => value),
      `${counts.length} different numbers from ${low} to ${high}, each with a chance of its own`,
    );
  const atoms = heavyValues(counts, numbers.length, treatment);
  if (atoms.length === 0) return undefined;
  return meaningOf(
    numbers,
    atoms,
    `${masses(numbers, atoms)} of the rows, other numbers from ${low} to ${high}`,
  );
}

export const mixed: ColumnKind = {
  name: "mixed",
  counts: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  declared: ({ name, numbers }, atoms = []) => {
    if (!numbers || new Set(numbers).size < 2)
      return fail(
        "data",
        `${quote(name)} is not a column of different numbers`,
        `leave out the rule ${name}=mixed`,
      );
    const why = `as specified: ${masses(numbers, atoms)} of the rows`;
    return meaningOf(numbers, atoms, why) ?? tooClose(name, "mixed");
  },
  recognised,
  numbersOf: ({ spec }) => (spec?.kind === "mixed" ? spec.atoms : undefined),
};
