/**
 * Hidden cells: places and labels of draws that are of the distribution of the truth, and of
 * others.
 */
import { type Derivation, derived, positive, real } from "diffeo/domain";
import { key, normal, uniform } from "diffeo/random";
import { describe, expect, it } from "vitest";
import { relatedColumns } from "../../src/diffusion/encode/index.ts";
import type { TableModel } from "../../src/diffusion/query/index.ts";
import {
  type ColumnCompletion,
  completionOf,
  labelAmong,
  placeAmong,
  type TableCompletion,
} from "../../src/measure/completion.ts";
import type { TableEvaluation } from "../../src/measure/evaluation.ts";
import { completionFaults } from "../../src/measure/faults.ts";
import { completionLines, completionSection } from "../../src/report/completion.ts";

const COUNT = 20_000;

/** Places of truths among draws, both made out of normal numbers. */
function places(
  draws: number,
  truth: (z: number) => number,
  drawn: (z: number) => number,
): Float64Array {
  const z = normal(key("places"), [COUNT, draws + 1], { dtype: "float64" }).data;
  const u = uniform(key("ties"), COUNT, { dtype: "float64" }).data;
  return u.map((v, i) => {
    const own = z.subarray(i * (draws + 1), (i + 1) * (draws + 1));
    return placeAmong(truth(own[0]), Array.from(own.subarray(1), drawn), v);
  });
}

const within = (found: Float64Array, share: number): number =>
  found.filter((p) => Math.abs(p - 0.5) < share / 2).length / COUNT;

describe("the rank of a number among its draws", () => {
  // Four standard errors of a share of COUNT.
  const error = (share: number): number => 4 * Math.sqrt((share * (1 - share)) / COUNT);

  it.each([
    ["few", 3, (z: number) => z],
    ["many", 40, (z: number) => z],
    ["integers, with ties", 10, (z: number) => Math.floor(z)],
    ["nearly all alike", 7, (z: number) => (z > 2 ? 1 : 0)],
  ])("is uniform if both have one distribution: %s", (_, draws, of) => {
    const found = places(draws, of, of);
    for (const share of [0.5, 0.9])
      expect(Math.abs(within(found, share) - share)).toBeLessThan(error(share));
    const below = found.filter((p) => p < 0.3).length / COUNT;
    expect(Math.abs(below - 0.3)).toBeLessThan(error(0.3));
  });

  it("is too often in the middle if draws are wider, and at the ends if they are narrower", () => {
    const wide = places(
      40,
      (z) => z,
      (z) => 1.3 * z,
    );
    const narrow = places(
      40,
      (z) => z,
      (z) => 0.7 * z,
    );
    // Φ(1.3·0.6745)·2 − 1 = 0.619 and Φ(0.7·1.645)·2 − 1 = 0.750, of infinitely many draws.
    expect(Math.abs(within(wide, 0.5) - 0.619)).toBeLessThan(0.02);
    expect(Math.abs(within(narrow, 0.9) - 0.75)).toBeLessThan(0.02);
  });
});

describe("labels among their draws", () => {
  it("equal the true label as often as two draws agree, without bias for any number of draws", () => {
    // p = (0.6, 0.3, 0.1): Σp² = 0.46.
    const u = uniform(key("labels"), [COUNT, 6], { dtype: "float64" }).data;
    const label = (v: number): string => (v < 0.6 ? "a" : v < 0.9 ? "b" : "c");
    let [truth, agreement] = [0, 0];
    for (let i = 0; i < COUNT; i++) {
      const own = Array.from(u.subarray(6 * i, 6 * i + 6), label);
      const found = labelAmong(own[0], own.slice(1));
      truth += found.truth / COUNT;
      agreement += found.agreement / COUNT;
    }
    expect(Math.abs(truth - 0.46)).toBeLessThan(0.01);
    expect(Math.abs(agreement - 0.46)).toBeLessThan(0.01);
    expect(labelAmong("a", ["a", "a", "b"])).toEqual({ truth: 2 / 3, agreement: 1 / 3 });
  });
});

