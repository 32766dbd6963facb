/**
 * Dates and times of day. Where several formats read all cells, days or months first, that one is
 * taken in which neighbouring rows are nearest to each other.
 */
import { type DateOptions, date as dateDomain, datePartsOf, weekdayOf } from "diffeo/domain";
import { fail } from "diffeo/graph";
import { formatDate, formatsOf, parseDate } from "../../table/dates.ts";
import { quote } from "../../table/quote.ts";
import { bounds } from "./column-cells.ts";
import { distributionOf, stepOf } from "./distribution.ts";
import type { Column, ColumnKind, Meaning } from "./kind.ts";

/** Dates below which their distribution says little. */
const LEAST_DATES = 10;
/** Dates of so many days have seasons that come again. */
const YEARS = 2 * 365;
/**
 * Weekdays differ where χ² of six degrees of freedom is above this, once in 10⁵ times by chance.
 */
const UNEVEN = 33;

interface Read {
  readonly format: string;
  readonly days: readonly number[];
}

/** The format that all cells have, and their days. */
function readDates(cells: readonly string[]): Read | undefined {
  const read = formatsOf(cells[0] ?? "").flatMap((format): (Read & { same: number })[] => {
    const days: number[] = [];
    let same = 0;
    for (const cell of cells) {
      const day = parseDate(cell, format);
      if (day === undefined) return [];
      days.push(day);
      if (formatDate(day, format) === cell.trim()) same++;
    }
    return [{ format, days, same }];
  });
  if (read.length === 0) return undefined;
  const most = Math.max(...read.map(({ same }) => same));
  const daysBetween = ({ days }: Read): number =>
    days.reduce((sum, v, i) => sum + (i === 0 ? 0 : Math.abs(v - days[i - 1])), 0);
  return read
    .filter(({ same }) => same === most)
    .reduce((best, one) => (daysBetween(one) < daysBetween(best) ? one : best));
}

/** The weekdays that occur, where some have more dates than others. */
function unevenWeekdays(days: readonly number[]): number[] | undefined {
  const counts = new Float64Array(7);
  for (const day of days) counts[weekdayOf(day)]++;
  const expected = days.length / 7;
  const seen = [...counts.keys()].filter((day) => counts[day] > 0);
  const chiSquared = counts.reduce((s, v) => s + (v - expected) ** 2 / expected, 0);
  return expected >= 5 && chiSquared > UNEVEN && seen.length > 1 ? seen : undefined;
}

/** Numbers spread evenly over a week around each. */
const spreadOverWeek = (days: readonly number[]): number[] =>
  // Multiples of the golden section are spread evenly over (0, 1).
  days.map((day, i) => day + 7 * (((i + 1) * 0.6180339887498949) % 1) - 3.5);

/** F of numbers that may all be the same: then there is one cell, with a neighbour on each side. */
const distributionWithNeighbours = (numbers: readonly number[], step: number | undefined) =>
  distributionOf(
    new Set(numbers).size > 1
      ? numbers
      : [...numbers, numbers[0] - (step ?? 1), numbers[0] + (step ?? 1)],
    step,
  );

function meaningOf({ format, days: values }: Read): Meaning {
  const parts = values.map(datePartsOf);
  const days = parts.map(({ day }) => day);
  const [from, to] = bounds(values);
  const isLong = to - from >= YEARS;
  const weekdays = unevenWeekdays(days);
  const own = isLong ? parts.map(({ dayOfYear }) => dayOfYear) : days;
  const seconds = parts.map(({ second }) => second);
  const hasTimes = /[Hh]/.test(format);
  const options: DateOptions = {
    format,
    range: [from, to],
    day: weekdays
      ? distributionOf(spreadOverWeek(own), undefined)
      : distributionWithNeighbours(own, 1),
    ...(isLong && {
      year: distributionWithNeighbours(
        parts.map(({ year }) => year),
        1,
      ),
    }),
    ...(hasTimes && { second: distributionWithNeighbours(seconds, stepOf(seconds) ?? 0.001) }),
    ...(weekdays && { weekdays }),
  };
  const by = [
    isLong ? "by year and day of the year" : "",
    weekdays ? "by weekday" : "",
    hasTimes ? "by time of day" : "",
  ].filter((text) => text !== "");
  return {
    domain: dateDomain(options),
    reason:
      `dates from ${formatDate(from, format)} to ${formatDate(to, format)}, written as ` +
      `${format}${by.length > 0 ? `; ${by.join(", ")}` : ""}`,
  };
}

function recognised({ cells, numbers }: Column): Meaning | undefined {
  if (numbers || cells.length < LEAST_DATES || new Set(cells).size < 3) return undefined;
  const read = readDates(cells);
  return read && meaningOf(read);
}

export const date: ColumnKind = {
  name: "date",
  counts: [0],
  declared: ({ name, cells }) => {
    const read = readDates(cells);
    if (!read || new Set(cells).size < 2)
      return fail(
        "data",
        `${quote(name)} is not a column of dates of one format, such as ${quote(cells[0] ?? "")}`,
        "write them as 2024-12-31, or leave out the rule",
      );
    return meaningOf(read);
  },
  recognised,
  numbersOf: ({ spec }) => (spec?.kind === "date" ? [] : undefined),
};
