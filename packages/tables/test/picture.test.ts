/**
 * Pictures of a table compared with samples, and the report that holds them: whole in themselves,
 * and true to what they are given.
 */
import { category, count, type Domain, positive, product, real, simplex } from "diffeo/domain";
import { key, normal } from "diffeo/random";
import { describe, expect, it } from "vitest";
import { corners, type Drawn, plotsOf } from "../../../test/drawn.ts";
import { tableBaselines } from "../src/measure/baseline/baselines.ts";
import type { Calibration } from "../src/measure/calibration.ts";
import { evaluateTable } from "../src/measure/evaluate.ts";
import type { TableEvaluation } from "../src/measure/evaluation.ts";
import type { Cells } from "../src/measure/table-distribution.ts";
import { shownColumns } from "../src/picture/columns.ts";
import { evaluationChart } from "../src/picture/evaluation.ts";
import { reportFigures, tablePicture } from "../src/picture/figures.ts";
import { DATA, SAMPLES, shares } from "../src/picture/marks.ts";
import { pairPlot } from "../src/picture/pairs.ts";
import { panelChart } from "../src/picture/panels.ts";
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
  return [
    Math.exp(2 * a),
    ...weights.map((w) => (100 * w) / total),
    Math.floor(Math.exp(d)),
    LABELS[a > 0 ? 1 : 0],
  ];
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

  it("writes readable axis numbers: 0.1 and no thousandths, 20k, and powers of ten for the others", async () => {
    const own = product({ log: positive(), tiny: real(), large: real(), huge: real() });
    const cells = Array.from({ length: 60 }, (_, i): Cells => {
      const [a, b, c, d] = normal(key(i), 4, { dtype: "float64" }).data;
      return [Math.exp(2 * a), 1e-15 * b, 1e4 * c, 1e15 * d];
    });
    const texts = contents(
      await tablePicture({ title: "axes", domain: own, data: cells, samples: cells }),
      "text",
    );
    const ticks = texts.join(" ");
    expect(ticks).toMatch(/0\.1 /);
    expect(ticks).toMatch(/[12]e-15/);
    expect(ticks).toMatch(/[12]0k/);
    expect(ticks).toMatch(/[12]e\+15/);
    expect(ticks).not.toMatch(/\d[mfPµ]\b/);
  });

  it("draws shares: the bars of a column sum to the share within its axis", () => {
    const { columns } = shownColumns(domain, rows, drawn);
    for (const { valuesOf, edges, range } of columns) {
      const values = valuesOf(rows);
      const inside = values.filter((v) => v >= range[0] && v < range[1]).length / values.length;
      expect(shares(values, edges).reduce((s, v) => s + v, 0)).toBeCloseTo(inside, 10);
      expect(inside).toBeGreaterThan(0.98);
    }
    expect(
      Array.from(shares(Float64Array.of(0.5, 1, 1.6, 9), Float64Array.of(0, 1, 2, 3))),
    ).toEqual([0.25, 0.5, 0]);
    // Integers have a bar each, around them.
    const { edges } = shownColumns(product({ n: count() }), [[0], [1], [3]], [[2]]).columns[0];
    expect(Array.from(edges)).toEqual([-0.5, 0.5, 1.5, 2.5, 3.5]);
    // Positive numbers that are near each other are on a line of their own.
    const near = shownColumns(product({ n: positive() }), [[1], [2], [3]], [[2]]).columns[0];
    expect(near.isLog).toBe(false);
    // e^{2a} goes over four powers of ten, and is drawn on a line of logarithms.
    expect(columns.map(({ isLog }) => isLog)).toEqual([true, false, false, false, false, false]);
    const sizes = columns[0].edges;
    expect(sizes[1] / sizes[0]).toBeCloseTo(sizes[9] / sizes[8], 10);
  });

  it("shows the first twelve columns and lists the others, or shows the named ones", async () => {
    const names = Array.from({ length: 14 }, (_, i) => `c${i + 1}`);
    const wide = product(Object.fromEntries(names.map((name): [string, Domain] => [name, real()])));
    const numbers = Array.from({ length: 30 }, (_, i) =>
      Array.from(normal(key(i), 14, { dtype: "float64" }).data),
    );
    const of = { title: "wide", domain: wide, data: numbers, samples: numbers };
    expect(await tablePicture(of)).toContain("Left out: c13, c14.");
    const two = await tablePicture({ ...of, columns: ["c14", "c2"] });
    expect(two).toContain("c1, c3, c4");
    expect(two).toContain("Pair plot of c14, c2");
    await expect(tablePicture({ ...of, columns: ["c99"] })).rejects.toThrow(
      'there is no column "c99" to draw',
    );
    await expect(tablePicture({ ...of, columns: names })).rejects.toThrow(
      "14 columns are too many",
    );
  });
});

