/** Numbers with point masses, from cells to rows, likelihoods, given and missing cells. */
import { type Cell, type Domain, empirical, mixed, product } from "diffeo/domain";
import { fold, key, normal, uniform } from "diffeo/random";
import { beforeAll, describe, expect, it } from "vitest";
import { parseTableModel, serializeTableModel } from "../../src/diffusion/file/model-bytes.ts";
import { fitTable } from "../../src/diffusion/fit/fit.ts";
import {
  countsOf,
  distributionOf,
  heapsOf,
  stepOf,
} from "../../src/diffusion/kinds/distribution.ts";
import type { TableModel } from "../../src/diffusion/query/table-model.ts";
import { formatRule } from "../../src/diffusion/schema/columns.ts";
import { inferColumns, namedDomains } from "../../src/diffusion/schema/infer.ts";
import { tableBaselines } from "../../src/measure/baseline/baselines.ts";
import { parseCells } from "../../src/table/cells.ts";

/**
 * Rain, 0 on 58 % of the days (40 % in winter and 76 % in summer), else in tenths, and a
 * temperature.
 */
function days(count: number, seed: number): Cell[][] {
  const u = uniform(key(seed), [count, 3], { dtype: "float64" }).data;
  const z = normal(fold(key(seed), 1), [count], { dtype: "float64" }).data;
  return Array.from({ length: count }, (_, i) => {
    const summer = u[3 * i] < 0.5;
    const dry = u[3 * i + 1] < (summer ? 0.76 : 0.4);
    const rain = Math.ceil(-50 * Math.log(u[3 * i + 2])) / 10;
    return [dry ? 0 : rain, summer ? "summer" : "winter", Math.round(10 * z[i]) / 10];
  });
}

const rows = days(1000, 1);
const text = (cells: readonly (readonly Cell[])[]): string =>
  `rain,season,heat\n${cells.map((row) => row.join(",")).join("\n")}\n`;
const inferred = inferColumns(parseCells(text(rows), "days.csv"));
const columns = namedDomains(inferred) as Record<string, Domain>;

const shareOf = (some: readonly (readonly Cell[])[], holds: (row: readonly Cell[]) => boolean) =>
  some.filter(holds).length / some.length;

describe("a column that is mostly 0", () => {
  it("is recognised, with its reason and an equivalent rule", () => {
    const [rain] = inferred;
    expect(rain.kind).toBe("mixed");
    expect(rain.reason).toMatch(/^0 in 5\d % of the rows, other numbers from 0 to \d\d\.?\d?$/);
    expect(rain.domain?.spec).toMatchObject({ kind: "mixed", atoms: [0], other: { step: 0.1 } });
    expect(formatRule(["rain"], rain.domain as Domain)).toBe("rain=mixed:0");
    const said = inferColumns(parseCells(text(rows), "days.csv"), ["rain=mixed:0"])[0];
    expect(said.domain?.spec).toEqual(rain.domain?.spec);
    const plain = inferColumns(parseCells(text(rows), "days.csv"), ["rain=real"])[0];
    expect(plain.domain?.kind).toBe("real");
  });

  it("is not recognised from few rows, with neighbours as frequent, or for small integers", () => {
    const kind = (values: readonly (number | string)[]): string =>
      inferColumns(parseCells(`a,b\n${values.map((v) => `${v},x`).join("\n")}\n`, "t.csv"))[0].kind;
    const z = normal(key("smooth"), [400], { dtype: "float64" }).data;
    expect(kind(Array.from(z, (v) => Math.round(20 * v) / 10))).toBe("real");
    expect(kind(Array.from(z.subarray(0, 30), (v, i) => (i % 2 ? 0 : v)))).toBe("real");
    expect(kind(Array.from(z, (v) => Math.max(0, Math.round(3 * v))))).toBe("integer");
    expect(kind(Array.from(z, (v) => Math.max(0, Math.round(3000 * v))))).toBe("mixed");
    expect(kind(Array.from(z, (v) => Math.max(0.2, Number(v.toFixed(4)))))).toBe("mixed");
    // Few values that are not integers have a chance each.
    expect(kind(Array.from(z, (_, i) => (i % 5) / 4))).toBe("mixed");
  });
});

describe("a distribution function", () => {
  it("has the step of the recorded values", () => {
    expect(stepOf([1, 2.5, 0.25])).toBe(0.01);
    expect(stepOf([3, 5])).toBe(1);
    expect(stepOf(Array.from({ length: 30 }, (_, i) => 1000 * i))).toBe(1000);
    expect(stepOf(Array.from({ length: 30 }, (_, i) => Number((0.05 * i).toFixed(2))))).toBe(0.05);
    // Three multiples of 1,000 may be so by chance.
    expect(stepOf([1000, 3000, 5000])).toBe(1);
    expect(stepOf([0.1 + 0.2, 1])).toBeUndefined();
    expect(stepOf([1e-30, 1])).toBeUndefined();
  });

  it("has point masses where rows are more than neighbours explain, and none in a smooth column", () => {
    const z = normal(key("heaps"), [4000], { dtype: "float64" }).data;
    const smooth = Array.from(z, (v) => Math.round(400 + 100 * v));
    expect(heapsOf(countsOf(smooth), 1).size).toBeLessThanOrEqual(2);
    const heaped = smooth.map((v, i) => (i % 4 ? v : 50 * Math.round(v / 50)));
    const found = [...heapsOf(countsOf(heaped), 1)];
    expect(found.filter((v) => v % 50 === 0).length).toBeGreaterThan(7);
    expect(found.filter((v) => v % 50 !== 0).length).toBeLessThanOrEqual(2);
    const own = empirical(distributionOf(heaped));
    const drawn = Array.from(normal(key("drawn"), [4000], { dtype: "float64" }).data, (y) =>
      Number(own.decode([y])[0]),
    );
    const share = (values: readonly number[]): number =>
      values.filter((v) => v % 50 === 0).length / values.length;
    expect(Math.abs(share(drawn) - share(heaped))).toBeLessThan(0.03);
    expect(drawn.every((v) => Number.isInteger(v))).toBe(true);
    expect(Math.max(...drawn)).toBeLessThanOrEqual(Math.max(...heaped));
  });
});