describe("a report on completion", () => {
  const numbers = (half: number, ninety: number) => ({
    half: { mean: half, error: 0.01 },
    ninety: { mean: ninety, error: 0.005 },
  });
  const column = (name: string, half: number, ninety: number): ColumnCompletion => ({
    column: name,
    cells: 400,
    numbers: numbers(half, ninety),
  });
  const ward = (truth: number): ColumnCompletion => ({
    column: "ward",
    cells: 400,
    labels: {
      truth: { mean: truth, error: 0.01 },
      agreement: { mean: 0.7, error: 0.005 },
      gap: { mean: truth - 0.7, error: 0.01 },
    },
  });
  const completion: TableCompletion = {
    rows: 400,
    draws: 40,
    alone: {
      columns: [column("size", 0.51, 0.9), ward(0.5)],
      numbers: { ...numbers(0.51, 0.9), cells: 400 },
    },
    several: { columns: [column("size", 0.5, 0.7)], numbers: { ...numbers(0.5, 0.7), cells: 400 } },
  };

  it("names the clearly wrong columns, and no others", () => {
    expect(completionFaults({ completion } as TableEvaluation)).toEqual([
      "50 % of the draws of ward, hidden alone, have the true label, but 70 % of pairs of draws agree",
      "the 50 % and 90 % intervals of size, hidden among several, contain 50 % and 70 % of the true values",
    ]);
    expect(completionFaults({} as TableEvaluation)).toEqual([]);
  });

  it("has a line per column, and a row in the page, marked if it is wrong", () => {
    expect(completionLines(completion)[3]).toBe(
      "  size                  0.510 ± 0.010, 0.900 ± 0.005   among several 0.500 ± 0.010, 0.700 ± 0.005",
    );
    expect(completionLines(completion)[4]).toContain(
      "share of draws with the true label 0.500 ± 0.010, of pairs of draws that agree 0.700",
    );
    const html = completionSection(completion);
    expect(html).toContain('<tr class="bad"><td>size</td><td>0.510 ± 0.010</td>');
    expect(html).toContain("<td>0.500 ± 0.010</td><td>0.700 ± 0.005</td><td>-0.200 ± 0.010</td>");
  });
});

describe("columns that a rule joins", () => {
  /** A sum of two columns, and which of the three were made for it; the rows that are completed. */
  const hiding = async (names: readonly [string, string, string], written: readonly string[]) => {
    const [first, second, total] = names;
    const sum: Derivation = {
      by: "sum",
      from: [first, second],
      ranges: [
        [-9, 9],
        [0, 9],
      ],
    };
    const columns = { [first]: real(), [second]: positive(), [total]: derived(real(), sum) };
    const seen = new Set<string>();
    const complete = async (rows: readonly (readonly unknown[])[]) => {
      for (const row of rows) seen.add(row.map((cell) => (cell === null ? "?" : "x")).join(""));
      return { rows: rows.map(() => Array.from({ length: 40 }, (_, k) => [k / 20 - 1, 1])) };
    };
    const layout = { columns: written, fillers: {} };
    const model = { ...relatedColumns(columns), layout, bins: {}, complete };
    const rows = Array.from({ length: 30 }, (_, i) => [i / 10, 1 + i / 5]);
    const { alone } = await completionOf(model as unknown as TableModel, { rows });
    return { columns: alone.columns.map(({ column }) => column), seen: [...seen].sort() };
  };

  it("are hidden as the table has them where a difference was made", async () => {
    const { columns, seen } = await hiding(["start", "end − start", "end"], ["start", "end"]);
    expect(columns).toEqual(["start", "end"]);
    expect(seen).toEqual(["???", "??x", "x??"]);
  });

  it("are not settled by what is left", async () => {
    const { columns, seen } = await hiding(["net", "tax", "total"], ["net", "tax", "total"]);
    expect(columns).toEqual(["net", "tax"]);
    expect(seen).toEqual(["???", "?x?", "x??"]);
  });
});
