/** Pictures of a table beside samples, and the report that holds them: whole in themselves, and true to what they are given. */
import { category, count, type Domain, positive, product, real, simplex } from "diffeo/domain";
import { key, normal } from "diffeo/random";
import { describe, expect, it } from "vitest";
import { tableBaselines } from "../src/measure/baseline/baselines.ts";
import { evaluateTable } from "../src/measure/evaluate.ts";
import type { Cells } from "../src/measure/law.ts";
import { shownColumns } from "../src/picture/columns.ts";
import { reportFigures, tablePicture } from "../src/picture/figures.ts";
import { shares } from "../src/picture/marks.ts";
import { htmlReport } from "../src/report/html.ts";

const LABELS = ["<north>", "south & east"];
const domain = product({
  "size <m>": positive(),
  parts: simplex(["sand", "silt", "clay"], { total: 100 }),
  visits: count(),
  ward: category(LABELS),
});
const rows = Array.from({ length: 260 }, (_, i): Cells => {
  const [a, b, c, d] = normal(key(i), 4, { dtype: "float64" }).data;
  const weights = [1, Math.exp(b), Math.exp(c)];
  const total = weights.reduce((s, w) => s + w, 0);
  return [Math.exp(2 * a), ...weights.map((w) => (100 * w) / total), Math.floor(Math.exp(d)), LABELS[a > 0 ? 1 : 0]];
});
const [training, held] = [rows.slice(0, 200), rows.slice(200)];
const independent = tableBaselines(domain, training)[2];
const drawn = (await independent.draw(200, 1)) as readonly Cells[];
const options = { title: "rows & samples", domain, data: rows, samples: drawn };

/** What stands between the tags of a name, without tags in it. */
const contents = (markup: string, tag: string): string[] =>
  [...markup.matchAll(new RegExp(`<${tag}[ >][^]*?</${tag}>`, "g"))].map(([whole]) =>
    whole
      .replaceAll(/<[^>]*>/g, "")
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&amp;", "&"),
  );

describe("a picture of a table", () => {
  it("shows every column with its name, correlations of data and samples, and three parts as a triangle", async () => {
    const svg = await tablePicture(options);
    expect(await tablePicture(options)).toBe(svg);
    const texts = contents(svg, "text");
    for (const name of ["size <m>", "sand", "silt", "clay", "visits", "ward"])
      expect(texts.filter((text) => text === name).length).toBeGreaterThanOrEqual(2);
    expect(texts).toContain("sand, silt, clay: parts of a whole");
    // Five columns of numbers have ten pairs, each with two correlations.
    expect(texts.filter((text) => /^−?\d\.\d\d$/.test(text)).length).toBeGreaterThanOrEqual(20);
    expect(texts.join(" ")).not.toContain("Left out");
  });

  it("writes numbers of its axes as people do: 0.1 and no thousandths, 20k, and powers of ten of the rest", async () => {
    const own = product({ log: positive(), tiny: real(), large: real(), huge: real() });
    const cells = Array.from({ length: 60 }, (_, i): Cells => {
      const [a, b, c, d] = normal(key(i), 4, { dtype: "float64" }).data;
      return [Math.exp(2 * a), 1e-15 * b, 1e4 * c, 1e15 * d];
    });
    const texts = contents(await tablePicture({ title: "axes", domain: own, data: cells, samples: cells }), "text");
    const ticks = texts.join(" ");
    expect(ticks).toMatch(/0\.1 /);
    expect(ticks).toMatch(/[12]e-15/);
    expect(ticks).toMatch(/[12]0k/);
    expect(ticks).toMatch(/[12]e\+15/);
    expect(ticks).not.toMatch(/\d[mfPµ]\b/);
  });

  it("draws shares: bars of a column sum to what is within its axis", () => {
    const { columns } = shownColumns(domain, rows, drawn);
    for (const { valuesOf, edges, range } of columns) {
      const values = valuesOf(rows);
      const inside = values.filter((v) => v >= range[0] && v < range[1]).length / values.length;
      expect(shares(values, edges).reduce((s, v) => s + v, 0)).toBeCloseTo(inside, 10);
      expect(inside).toBeGreaterThan(0.98);
    }
    // e^{2a} goes over four powers of ten, and is drawn on a line of logarithms.
    expect(columns.map(({ isLog }) => isLog)).toEqual([true, false, false, false, false, false]);
    const sizes = columns[0].edges;
    expect(sizes[1] / sizes[0]).toBeCloseTo(sizes[9] / sizes[8], 10);
  });

  it("takes a dozen columns and says which it left out, or those that are named", async () => {
    const names = Array.from({ length: 14 }, (_, i) => `c${i + 1}`);
    const wide = product(Object.fromEntries(names.map((name): [string, Domain] => [name, real()])));
    const numbers = Array.from({ length: 30 }, (_, i) => Array.from(normal(key(i), 14, { dtype: "float64" }).data));
    const of = { title: "wide", domain: wide, data: numbers, samples: numbers };
    expect(await tablePicture(of)).toContain("Left out: c13, c14.");
    const two = await tablePicture({ ...of, columns: ["c14", "c2"] });
    expect(two).toContain("c1, c3, c4");
    expect(two).toContain("Pair plot of c14, c2");
    await expect(tablePicture({ ...of, columns: ["c99"] })).rejects.toThrow('there is no column "c99" to draw');
    await expect(tablePicture({ ...of, columns: names })).rejects.toThrow("14 columns are too many");
  });
});

describe("a report", () => {
  it("is one file that loads nothing, runs nothing, and says what is wrong", async () => {
    const { evaluation, drawn: samples } = await evaluateTable(independent, domain, { rows: held, training, seed: 1 });
    const html = htmlReport({
      source: "<script>alert(1)</script>.csv",
      model: "a.model",
      columns: domain.parts.map((part) => ({ columns: part.columns, kind: part.domain.kind, reason: "so & so" })),
      training: [["rows", "200"]],
      evaluation,
      figures: await reportFigures(evaluation, { ...options, samples }),
      commands: ["diffeo table sample --model a.model"],
    });
    expect(html).toMatch(/^<!doctype html>\n/);
    expect(html).not.toMatch(/<script|<link|<img|@import|src=|url\(http/i);
    expect(html.match(/<svg /g)).toHaveLength(3);
    expect(contents(html, "h1")).toEqual(["<script>alert(1)</script>.csv"]);
    expect(contents(html, "h2")).toEqual([
      "The table",
      "Likelihood beside baselines",
      "Can samples be told from data?",
      "Pictures",
      "Columns and pairs",
      "Copies",
      "Drawing more",
    ]);
    // Independence loses to what knows that sizes go with wards.
    expect(contents(html, "header")[0]).toMatch(/worse than it should be:.*A Gaussian copula has a log-likelihood of/);
    expect(html).toContain(evaluation.likelihood.mean.toFixed(3));
    // Ids of clips are each figure's own.
    const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    // Colours follow the page into the dark.
    expect(html).toContain('fill="var(--paper, #ffffff)"');
    expect(html).toContain("prefers-color-scheme: dark");
    expect(html).toContain("@media print");
  });
});
