/** Rank histograms: of chains among each other, and of true values among draws. */

import { BOLD, shortName } from "./axes.ts";
import { colourOf, legendOf, lineOf, namesOf, type Quantity } from "./chains.ts";
import { COLOURS, chart, type Panel, Plot } from "./chart.ts";

const BINS = 20;
const RANK_WIDTH = 300;

/**
 * For each chain, counts of the ranks of its draws among all draws, in equal bins.
 *
 * @internal
 */
export function rankCounts(chains: readonly Float64Array[], bins = BINS): number[][] {
  const draws = chains[0].length;
  const all = chains.flatMap((chain, c) => Array.from(chain, (value) => ({ value, c })));
  const counts = chains.map(() => new Array<number>(bins).fill(0));
  all
    .toSorted((a, b) => a.value - b.value)
    .forEach(({ c }, rank) => {
      counts[c][Math.floor((rank * bins) / (draws * chains.length))]++;
    });
  return counts;
}

/** The expected count of a bin, and a band of the given half width around it. */
const chanceBand = (mean: number, spread: number, opacity: number) => [
  Plot.rect([0], {
    x1: 0,
    x2: 1,
    y1: Math.max(0, mean - spread),
    y2: mean + spread,
    fill: COLOURS.grey,
    fillOpacity: opacity,
  }),
  Plot.ruleY([mean], { stroke: COLOURS.grey, strokeDasharray: "3 3" }),
];

/** A histogram as the steps of a line over (0, 1). */
const stepsOf = (counts: readonly number[]): [number, number][] =>
  [...counts, counts[counts.length - 1]].map((n, i) => [i / counts.length, n]);

type Line = readonly [steps: readonly [number, number][], style: Plot.LineYOptions];

/** A panel of histograms over the band that contains 99 % of uniform counts. */
const rankPanel = (
  name: string,
  x: string,
  y: string,
  band: ReturnType<typeof chanceBand>,
  lines: readonly Line[],
): Panel => ({
  heading: shortName(name, (RANK_WIDTH - 24) / BOLD),
  x: { label: x, percent: true },
  y: { label: y, zero: true },
  marks: [
    ...band,
    ...lines.map(([steps, style]) =>
      Plot.lineY(steps, { x: "0", y: "1", curve: "step-after", ...style }),
    ),
  ],
});

const RANK_SIZE = { width: RANK_WIDTH, height: 190 };

/**
 * Rank histograms (A. Vehtari et al., 2021), which are uniform if all chains have the same
 * distribution. The band contains 99 % of the counts of independent draws.
 */
export function rankPicture(quantities: readonly Quantity[]): string {
  const panels = quantities.map(({ name, chains }): Panel => {
    // At least ten draws of a chain per bin.
    const bins = Math.max(2, Math.min(BINS, Math.floor(chains[0].length / 10)));
    const mean = chains[0].length / bins;
    const spread = 2.576 * Math.sqrt(mean * (1 - 1 / bins) * (1 - 1 / chains.length));
    const lines = rankCounts(chains, bins).map(
      (counts, c): Line => [
        stepsOf(counts),
        { stroke: colourOf(c), ...lineOf(chains.length, 1.4) },
      ],
    );
    const band = chanceBand(mean, spread, 0.15);
    return rankPanel(name, "rank among all draws, %", "draws", band, lines);
  });
  return chart({
    title: "Rank histograms",
    note:
      "Uniform if the chains agree. A slope means another mean, a hill or a valley " +
      "another spread.",
    description: `Histograms of ranks among all draws, one per chain: ${namesOf(quantities)}.`,
    legend: legendOf(quantities[0].chains.length),
    panels,
    columns: 3,
    ...RANK_SIZE,
  });
}

/**
 * Simulation-based calibration: histograms of the ranks of true values among draws from posteriors
 * of simulated data, uniform if model and sampler are correct. The band contains 99 % of the counts
 * of a uniform distribution.
 *
 * @param quantities counts of equal bins, by name
 */
export function ranksPicture(quantities: Readonly<Record<string, readonly number[]>>): string {
  const panels = Object.entries(quantities).map(([name, counts]): Panel => {
    const bins = counts.length;
    const mean = counts.reduce((a, b) => a + b, 0) / bins;
    const band = chanceBand(mean, 2.576 * Math.sqrt(mean * (1 - 1 / bins)), 0.25);
    const line: Line = [stepsOf(counts), { stroke: COLOURS.blue, strokeWidth: 1.4 }];
    return rankPanel(name, "rank of the true value, %", "data sets", band, [line]);
  });
  return chart({
    title: "Simulation-based calibration: ranks of true values",
    note:
      "Uniform if the posteriors are calibrated. A hill means too wide, a valley too narrow, a " +
      "slope biased.",
    description: `Histograms of the ranks of ${Object.keys(quantities).join(", ")}.`,
    panels,
    columns: Math.min(3, panels.length),
    ...RANK_SIZE,
  });
}
