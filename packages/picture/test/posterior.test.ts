/** Pictures of chains: what they count, and that they hold what they should. */
import { describe, expect, it } from "vitest";
import { marked, pairsPicture, rankCounts, rankPicture, shortName, tracePicture } from "../src/posterior.ts";

/** Chains that take turns among the ranks. */
const chains = [0, 1, 2].map((c) => Float64Array.from({ length: 200 }, (_, i) => Math.sin(7 * i + c)));
const quantities = ["mu", "theta[1] < 2"].map((name, k) => ({
  name,
  chains: chains.map((c) => c.map((v) => v * (k + 1))),
}));

describe("ranks", () => {
  it("are counted in bins: chains one above the other have them apart", () => {
    const steps = [0, 1].map((c) => Float64Array.from({ length: 10 }, (_, i) => 10 * c + i));
    expect(rankCounts(steps, 4)).toEqual([
      [5, 5, 0, 0],
      [0, 0, 5, 5],
    ]);
    const counts = rankCounts(chains);
    expect(counts.flat().reduce((a, b) => a + b, 0)).toBe(600);
    expect(counts[0].map((_, bin) => counts.reduce((sum, each) => sum + each[bin], 0))).toEqual(new Array(20).fill(30));
  });
});

describe("a picture", () => {
  it.each([
    ["traces", tracePicture(quantities), 2 * 3],
    ["ranks", rankPicture(quantities), 2 * 3],
  ])("of %s has a line for every chain of every quantity, the names escaped", (_, svg, lines) => {
    expect(svg).toMatch(/^<svg .*<\/svg>\n$/s);
    expect(svg).toContain("theta[1] &lt; 2");
    const panels = svg.match(/aria-label="line"/g) ?? [];
    expect(panels.length).toBe(lines);
    expect(svg).not.toContain("NaN");
  });

  it("of pairs marks divergences, and has no more dots than an eye can tell", () => {
    const diverged = chains.map((chain) => Uint8Array.from(chain, (_, i) => (i === 3 ? 1 : 0)));
    const svg = pairsPicture(quantities, diverged);
    expect(svg).toContain("3 transitions diverged");
    const dots = svg.match(/<circle/g) ?? [];
    // 597 draws, three divergences, and the mark of the legend.
    expect(dots.length).toBe(601);
    expect(pairsPicture(quantities)).not.toContain("diverged");
  });
});

describe("names and numbers", () => {
  it("are cut where there is no room, the index last", () => {
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
  ])("of an axis over %j: %j are %j", (range, values, texts) => {
    expect(values.map(marked([range]).tickFormat)).toEqual(texts);
  });
});
