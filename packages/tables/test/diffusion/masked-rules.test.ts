/**
 * Given columns that follow from others, by a model of masked cells: the others are conditioned.
 */
import { quantile } from "diffeo/host";
import { fold, key, normal, uniform } from "diffeo/random";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rowsOf } from "../../src/diffusion/encode/rows.ts";
import { fitTable } from "../../src/diffusion/fit/fit.ts";
import type { TableModel } from "../../src/diffusion/query/table-model.ts";
import { inferColumns, layoutOf, namedDomains } from "../../src/diffusion/schema/infer.ts";
import { parseCells } from "../../src/table/cells.ts";

const towns = [
  { town: "Rome", country: "Italy", share: 0.4, mean: 1 },
  { town: "Milan", country: "Italy", share: 0.2, mean: -1 },
  { town: "Paris", country: "France", share: 0.4, mean: 3 },
];

/**
 * x is N(mean of its town, 0.25); the end is a day after an even start with chance .9, an odd one
 * .5.
 */
const lines = Array.from({ length: 2000 }, (_, i) => {
  const [a, b, c] = uniform(fold(key("rules"), i), [3], { dtype: "float64" }).data;
  const { town, country, mean } = towns[a < 0.4 ? 0 : a < 0.6 ? 1 : 2];
  const x = mean + normal(fold(key("x"), i), [1], { dtype: "float64" }).data[0] / 4;
  const start = Math.floor(5 * b);
  return [x.toFixed(3), town, country, start, start + (c < (start % 2 ? 0.5 : 0.9) ? 1 : 0)];
});
const table = parseCells(
  `x,town,country,start,end\n${lines.map((line) => line.join()).join("\n")}\n`,
  "rules",
);

describe("masked cells given columns that follow from others", () => {
  let model: TableModel;
  beforeAll(async () => {
    const inferred = inferColumns(table, ["x=real", "start<=end", "country=f(town)"]);
    const columns = namedDomains(inferred);
    const how = { network: "masked", width: 48, blocks: 1, steps: 900, threads: 1 } as const;
    model = await fitTable(rowsOf(table, columns), { columns, layout: layoutOf(inferred), ...how });
  }, 60_000);
  afterAll(() => model.dispose());

  const share = (rows: readonly boolean[]): number => rows.filter(Boolean).length / rows.length;

  it("are sampled from labels compatible with a given one, and the other cells given the label", async () => {
    const { objects } = await model.sample({ count: 1000, given: { country: "Italy" } });
    expect(new Set(objects.map(({ country }) => country))).toEqual(new Set(["Italy"]));
    expect(Math.abs(share(objects.map(({ town }) => town === "Rome")) - 2 / 3)).toBeLessThan(0.07);
    for (const { town, mean } of towns.slice(0, 2)) {
      const own = objects.filter((row) => row.town === town).map(({ x }) => Number(x));
      expect(Math.abs(quantile(own, 0.5) - mean)).toBeLessThan(0.2);
    }
  });

  it("include parts of a given sum, by their probabilities given the sum", async () => {
    const { objects } = await model.sample({ count: 800, given: { end: 3 } });
    expect(new Set(objects.map(({ end }) => end))).toEqual(new Set([3]));
    // Starts 2 and 3 are alike frequent: .9 / (.9 + .5) of the rows begin at 2.
    const two = share(objects.map(({ start }) => start === 2));
    expect(share(objects.map(({ start }) => start === 2 || start === 3))).toBe(1);
    expect(Math.abs(two - 0.9 / 1.4)).toBeLessThan(0.08);
  });

  it("do not depend on the other rows", async () => {
    const open = [{ end: 3 }, { country: "France" }, { end: 1, country: "Italy" }, { x: 1 }];
    const { rows } = await model.complete(open, { draws: 2, seed: 4 });
    const { rows: last } = await model.complete(open.slice(2), { draws: 2, seed: 4, first: 2 });
    expect(last).toEqual(rows.slice(2));
  });
});
