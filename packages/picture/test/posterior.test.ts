/** Pictures of posteriors: their counts, and that marks stand where the axes say. */
import { describe, expect, it } from "vitest";
import { corners, plotsOf } from "../../../test/drawn.ts";
import { shortName, tickMarks } from "../src/axes.ts";
import { pairsPicture, rankPicture, tracePicture } from "../src/posterior.ts";
import { rankCounts } from "../src/ranks.ts";

/** Chains with interleaved ranks. */
const chains = [0, 1, 2].map((c) =>
  Float64Array.from({ length: 200 }, (_, i) => Math.sin(7 * i + c)),
);
const quantities = ["mu", "theta[1] < 2"].map((name, k) => ({
  name,
  chains: chains.map((c) => c.map((v) => v * (k + 1))),
}));

describe("rank counts", () => {
  it("are separate for chains without overlap, and uniform in total", () => {
    const steps = [0, 1].map((c) => Float64Array.from({ length: 10 }, (_, i) => 10 * c + i));
    expect(rankCounts(steps, 4)).toEqual([
      [5, 5, 0, 0],
      [0, 0, 5, 5],
    ]);
    const counts = rankCounts(chains);
    expect(counts.flat().reduce((a, b) => a + b, 0)).toBe(600);
    expect(counts[0].map((_, bin) => counts.reduce((sum, each) => sum + each[bin], 0))).toEqual(
      new Array(20).fill(30),
    );
  });
});

describe("a picture", () => {
  it.each([
    ["traces", tracePicture(quantities), 2 * 3],
    ["ranks", rankPicture(quantities), 2 * 3],
  ])("of %s has a line per chain and quantity, with escaped names", (_, svg, lines) => {
    expect(svg).toMatch(/^<svg .*<\/svg>\n$/s);
    expect(svg).toContain("theta[1] &lt; 2");
    const panels = svg.match(/aria-label="line"/g) ?? [];
    expect(panels.length).toBe(lines);
    expect(svg).not.toContain("NaN");
  });

  it("of pairs marks divergences and thins the other draws", () => {
    const diverged = chains.map((chain) => Uint8Array.from(chain, (_, i) => (i === 3 ? 1 : 0)));
    const svg = pairsPicture(quantities, diverged);
    expect(svg).toContain("3 transitions diverged");
    const dots = svg.match(/<circle/g) ?? [];
    // 597 draws, three divergences, and the mark of the legend.
    expect(dots.length).toBe(601);
    expect(pairsPicture(quantities)).not.toContain("diverged");
  });
});

describe("marks stand where the axes say", () => {
  /** Two chains without overlap. */
  const apart = (draws: number): Float64Array[] =>
    [0, 1].map((c) => Float64Array.from({ length: draws }, (_, i) => draws * c + i + 1));

  it("in a thinned trace", () => {
    const [plot] = plotsOf(tracePicture([{ name: "a", chains: apart(1000) }]));
    plot.marks("line").forEach(([line], c) => {
      const points = corners(line.attribute("d"));
      expect(points).toHaveLength(334);
      for (const [x, y] of points) {
        const draw = plot.read("x", x);
        expect(draw % 3).toBeCloseTo(1, 1);
        expect(plot.read("y", y)).toBeCloseTo(1000 * c + draw, 1);
      }
    });
  });

  it("in a rank histogram, with a band of 2.576 standard deviations of independent draws", () => {
    const [plot] = plotsOf(rankPicture([{ name: "a", chains: apart(100) }]));
    plot.marks("line").forEach(([line], c) => {
      const points = corners(line.attribute("d"));
      expect(plot.read("x", points[0][0])).toBeCloseTo(0, 6);
      expect(plot.read("x", points[points.length - 1][0])).toBeCloseTo(100, 6);
      // Ten bins of twenty ranks: each chain fills five bins alone.
      for (const [x, y] of points) {
        const rank = plot.read("x", x);
        if (Math.abs(rank - 50) > 1)
          expect(plot.read("y", y)).toBeCloseTo(rank < 50 === (c === 0) ? 20 : 0, 6);
      }
    });
    // 100 draws in 10 bins, p = 1/10; the total of both chains in a bin is fixed, which halves the variance.
    const spread = 2.576 * Math.sqrt(10 * 0.9 * 0.5);
    const [[band]] = plot.marks("rect");
    expect(plot.read("y", band.at("y"))).toBeCloseTo(10 + spread, 6);
    expect(plot.read("y", band.at("y") + band.at("height"))).toBeCloseTo(10 - spread, 6);
    expect(plot.read("y", plot.marks("rule")[0][0].at("y1"))).toBeCloseTo(10, 6);
  });

  it("in a scatter plot of every second of 2,000 draws", () => {
    const chains = apart(1000);
    const plots = plotsOf(
      pairsPicture(
        ["a", "b"].map((name, k) => ({
          name,
          chains: chains.map((c) => c.map((v) => v + 5000 * k)),
        })),
      ),
    );
    const [plot] = plots.filter(({ marks }) => marks("dot").length > 0);
    const [dots] = plot.marks("dot");
    expect(dots).toHaveLength(1000);
    for (const [i, dot] of dots.entries()) {
      expect(plot.read("x", dot.at("cx"))).toBeCloseTo(2 * i + 1, 6);
      expect(plot.read("y", dot.at("cy"))).toBeCloseTo(5000 + 2 * i + 1, 6);
    }
  });
});

describe("names and ticks", () => {
  it("shorten long names and keep the index", () => {
    expect(shortName("theta[12]", 20)).toBe("theta[12]");
    expect(shortName("a_rather_long_name_of_an_effect[12,13]", 20)).toBe("a_rather_lon…[12,13]");
    expect(shortName("a_rather_long_name_of_an_effect", 16)).toBe("a_rather_l…ffect");
  });

  it.each<[number[], number[], string[]]>([
    [
      [-4e-7, 4e-7],
      [-2e-7, 0, 4e-7],
      ["−2e−7", "0", "4e−7"],
    ],
    [
      [0, 1.3e9],
      [5e8, 1.2e9],
      ["5e8", "1.2e9"],
    ],
    [[123_450, 123_460], [123_455], ["123,455"]],
    [[1_234_567.1, 1_234_567.9], [1_234_567.5], ["1,234,567.5"]],
    [
      [-1, 1],
      [-0.5, 0.25],
      ["−0.5", "0.3"],
    ],
    [[0.01, 0.02], [0.015], ["0.015"]],
    [[3, 3], [3], ["3"]],
  ])("format an axis over %j: %j as %j", (range, values, texts) => {
    expect(values.map(tickMarks([range]).tickFormat)).toEqual(texts);
  });
});
