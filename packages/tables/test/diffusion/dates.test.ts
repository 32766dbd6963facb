/** Dates: how they are read and written, what they are taken apart into, and models of them. */
import { type Cell, type Domain, domainOf, product, weekdayOf } from "diffeo/domain";
import { key, normal, uniform } from "diffeo/random";
import { describe, expect, it } from "vitest";
import { rowsIn } from "../../src/diffusion/encode/rows.ts";
import { fitTable } from "../../src/diffusion/fit/fit.ts";
import { writtenRows } from "../../src/diffusion/query/write.ts";
import { inferColumns, namedDomains } from "../../src/diffusion/schema/infer.ts";
import { parseCells } from "../../src/table/cells.ts";
import { formatDate, formatsOf, parseDate } from "../../src/table/dates.ts";

const dayOf = (text: string): number => Date.parse(`${text}T00:00:00Z`) / 86_400_000;

describe("a date", () => {
  it.each([
    ["2012-02-29", "YYYY-MM-DD", "2012-02-29"],
    ["31.12.1999", "DD.MM.YYYY", "1999-12-31"],
    ["7/4/2021", "M/D/YYYY", "2021-07-04"],
    ["3-1-69", "D-M-YY", "2069-01-03"],
    ["Jun 12 1998", "MMM DD YYYY", "1998-06-12"],
    ["September 5, 2020", "MMMM D, YYYY", "2020-09-05"],
    ["04-Mar-2017", "DD-MMM-YYYY", "2017-03-04"],
    ["1850/01/02", "YYYY/MM/DD", "1850-01-02"],
  ])("%s is read and written as %s", (text, format, iso) => {
    expect(formatsOf(text)).toContain(format);
    expect(parseDate(text, format)).toBe(dayOf(iso));
    expect(formatDate(dayOf(iso), format)).toBe(text);
  });

  it.each([
    ["2020-05-06T07:08:09Z", "YYYY-MM-DDTHH:mm:ssZ", 7 * 3600 + 8 * 60 + 9],
    ["2020-05-06 17:08", "YYYY-MM-DD HH:mm", 17 * 3600 + 8 * 60],
    ["05/06/2020 12:30 AM", "MM/DD/YYYY hh:mm A", 30 * 60],
    ["2020-05-06 07:08:09.250+02:00", "YYYY-MM-DD HH:mm:ss.SSS+02:00", 7 * 3600 + 489.25],
  ])("%s has a local time of day", (text, format, seconds) => {
    expect(formatsOf(text)).toContain(format);
    const value = parseDate(text, format) as number;
    expect((value - dayOf("2020-05-06")) * 86_400).toBeCloseTo(seconds, 3);
    expect(formatDate(value, format)).toBe(text);
  });

  it.each(["2011-02-29", "2012-13-01", "32.1.2000", "Foo 1, 2000", "1-2-3", "12:30", "", "5"])(
    "%j is none",
    (text) => {
      for (const format of ["YYYY-MM-DD", "D.M.YYYY", "MMM D, YYYY", ...formatsOf(text)])
        expect(parseDate(text, format)).toBeUndefined();
    },
  );
});

const inferred = (cells: readonly string[]) =>
  inferColumns(
    parseCells(`when,b\n${cells.map((c, i) => `${c},${i % 7}`).join("\n")}\n`, "t.csv"),
  )[0];
const domainFor = (cells: readonly string[]): Domain => inferred(cells).domain as Domain;
/** Working days from a date on. */
const workdays = (from: string, count: number): string[] => {
  const found: string[] = [];
  for (let day = dayOf(from); found.length < count; day++)
    if (![0, 6].includes(weekdayOf(day))) found.push(formatDate(day, "YYYY-MM-DD"));
  return found;
};