describe("a model of it", () => {
  let model: TableModel;
  beforeAll(async () => {
    model = await fitTable(rows, {
      columns,
      ...{ width: 32, blocks: 1, rate: 5e-3, threads: 1, steps: 600, seed: 1 },
    });
  });

  it("samples the right share of zeros by season, and rain only in tenths", async () => {
    const { rows: drawn } = await model.sample({ count: 3000, seed: 2 });
    const dry = (season: string): number =>
      shareOf(
        drawn.filter((row) => row[1] === season),
        ([rain]) => rain === 0,
      );
    expect(Math.abs(shareOf(drawn, ([rain]) => rain === 0) - 0.58)).toBeLessThan(0.04);
    expect(Math.abs(dry("summer") - 0.76)).toBeLessThan(0.07);
    expect(Math.abs(dry("winter") - 0.4)).toBeLessThan(0.07);
    const most = Math.max(...rows.map(([rain]) => Number(rain)));
    for (const [rain] of drawn) {
      expect(String(rain)).toMatch(/^\d+(\.\d)?$/);
      expect(rain).toBeLessThanOrEqual(most);
    }
  });

  it("has a likelihood of mass and density: over all rain it sums to the probability of the day", async () => {
    const tenths = Array.from({ length: 250 }, (_, i) => i / 10);
    const logs = await model.logLikelihood(
      ["summer", "winter"].flatMap((season) => tenths.map((rain) => [rain, season, null])),
      { evaluations: 30, spread: 2 },
    );
    // Of a number it is a density, a tenth of which is the chance of a tenth.
    const total = logs.reduce((s, v, i) => s + Math.exp(v) * (i % 250 === 0 ? 1 : 0.1), 0);
    expect(Math.abs(total - 1)).toBeLessThan(0.03);
    const [dry] = await model.logLikelihood([[0, null, null]]);
    expect(Math.abs(Math.exp(dry) - 0.58)).toBeLessThan(0.06);
  });

  it("can be given and completed, as zero and as a number", async () => {
    const of = async (rains: readonly number[]): Promise<number> => {
      const open = rains.map((rain) => [rain, null, null]);
      const { rows: drawn } = await model.complete(open, { draws: 1200 / rains.length, seed: 3 });
      drawn.forEach((some, i) => {
        expect(some.every((row) => row[0] === rains[i])).toBe(true);
      });
      return shareOf(drawn.flat(), (row) => row[1] === "summer");
    };
    // P(summer | dry) = 0.76/1.16, P(summer | rain) = 0.24/0.84, however much it rains.
    expect(Math.abs((await of([0])) - 0.655)).toBeLessThan(0.08);
    expect(Math.abs((await of([0.4, 1.5, 3.1, 5, 7.2, 10])) - 0.286)).toBeLessThan(0.12);
    const { rows: filled } = await model.complete([[null, "summer", null]], { draws: 1000 });
    expect(Math.abs(shareOf(filled[0], ([rain]) => rain === 0) - 0.76)).toBeLessThan(0.1);
  });

  it("is read back from its file", async () => {
    const again = parseTableModel(Buffer.concat(serializeTableModel(model)));
    const options = { count: 20, seed: 5 };
    expect((await again.sample(options)).rows).toEqual((await model.sample(options)).rows);
  });
});

it("baselines have the likelihood of mass and density if columns are independent", async () => {
  const own = {
    a: mixed(
      [0],
      empirical(distributionOf(rows.map(([rain]) => Number(rain)).filter((v) => v > 0))),
    ),
  };
  const seen = rows.map(([rain]) => [rain]);
  const fresh = days(600, 7).map(([rain]) => [rain]);
  // Tenths of an exponential with mean 5, as a density.
  const truth = (v: number): number =>
    v === 0 ? Math.log(0.58) : Math.log(0.42 * 10 * Math.expm1(0.02)) - v / 5;
  for (const distribution of tableBaselines(product(own), seen)) {
    const logs = await distribution.logLikelihood(fresh);
    const gap = fresh.reduce((s, [v], i) => s + logs[i] - truth(Number(v)), 0) / fresh.length;
    expect(Math.abs(gap), distribution.name).toBeLessThan(0.03);
    const drawn = await distribution.draw(3000, 1);
    expect(Math.abs(shareOf(drawn, ([v]) => v === 0) - 0.58)).toBeLessThan(0.03);
  }
});
