/**
 * Dates and times of day, as days since 1970-01-01, a time of day being a fraction. A date is taken
 * apart into what rows may depend on, each a coordinate with its own distribution function
 * (`empirical.ts`):
 *
 *   day             day of the year where there is a year, else days since 1970-01-01
 *   year            where dates span several years: seasons are then alike
 *   weekday         a label, where weekdays differ in how often they occur
 *   second          of the day, where times are recorded
 *
 * With weekdays a day d stands for all t in [d − 3½, d + 3½), u uniform, and is the one day of that
 * weekday in the week around t:
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

/** What a domain of dates is made of. */
export interface DateOptions {
  /** How dates are written, such as "YYYY-MM-DD HH:mm"; a table's readers and writers use it. */
  readonly format: string;
  /** The first and the last day. */
  readonly range: readonly number[];
  readonly day: EmpiricalOptions;
  readonly year?: EmpiricalOptions;
  readonly second?: EmpiricalOptions;
  /** Where the weekday is a label of its own, those that occur; 0 is Sunday. */
  readonly weekdays?: readonly number[];
}

const SECONDS = 86_400;
const WEEK = 7;
const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/** The number of the first day of a year. */
const newYear = (year: number): number => Date.UTC(year, 0, 1) / (1000 * SECONDS);

const yearOf = (day: number): number => new Date(day * 1000 * SECONDS).getUTCFullYear();

/** 0 is Sunday. */
export const weekdayOf = (day: number): number => (((day + 4) % WEEK) + WEEK) % WEEK;

/** What a date is taken apart into. */
export interface DateParts {
  readonly day: number;
  readonly year: number;
  readonly dayOfYear: number;
  readonly second: number;
}

/** The parts of a date; seconds to 10⁻³. */
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

/** The day of a weekday that is nearest to a time. */
function dayOfWeek(t: number, weekday: number): number {
  const near = Math.round(t);
  return near + ((weekday - weekdayOf(near) + WEEK + 3) % WEEK) - 3;
}

/** A distribution as a spec has it. */
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

/** Dates by their own distribution. */
export function date(options: DateOptions): Domain {
  const { range, weekdays } = options;
  const labels = weekdays && category(weekdays);
  const [day, year, second] = [options.day, options.year, options.second].map(
    (one) => one && empirical(one),
  ) as [Domain, Domain | undefined, Domain | undefined];
  const k = labels?.dimension ?? 0;
  const numbers = [day, year, second].filter((one) => one !== undefined);
  /** Where the scores of day, year and second are. */
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
      return `it is a ${WEEKDAYS[weekday]}, and none was seen`;
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