describe("a column of dates", () => {
  it("is recognised if all cells are dates, with its possible periods", () => {
    expect(inferred(workdays("2020-01-01", 200)).reason).toBe(
      "dates from 2020-01-01 to 2020-10-06, written as YYYY-MM-DD; by weekday",
    );
    const years = Array.from({ length: 300 }, (_, i) => formatDate(10_000 + 7.31 * i, "D/M/YYYY"));
    expect(inferred(years).reason).toMatch(/written as D\/M\/YYYY; by year and day of the year$/);
    const times = Array.from({ length: 40 }, (_, i) =>
      formatDate(19_000 + i * 0.37, "M/D/YY H:mm"),
    );
    expect(inferred(times).reason).toMatch(/; by time of day$/);
    expect(inferred([...workdays("2020-01-01", 20), "yesterday"]).kind).not.toBe("date");
  });

  it.each<[string, string[]]>([
    ["working days", workdays("2020-01-01", 300)],
    ["working days of years", workdays("2015-11-11", 1300)],
    [
      "days of years",
      Array.from({ length: 400 }, (_, i) => formatDate(9000.5 + 5 * i, "DD.MM.YYYY")),
    ],
    [
      "times",
      Array.from({ length: 99 }, (_, i) => formatDate(19_000 + i * 0.37, "YYYY-MM-DD HH:mm")),
    ],
  ])("%s: cells are reproduced, and samples have the same format", (name, cells) => {
    const own = domainFor(cells);
    const { format } = own.spec as { format: string };
    const values = cells.map((cell) => parseDate(cell, format) as number);
    const u = uniform(key(name), [values.length, 3], { dtype: "float64" }).data;
    values.forEach((value, i) => {
      const y = own.encode([value], u.subarray(3 * i, 3 * i + 3));
      expect(formatDate(own.decode(y)[0] as number, format)).toBe(cells[i]);
    });
    const z = normal(key(name), [300, own.size], { dtype: "float64" }).data;
    const [from, to] = [Math.min(...values), Math.max(...values)];
    for (let i = 0; i < 300; i++) {
      const y = z.slice(i * own.size, (i + 1) * own.size);
      if (own.codes) y.set(own.codes[i % 5]);
      const [value] = own.decode(y) as number[];
      expect(value >= Math.floor(from) && value < Math.floor(to) + 1).toBe(true);
      if (own.codes) expect([0, 6]).not.toContain(weekdayOf(value));
    }
    expect(domainOf(JSON.parse(JSON.stringify(own.spec))).spec).toEqual(own.spec);
  });

  it.each<[string, string[], number]>([
    ["working days", workdays("2020-01-01", 200), 5],
    [
      "days of years",
      Array.from({ length: 400 }, (_, i) => formatDate(9000 + 5 * i, "YYYY-MM-DD")),
      1,
    ],
  ])("%s have probabilities that sum to 1 for a Gaussian y", (_, cells, weekdays) => {
    const own = domainFor(cells);
    const [from, to] = [cells[0], cells[cells.length - 1]].map(dayOf);
    const k = own.codes?.[0].length ?? 0;
    const U = 8;
    let total = 0;
    for (let day = from - 700; day < to + 700; day++) {
      if (own.fault([day]) !== undefined) continue;
      for (let i = 0; i < U; i++) {
        const y = own.encode([day], [(i + 0.5) / U, (((3 * i) % U) + 0.5) / U, 0.5]);
        const square = y.slice(k).reduce((s, v) => s + v * v, 0);
        const q = Math.exp(-square / 2) / (2 * Math.PI) ** ((y.length - k) / 2);
        total += (q * Math.exp(own.logUnitOf?.([day], y) ?? 0)) / U;
      }
    }
    // Each weekday has the chance 1 here.
    expect(Math.abs(total / weekdays - 1)).toBeLessThan(0.005);
  });
});

it("a model of dates learns weekday and season, and writes dates in the original format", async () => {
  const days = workdays("2016-01-01", 900);
  const z = normal(key("heat"), [days.length], { dtype: "float64" }).data;
  const heat = days.map((day, i) => {
    const season = Math.cos((2 * Math.PI * (dayOf(day) - dayOf("2016-07-01"))) / 365.25);
    return Math.round(10 * (15 + 10 * season + z[i])) / 10;
  });
  const table = parseCells(
    `day,heat\n${days.map((day, i) => `${day},${heat[i]}`).join("\n")}\n`,
    "t.csv",
  );
  const columns = namedDomains(inferColumns(table));
  const model = await fitTable(rowsIn(table, product(columns)), {
    columns,
    ...{ width: 32, blocks: 1, rate: 5e-3, threads: 1, steps: 400, given: false },
  });
  const { rows } = await model.sample({ count: 600, seed: 1 });
  const written = writtenRows(model, rows);
  const gaps = written.map(([day, t]: readonly Cell[]) => {
    expect(String(day)).toMatch(/^20\d\d-\d\d-\d\d$/);
    const season = Math.cos((2 * Math.PI * (dayOf(String(day)) - dayOf("2016-07-01"))) / 365.25);
    return Math.abs(Number(t) - 15 - 10 * season);
  });
  // 0.8 of the truth, 7 where the season says nothing.
  expect(gaps.reduce((s, v) => s + v, 0) / gaps.length).toBeLessThan(2.5);
  const weekend = rows.filter(([day]) => [0, 6].includes(weekdayOf(Number(day)))).length;
  expect(weekend / rows.length).toBeLessThan(0.03);
  const [likely, unlikely] = await model.logLikelihood([
    [dayOf("2018-07-04"), 25],
    [dayOf("2018-01-03"), 25],
  ]);
  expect(likely - unlikely).toBeGreaterThan(3);
});
