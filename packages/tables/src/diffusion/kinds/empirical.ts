/**
 * Numbers by their own distribution function: as it is where values are recorded in steps, some of
 * them more often than others.
 */
import { empirical as empiricalDomain } from "diffeo/domain";
import { fail } from "diffeo/graph";
import { quote } from "../../table/quote.ts";
import { bounds, rangeText } from "./column-cells.ts";
import {
  areApart,
  countsOf,
  distributionOf,
  heapsOf,
  MANY_ROWS,
  stepOf,
  tooClose,
} from "./distribution.ts";
import type { Column, ColumnKind, Meaning, NumberTreatment } from "./kind.ts";

/** Rows below which a distribution function says little. */
const LEAST_ROWS = 50;
/** The share of rows that repeat values, from which a column of few rows has heaps. */
const LEAST_HEAPED = 0.3;
/** Integers of so small a range have a chance each already. */
const SMALL_RANGE = 63;

/** Where rows are many, or numbers have heaps. */
function recognised({ numbers }: Column, treatment: NumberTreatment): Meaning | undefined {
  if (!numbers || numbers.length < LEAST_ROWS || treatment === "smooth") return undefined;
  const [low, high] = bounds(numbers);
  const areIntegers = numbers.every(Number.isSafeInteger);
  if (areIntegers && high - low <= SMALL_RANGE) return undefined;
  const [step, counts] = [stepOf(numbers), countsOf(numbers)];
  if (counts.length < 2) return undefined;
  const heaps = heapsOf(counts, step);
  const heaped = counts.reduce((s, { value, count }) => s + (heaps.has(value) ? count : 0), 0);
  const isWanted =
    treatment === "distributions" ||
    numbers.length >= MANY_ROWS ||
    heaped >= LEAST_HEAPED * numbers.length;
  if (!isWanted) return undefined;
  const distribution = distributionOf(numbers, step);
  if (!areApart(distribution)) return undefined;
  return {
    domain: empiricalDomain(distribution),
    reason:
      `numbers ${rangeText(numbers)}${step === undefined ? "" : `, multiples of ${step}`}` +
      (heaps.size > 0 ? `, ${heaps.size} of them more often than their neighbours` : ""),
  };
}

export const empirical: ColumnKind = {
  name: "empirical",
  counts: [0],
  declared: ({ name, numbers }) => {
    if (!numbers || new Set(numbers).size < 2)
      return fail(
        "data",
        `${quote(name)} is not a column of different numbers`,
        `leave out the rule ${name}=empirical`,
      );
    const distribution = distributionOf(numbers);
    if (!areApart(distribution)) tooClose(name, "empirical");
    return { domain: empiricalDomain(distribution), reason: "as specified" };
  },
  recognised,
  numbersOf: ({ spec }) => (spec?.kind === "empirical" ? [] : undefined),
};
