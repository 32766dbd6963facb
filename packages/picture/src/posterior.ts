/**
 * diffeo-picture/posterior. Chains as pictures, in the parameters' own units: their way draw by draw, the ranks of each among
 * all, and two quantities against each other.
 */
import { COLOURS, chart, type LegendEntry, type Panel, Plot } from "./chart.ts";

/** One number of a posterior, an array a chain. */
export interface Quantity {
  readonly name: string;
  readonly chains: readonly Float64Array[];
}

const palette = Object.values(COLOURS);
const colourOf = (chain: number): string => palette[chain % palette.length];

/** Up to as many chains as there are colours have a legend; more are told apart by nobody. */
const legendOf = (count: number): LegendEntry[] =>
  count > palette.length
    ? []
    : Array.from({ length: count }, (_, c) => ({ label: `chain ${c + 1}`, colour: colourOf(c) }));

const named = (quantities: readonly Quantity[]): string => quantities.map(({ name }) => name).join(", ");

/** Points of a line that an eye can follow. */
const SHOWN = 400;

/** Every k-th draw of each chain, in order. */
export function tracePicture(quantities: readonly Quantity[]): string {
  const panels = quantities.map(({ name, chains }): Panel => {
    const every = Math.max(1, Math.ceil(chains[0].length / SHOWN));
    return {
      heading: name,
      x: { label: "draw" },
      y: { label: null, ticks: 4 },
      marginTop: 8,
      marks: chains.map((chain, c) =>
        Plot.lineY(
          Array.from({ length: Math.ceil(chain.length / every) }, (_, i) => [i * every + 1, chain[i * every]] as const),
          { x: "0", y: "1", stroke: colourOf(c), strokeWidth: 0.7, strokeOpacity: 0.8 },
        ),
      ),
    };
  });
  return chart({
    title: "Draws of every chain",
    note: "Chains that have met look alike: no drift, no plateaus, one band.",
    description: `The draws of ${named(quantities)}, a line a chain.`,
    legend: legendOf(quantities[0].chains.length),
    panels,
    columns: 2,
    height: 150,
  });
}

const BINS = 20;

/** How many draws of each chain have their rank among all in each of the bins. */
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

/** Histograms of ranks (A. Vehtari et al., 2021): even for chains of one law. The band holds 99 % of independent draws. */
export function rankPicture(quantities: readonly Quantity[]): string {
  const panels = quantities.map(({ name, chains }): Panel => {
    const mean = chains[0].length / BINS;
    const spread = 2.576 * Math.sqrt(mean * (1 - 1 / BINS) * (1 - 1 / chains.length));
    const steps = rankCounts(chains).map((counts) => [...counts, counts[BINS - 1]].map((n, i) => [i / BINS, n]));
    return {
      heading: name,
      x: { label: "rank among all draws, %", percent: true },
      y: { label: "draws", zero: true },
      marks: [
        Plot.rect([0], { x1: 0, x2: 1, y1: mean - spread, y2: mean + spread, fill: COLOURS.grey, fillOpacity: 0.15 }),
        Plot.ruleY([mean], { stroke: COLOURS.grey, strokeDasharray: "3 3" }),
        ...steps.map((line, c) =>
          Plot.lineY(line, { x: "0", y: "1", curve: "step-after", stroke: colourOf(c), strokeWidth: 1.4 }),
        ),
      ],
    };
  });
  return chart({
    title: "Ranks of every chain's draws among all",
    note: "Even where chains agree; a slope is another mean, a hill or a valley another spread.",
    description: `Histograms of the ranks of ${named(quantities)}, one a chain.`,
    legend: legendOf(quantities[0].chains.length),
    panels,
    columns: 3,
    width: 300,
    height: 190,
  });
}

/** Points of a cloud. */
const DOTS = 1000;

/** Quantities against each other, their own histograms on the diagonal. `diverged`, an array a chain: 1 marks a divergence. */
export function pairsPicture(quantities: readonly Quantity[], diverged?: readonly Uint8Array[]): string {
  const draws = quantities[0].chains.reduce((n, chain) => n + chain.length, 0);
  const every = Math.max(1, Math.ceil(draws / DOTS));
  const values = quantities.map(({ chains }) => chains.flatMap((chain) => Array.from(chain)));
  const bad = diverged?.flatMap((chain) => Array.from(chain, (d) => d === 1)) ?? [];
  const rows = Array.from({ length: draws }, (_, i) => i);
  const some = rows.filter((i) => i % every === 0 && !bad[i]);
  const marked = rows.filter((i) => bad[i]);
  const blank: Panel = { heading: "", axis: null, marks: [] };
  const cell = (row: number, column: number): Panel => {
    if (column > row) return blank;
    const x = { label: row === quantities.length - 1 ? quantities[column].name : null, ticks: 4 };
    if (column === row)
      return {
        heading: quantities[row].name,
        x: { ...x, label: null },
        y: { axis: null },
        marks: [Plot.rectY(values[row], { ...Plot.binX({ y: "count" }, { x: (v: number) => v }), fill: COLOURS.blue })],
      };
    const at = { x: (i: number) => values[column][i], y: (i: number) => values[row][i] };
    return {
      heading: "",
      x,
      y: { label: column === 0 ? quantities[row].name : null, ticks: 4 },
      marks: [
        Plot.dot(some, { ...at, r: 1.1, fill: COLOURS.blue, fillOpacity: 0.35 }),
        Plot.dot(marked, { ...at, r: 2.2, fill: COLOURS.vermilion }),
      ],
    };
  };
  return chart({
    title: "Draws of two quantities against each other",
    ...(marked.length > 0 && {
      note: `${marked.length} transitions diverged: where they ended.`,
      legend: [{ label: "diverged", colour: COLOURS.vermilion }],
    }),
    description: `Scatter plots of ${named(quantities)}, histograms on the diagonal.`,
    panels: quantities.flatMap((_, row) => quantities.map((_, column) => cell(row, column))),
    columns: quantities.length,
    width: 220,
    height: 180,
  });
}
