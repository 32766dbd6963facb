/** Requests that a fit and a model refuse. */
import { between, positive } from "diffeo/domain";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fitTable } from "../../src/diffusion/fit/fit.ts";
import type { FitTableOptions } from "../../src/diffusion/fit/fit-table-options.ts";
import type { DrawRows } from "../../src/diffusion/query/draw.ts";
import type { TableModel } from "../../src/diffusion/query/table-model.ts";

const rows = Array.from({ length: 12 }, (_, i) => ({ a: 1 + ((i * 5) % 12), b: (i + 1) / 14 }));
const columns = { a: positive(), b: between(0, 1) };

describe("a fit is refused", () => {
  it.each([
    [
      "without columns",
      { columns: undefined },
      "columns is undefined. Give domains by the names of the columns.",
    ],
    [
      "with what is not a domain",
      { columns: { a: "positive" } },
      'columns: "a" is "positive", no domain. Make one',
    ],
    ["of no steps", { steps: 0 }, "steps is 0. Give an integer, at least 1."],
    ["of half a step", { steps: 1.5 }, "steps is 1.5. Give"],
    ["of no time", { minutes: -1 }, "minutes is -1. Give a number above 0."],
    ["of no number of minutes", { minutes: Number.NaN }, "minutes is NaN. Give"],
    [
      "by another network",
      { network: "tree" },
      'network is "tree". Use diffusion or transformer or masked.',
    ],
    ["with another flow", { flow: "planar" }, 'flow is "planar". Use affine or spline.'],
    ["that holds out all", { held: 1 }, "held is 1. Give a share between 0 and 1."],
  ])("%s", async (_, wrong, said) => {
    await expect(fitTable(rows, { columns, ...wrong } as FitTableOptions)).rejects.toThrow(said);
  });

  it("with one row", async () => {
    await expect(fitTable(rows.slice(0, 1), { columns })).rejects.toThrow(
      "1 row is too few to fit and to measure",
    );
  });
});

describe("a model refuses", () => {
  let model: TableModel;
  beforeAll(async () => {
    model = await fitTable(rows, { columns, steps: 1, threads: 1 });
  }, 60_000);
  afterAll(() => model.dispose());

  it.each([
    [{ count: 0 }, "count is 0. Give an integer, at least 1."],
    [{ count: -1 }, "count is -1. Give"],
    [{ count: 2, evaluations: 1 }, "evaluations is 1. Give an integer, at least 2."],
  ] as readonly (readonly [DrawRows, string])[])("%j", async (asked, said) => {
    await expect(model.sample(asked)).rejects.toThrow(said);
    await expect(model.sample({ ...asked, given: { a: 1 } })).rejects.toThrow(said);
  });

  it("nothing for an empty list of rows", async () => {
    expect((await model.complete([])).rows).toEqual([]);
    expect(await model.logLikelihood([])).toHaveLength(0);
  });
});
