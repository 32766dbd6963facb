/** Results of jobs of tables: read as they were written, and held to their job. */
import { product, real } from "diffeo/domain";
import { describe, expect, it } from "vitest";
import { rowsJobs, rowsKind } from "../src/job/index.ts";

const model = { domain: product({ a: real(), b: real() }) } as never;
const job = { first: 0, count: 3, evaluations: 50, seed: 0 };
const columns = ["a", "b"];
const rows = [
  [1, -0.1],
  [5e-324, 2],
  [1 / 3, 1e300],
];
const whole = { columns, rows, evaluations: 50 };

describe("jobs of rows", () => {
  it("have at most 10,000 rows each, and together all rows", () => {
    const jobs = rowsJobs(
      { bytes: () => new Uint8Array(), value: model },
      { ...job, count: 25_000 },
    );
    expect(jobs.map(({ parameters: { first, count } }) => [first, count])).toEqual([
      [0, 10_000],
      [10_000, 10_000],
      [20_000, 5000],
    ]);
  });

  it("give rows that are read back exactly", () => {
    expect(rowsKind.parse(rowsKind.serialize(whole), "a result")).toEqual(whole);
    for (const text of ["", "{}", '{"columns":["a"],"rows":[[null]],"evaluations":50}'])
      expect(() => rowsKind.parse(new TextEncoder().encode(text), "a result")).toThrow(
        "a result does not contain rows",
      );
  });

  it.each([
    [whole, undefined],
    [{ ...whole, rows: rows.slice(1) }, "it has 2 rows, but the job has 3"],
    [{ ...whole, rows: [rows[0], [1], rows[2]] }, "row 2 has 1 cells, but the model has 2 columns"],
    [{ ...whole, columns: ["b", "a"] }, "its columns differ from those of the model"],
    [{ ...whole, evaluations: 2 }, "it has 2 evaluations, but the job has 50"],
  ])("check their results against the job: %#", (result, misfit) => {
    expect(rowsKind.misfit(result, job, { model })).toBe(misfit);
  });
});