describe("marks of a picture agree with its axes", () => {
  /** Corners of the paths of one colour. */
  const pathsOf = ({ text }: Drawn, colour: string): [number, number][] =>
    [...text.matchAll(new RegExp(`<path[^>]* stroke="${colour}"[^>]* d="([^"]*)"`, "g"))].flatMap(
      ([, d]) => corners(d),
    );

  it("dots of data and samples, bars of data and outlines of samples, and rank correlations", () => {
    const two = product({ a: real(), b: real() });
    const data = Array.from({ length: 10 }, (_, i): Cells => [i, 100 + 2 * i]);
    const samples = Array.from({ length: 10 }, (_, i): Cells => [i, 110 - i]);
    const plots = plotsOf(pairPlot({ title: "two", domain: two, data, samples }));
    const cloud = plots.find((plot) => pathsOf(plot, DATA).length > 0) as Drawn;
    for (const [colour, rows] of [
      [DATA, data],
      [SAMPLES, samples],
    ] as const) {
      const found = pathsOf(cloud, colour).map(([x, y]) => [
        cloud.read("x", x),
        cloud.read("y", y),
      ]);
      found.sort(([a], [b]) => a - b);
      rows.forEach(([a, b], i) => {
        expect(Math.abs(found[i][0] - Number(a))).toBeLessThan(0.05);
        expect(Math.abs(found[i][1] - Number(b))).toBeLessThan(0.1);
      });
    }
    // Data of b go to 118, samples to 110: bars there are the data's.
    const histogram = plots.filter(({ marks }) => marks("rect").length > 0).at(-1) as Drawn;
    const bars = histogram.marks("rect")[0].filter((bar) => bar.at("height") > 0);
    const right = Math.max(...bars.map((bar) => bar.at("x") + bar.at("width")));
    expect(histogram.read("x", right)).toBeGreaterThan(118);
    const texts = plots.flatMap(({ text }) => [
      ...text.matchAll(/fill="(#\w+)" aria-label="text"><text[^>]*>([^<]*)</g),
    ]);
    expect(texts.map(([, colour, said]) => [colour, said])).toEqual([
      [DATA, "1.00"],
      [SAMPLES, "−1.00"],
    ]);
  });

  it("central ranges of 90 % and 50 % next to labels, and areas of discs", () => {
    const LETTERS = ["p", "q"];
    const mixed = product({ a: real(), one: category(LETTERS), two: category(LETTERS) });
    // 101 numbers of each label: their k-th hundredth is k more than the first. Of 101 rows 75 are
    // p in the other column.
    const rowsFrom = (first: number): Cells[] =>
      LETTERS.flatMap((label, k) =>
        Array.from(
          { length: 101 },
          (_, i): Cells => [first + 200 * k + i, i % 4 === 0 ? "q" : "p", label],
        ),
      );
    const [data, samples] = [rowsFrom(0), rowsFrom(50)];
    const plots = plotsOf(pairPlot({ title: "mixed", domain: mixed, data, samples }));
    const [ranges] = plots.filter(({ ticks }) => ticks.y.has("p") && ticks.x.has("0"));
    const at = LETTERS.map((label) => ranges.ticks.y.get(label) as number);
    const rules = ranges.marks("rule").map((lines) =>
      lines.map((line, k) => {
        // Data below the tick of their label, samples above it.
        const side = Math.sign(line.at("y1") - at[k]);
        return [
          line.colour,
          side,
          ...["x1", "x2"].map((end) => Math.round(ranges.read("x", line.at(end))) - 200 * k),
        ];
      }),
    );
    const expected = (colour: string, side: number, from: number, to: number) =>
      [0, 1].map(() => [colour, side, from, to]);
    expect(rules).toEqual([
      expected(DATA, 1, 5, 95),
      expected(DATA, 1, 25, 75),
      expected(SAMPLES, -1, 55, 145),
      expected(SAMPLES, -1, 75, 125),
    ]);
    const [discs] = plots.filter(
      ({ marks, ticks }) => marks("dot").length === 2 && ticks.x.has("p"),
    );
    const radii = discs.marks("dot")[0].map((disc) => disc.at("r"));
    const [few, many] = [Math.min(...radii), Math.max(...radii)];
    expect((many / few) ** 2).toBeCloseTo(75 / 26, 6);
  });

  it("three parts in a triangle, and ranks within the band of chance", () => {
    const whole = product({ parts: simplex(["sand", "silt", "clay"]) });
    const calibration = { ranks: [0.2, 0.5, 0.9], chance: 0.125 } as unknown as Calibration;
    for (const [k, name] of ["sand", "silt", "clay"].entries()) {
      const one: Cells = [0, 1, 2].map((j) => (j === k ? 1 : 0));
      const [triangle, ranks] = plotsOf(panelChart(whole, [one], [], calibration) as string);
      const [[x, y]] = pathsOf(triangle, DATA);
      const [, left, top] =
        new RegExp(`translate\\(([\\d.]+),([\\d.]+)\\)"[^>]*>${name}<`).exec(triangle.text) ?? [];
      expect(Math.hypot(x - Number(left), y - Number(top))).toBeLessThan(0.1);
      const read = (path: string): number[][] =>
        corners(path).map(([a, b]) => [ranks.read("x", a), ranks.read("y", b)]);
      const [, band] = / aria-label="area">.*?<path d="([^"]*)"/s.exec(ranks.text) ?? [];
      for (const [a, b] of read(band)) expect(Math.abs(Math.abs(b - a) - 0.125)).toBeLessThan(1e-4);
      const steps = read(ranks.marks("line")[1][0].attribute("d"));
      for (const [rank, share] of [
        [0.2, 1 / 3],
        [0.5, 2 / 3],
        [0.9, 1],
      ])
        expect(
          Math.max(...steps.filter(([a]) => Math.abs(a - rank) < 1e-3).map(([, b]) => b)),
        ).toBeCloseTo(share, 3);
    }
  });

  it("means with two standard errors on each side", () => {
    const auc = (value: number) => ({ value, error: 0.02 });
    const plots = plotsOf(
      evaluationChart({
        likelihood: {
          mean: -3,
          error: 0.25,
          baselines: [{ name: "Gaussian", mean: -4, error: 0.125 }],
        },
        model: { auc: auc(0.55) },
        baselines: [{ name: "Gaussian", auc: auc(0.75) }],
      } as unknown as TableEvaluation),
    );
    const found = plots.map((plot) =>
      (plot.marks("rule").at(-1) ?? []).map((line, i) => [
        ...["x1", "x2"].map((end) => plot.read("x", line.at(end))),
        plot.read("x", plot.marks("dot")[0][i].at("cx")),
      ]),
    );
    const expected = [
      [
        [-3.5, -2.5, -3],
        [-4.25, -3.75, -4],
      ],
      [
        [0.51, 0.59, 0.55],
        [0.71, 0.79, 0.75],
      ],
    ];
    expected.flat(2).forEach((value, i) => {
      expect(found.flat(2)[i]).toBeCloseTo(value, 6);
    });
  });
});

describe("a report", () => {
  it("is one file that loads nothing, runs nothing, and states the problems", async () => {
    const { evaluation, drawn: samples } = await evaluateTable(independent, domain, {
      rows: held,
      training,
      seed: 1,
    });
    const html = htmlReport({
      source: "<script>alert(1)</script>.csv",
      model: "a.model",
      columns: domain.parts.map((part) => ({
        columns: part.columns,
        kind: part.domain.kind,
        reason: "so & so",
      })),
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
      "Likelihood compared with baselines",
      "Can samples be distinguished from data?",
      "Pictures",
      "Columns and pairs",
      "Copies and privacy",
      "Sampling more rows",
    ]);
    // Independence loses to what knows that sizes go with wards.
    expect(contents(html, "header")[0]).toMatch(
      /problems with the model:.*A Gaussian copula has a log-likelihood of/,
    );
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
