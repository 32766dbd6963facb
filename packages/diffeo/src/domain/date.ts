/**
 * Dates and times of day, as days since 1970-01-01; a time of day is a fraction of a day. A date is
 * split into parts on which rows may depend. Each is a coordinate with its own distribution
 * function (`empirical.ts`):
 *
 *   day             day of the year if there is a year, else days since 1970-01-01
 *   year            if dates span several years, so that seasons have the same coordinates
 *   weekday         a label, if weekdays have different frequencies
 *   second          of the day, if times are recorded
 *
 * With weekdays a day d represents all t in [d − 3½, d + 3½), with u uniform, and is the day of
 * that weekday in the week around t:
 *
 *   t = d + 7(u − ½)        P(d) = ∫ q(weekday, t) dt = 7 E_u q(weekday, t)
 *
 * Densities are per day.
 */
import { type Block, blocks, identity } from "../bijector/index.ts";
import { normalShare } from "../host/index.ts";
import { type Domain, domain } from "./domain.ts";
import { type EmpiricalOptions, empirical, quantileOf } from "./empirical.ts";
import { category } from "./simplex.ts";

/** Options of `date`: the format, the range, and the distributions of the parts. */
export interface DateOptions {
  /** The format of dates, such as "YYYY-MM-DD HH:mm", for readers and writers of tables. */
  readonly format: string;
  /** The first and the last day, as days since 1970-01-01. */
  readonly range: readonly number[];
  readonly day: EmpiricalOptions;
  readonly year?: EmpiricalOptions;
  readonly second?: EmpiricalOptions;
  /** The weekdays that occur, if the weekday is a separate label; 0 is Sunday. */
  readonly weekdays?: readonly number[];
}

const SECONDS = 86_400;
const WEEK = 7;
const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/** The number of the first day of a year. */
const newYear = (year: number): number => Date.UTC(year, 0, 1) / (1000 * SECONDS);

const yearOf = (day: number): number => new Date(day * 1000 * SECONDS).getUTCFullYear();

/** The weekday of a day; 0 is Sunday. */
export const weekdayOf = (day: number): number => (((day + 4) % WEEK) + WEEK) % WEEK;

/** The parts of a date. */
export interface DateParts {
  readonly day: number;
  readonly year: number;
  readonly dayOfYear: number;
  readonly second: number;
}

/** Splits a date into its parts, with seconds rounded to 10⁻³. */
export function datePartsOf(value: number): DateParts {
  const milliseconds = Math.round(value * SECONDS * 1000);
  const day = Math.floor(milliseconds / (SECONDS * 1000));
  const year = yearOf(day);
  return {
    day,
    year,
    dayOfYear: day - newYear(year),
    second: milliseconds / 1000 - day * SECONDS,
  };
}

/** The day with the given weekday that is closest to a time. */
function dayOfWeek(t: number, weekday: number): number {
  const near = Math.round(t);
  return near + ((weekday - weekdayOf(near) + WEEK + 3) % WEEK) - 3;
}

/** A distribution in the form of a spec. */
const copied = ({ knots, shares, ...rest }: EmpiricalOptions) => ({
  ...rest,
  knots: [...knots],
  shares: [...shares],
});

/** A domain of dates as a spec has it. */
const specOf = ({ format, range, day, year, second, weekdays }: DateOptions): Domain["spec"] => ({
  ...{ kind: "date", format, range: [...range], day: copied(day) },
  ...(year && { year: copied(year) }),
  ...(second && { second: copied(second) }),
  ...(weekdays && { weekdays: [...weekdays] }),
});

/** A day, moved into the range by as few steps of so many days as it takes. */
function intoRange(value: number, range: readonly number[], step: number): number {
  const [from, to] = [Math.floor(range[0]), Math.floor(range[1])];
  const over = value > to ? value - to : value < from ? value - from : 0;
  return value - step * Math.sign(over) * Math.ceil(Math.abs(over) / step);
}

/**
 * The domain of dates and times of day, as days since 1970-01-01, with the distributions of their
 * parts.
 */
export function date(options: DateOptions): Domain {
  const { range, weekdays } = options;
  const labels = weekdays && category(weekdays);
  const [day, year, second] = [options.day, options.year, options.second].map(
    (one) => one && empirical(one),
  ) as [Domain, Domain | undefined, Domain | undefined];
  const k = labels?.dimension ?? 0;
  const numbers = [day, year, second].filter((one) => one !== undefined);
  /** The positions of the scores of day, year and second. */
  const at = { day: k, year: k + 1, second: k + (year ? 2 : 1) };
  const rest: Block = { map: identity(), size: numbers.length };
  return domain({
    kind: "date",
    spec: specOf(options),
    map: blocks(labels ? [{ map: labels.map, size: k }, rest] : [rest]),
    dimension: k + numbers.length,
    cells: 1,
    noise: 3,
    ...(labels && { codes: labels.codes }),
    fault: ([value]) => {
      const weekday = weekdayOf(datePartsOf(value).day);
      if (labels?.fault([weekday]) === undefined) return undefined;
      return `it is a ${WEEKDAYS[weekday]}, which does not occur in the data`;
    },
    encode: ([value], u) => {
      const parts = datePartsOf(value as number);
      const own = year ? parts.dayOfYear : parts.day;
      return [
        ...(labels ? labels.encode([weekdayOf(parts.day)], []) : []),
        ...day.encode([weekdays ? own + WEEK * (u[0] - 0.5) : own], [u[0]]),
        ...(year?.encode([parts.year], [u[1]]) ?? []),
        ...(second?.encode([parts.second], [u[2]]) ?? []),
      ];
    },
    decode: (y) => {
      const own = Array.from(y);
      const of = (domain: Domain | undefined, i: number): number =>
        domain ? (domain.decode([own[i]])[0] as number) : 0;
      const from = year ? newYear(of(year, at.year)) : 0;
      const t = from + of(day, at.day);
      const weekday = labels?.decode(own.slice(0, k))[0];
      const near = weekday === undefined ? Math.round(t) : dayOfWeek(t, weekday as number);
      const found = intoRange(near, range, weekdays ? WEEK : 1);
      return [found + of(second, at.second) / SECONDS];
    },
    logUnitOf: ([value], x) => {
      const parts = datePartsOf(value as number);
      const own = year ? parts.dayOfYear : parts.day;
      const unit = (domain: Domain | undefined, v: number, i: number): number =>
        domain?.logUnitOf?.([v], [x[i]]) ?? 0;
      const t = weekdays ? quantileOf(options.day, normalShare(x[at.day])) : own;
      return (
        unit(day, t, at.day) +
        (weekdays ? Math.log(WEEK) : 0) +
        unit(year, parts.year, at.year) +
        (second ? unit(second, parts.second, at.second) + Math.log(SECONDS) : 0)
      );
    },
  });
}
