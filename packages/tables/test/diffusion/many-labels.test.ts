/** Columns of many labels: coded by points of few numbers, each label with a chance of its own. */
import { type Cell, category, product } from "diffeo/domain";
import { key, uniform } from "diffeo/random";
import { describe, expect, it } from "vitest";
import { fitTable } from "../../src/diffusion/fit/fit.ts";
import { inferColumns, namedDomains } from "../../src/diffusion/schema/infer.ts";
import { featuresOf } from "../../src/measure/features.ts";
import { parseCells } from "../../src/table/cells.ts";

describe("many labels", () => {
  it("are separate points, and are reproduced", () => {
    const names = Array.from({ length: 3000 }, (_, i) => `town ${i}`);
    const own = category(names, { dimension: 24 });
    const codes = own.codes as readonly (readonly number[])[];
    expect([codes.length, own.dimension]).toEqual([3000, 24]);
    let least = Infinity;
    for (let i = 0; i < 600; i++)
      for (let j = 0; j < i; j++)
        least = Math.min(least, Math.hypot(...codes[5 * i].map((v, d) => v - codes[5 * j][d])));
    // Noise at the last level has a deviation of 0.018.
    expect(least).toBeGreaterThan(0.5);
    for (const i of [0, 1, 17, 2999])
      expect(own.decode(own.encode([names[i]], []).map((v) => v + 0.05))).toEqual([names[i]]);
    expect(own.fault(["town x"])).toMatch(/^"town x" is not one of "town 0", /);
  });

  const COUNT = 150;
  // Label i is as frequent as 1/(i + 5), and is large where i is even.
  const weights = Array.from({ length: COUNT }, (_, i) => 1 / (i + 5));
  const total = weights.reduce((a, b) => a + b);
  const u = uniform(key("labels"), [2500, 2], { dtype: "float64" }).data;
  const rows = Array.from({ length: 2500 }, (_, i): Cell[] => {
    let [at, left] = [0, u[2 * i] * total];
    while (left > weights[at]) left -= weights[at++];
    return [`L${at}`, Math.round(1000 * (u[2 * i + 1] + (at % 2 === 0 ? 1 : 0))) / 1000];
  });
  const table = parseCells(`a,x\n${rows.map((row) => row.join(",")).join("\n")}\n`, "t.csv");
  const inferred = inferColumns(table);

  it("are recognised, and measures use the most common ones", () => {
    expect(inferred[0].kind).toBe("category");
    expect(inferred[0].reason).toMatch(/^text, 1\d\d different$/);
    const { names } = featuresOf(product(namedDomains(inferred)), rows);
    expect(names.length).toBeLessThan(40);
    expect(names).toContain("a = L0");
  });

  it("are modelled with their frequencies, and with the columns that depend on them", async () => {
    const model = await fitTable(rows, {
      columns: namedDomains(inferred),
      ...{ width: 48, blocks: 1, rate: 5e-3, threads: 1, steps: 500, given: false },
    });
    const { rows: drawn } = await model.sample({ count: 2500, seed: 1 });
    const share = (some: readonly (readonly Cell[])[], label: string): number =>
      some.filter(([a]) => a === label).length / some.length;
    let apart = 0;
    for (let i = 0; i < COUNT; i++)
      apart += Math.abs(share(drawn, `L${i}`) - weights[i] / total) / 2;
    // Rows and samples are each 0.1 from the truth by chance; equal labels are 0.35 from it.
    expect(apart).toBeLessThan(0.18);
    const right = drawn.filter(
      ([a, x]) => Number(x) > 1 === (Number(String(a).slice(1)) % 2 === 0),
    ).length;
    expect(right / drawn.length).toBeGreaterThan(0.75);
    const labels = [...new Set(rows.map(([a]) => a))];
    const logs = await model.logLikelihood(
      labels.map((label) => [label, 0.5]),
      { evaluations: 30 },
    );
    // The density of x at 0.5 is the chance of odd labels.
    const odd = weights.reduce((s, w, i) => s + (i % 2 === 1 ? w : 0), 0) / total;
    const density = logs.reduce((s, v) => s + Math.exp(v), 0);
    expect(Math.abs(density / odd - 1)).toBeLessThan(0.25);
  });
});
