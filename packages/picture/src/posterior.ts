/**
 * diffeo-picture/posterior. Chains as pictures, in the parameters' own units: their way draw by
 * draw, the ranks of each among all, and two quantities against each other.
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

const named = (quantities: readonly Quantity[]): string =>
  quantities.map(({ name }) => name).join(", ");

/**
 * As much of a name as fits above so many letters: its beginning and its end, where the index is.
 *
 * @internal
 */
export function shortName(name: string, room: number): string {
  const letters = [...name];
  if (letters.length <= room) return name;
  const index = /\[[^[\]]*\]$/.exec(name)?.[0] ?? "";
  const end =
    [...index].length <= room / 2
      ? Math.max([...index].length, Math.floor(room / 3))
      : Math.floor(room / 2);
  return `${letters.slice(0, room - 1 - end).join("")}…${letters.slice(-end).join("")}`;
}

/**
 * How an axis over these numbers is marked: ticks apart, in few letters, with the digits that tell
 * them apart.
 *
 * @internal
 */
export function marked(chains: readonly ArrayLike<number>[]): {
  tickFormat: (v: number) => string;
  letters: number;
} {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const chain of chains)
    for (let i = 0; i < chain.length; i++)
      [low, high] = [Math.min(low, chain[i]), Math.max(high, chain[i])];
  const size = Math.max(Math.abs(low), Math.abs(high));
  const step = Math.floor(Math.log10((high - low || size || 1) / 4));
  const whole = Math.floor(Math.log10(size || 1));
  const powers = (whole >= 6 || whole < -3) && whole - step <= 4;
  const tickFormat = (v: number): string => {
    if (v === 0) return "0";
    const text = powers
      ? Number(v.toPrecision(Math.max(1, Math.floor(Math.log10(Math.abs(v))) - step + 1)))
          .toExponential()
          .replace("e+", "e")
      : v.toLocaleString("en", { maximumFractionDigits: Math.min(20, Math.max(0, -step)) });
    return text.replaceAll("-", "−");
  };
  const letters = Math.max(...[low, high, low + 10 ** step].map((v) => tickFormat(v).length));
  return { tickFormat, letters };
}

/** Pixels of a letter of a tick, and of a bold one of a heading. */
const TICK = 6.2;
const BOLD = 7.6;

/** Marks along x over so many pixels, and down y with the room to their left. */
const across = (numbers: readonly ArrayLike<number>[], pixels: number) => {
  const { tickFormat, letters } = marked(numbers);
  return {
    tickFormat,
    ticks: Math.max(2, Math.min(4, Math.floor(pixels / (TICK * letters + 16)))),
  };
};
const down = (numbers: readonly ArrayLike<number>[]) => {
  const { tickFormat, letters } = marked(numbers);
  return { tickFormat, ticks: 4, room: Math.max(46, 14 + TICK * letters) };
};

/** Lines of more chains than there are colours are a crowd: thin, and seen where many are. */
const lineOf = (count: number, width: number) =>
  count > palette.length
    ? { strokeWidth: 0.5, strokeOpacity: 0.3 }
    : { strokeWidth: width, strokeOpacity: 0.8 };

/** Points of a line that an eye can follow. */
const SHOWN = 400;

const TRACE_WIDTH = 380;

/** Every k-th draw of each chain, in order. */
export function tracePicture(quantities: readonly Quantity[]): string {
  const panels = quantities.map(({ name, chains }): Panel => {
    const every = Math.max(1, Math.ceil(chains[0].length / SHOWN));
    const { room, ...y } = down(chains);
    return {
      heading: shortName(name, (TRACE_WIDTH - 24) / BOLD),
      x: { label: "draw" },
      y: { label: null, ...y },
      marginTop: 8,
      marginLeft: room,
      marks: chains.map((chain, c) =>
        Plot.lineY(
          Array.from(
            { length: Math.ceil(chain.length / every) },
            (_, i) => [i * every + 1, chain[i * every]] as const,
          ),
          { x: "0", y: "1", stroke: colourOf(c), ...lineOf(chains.length, 0.7) },
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
    width: TRACE_WIDTH,
    height: 150,
  });
}

const BINS = 20;
const RANK_WIDTH = 300;

/**
 * How many draws of each chain have their rank among all in each of the bins.
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

/** The mean count of a bin, and the band that holds counts of equal chances. */
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

/**
 * Histograms of ranks (A. Vehtari et al., 2021): uniform for chains of one distribution. The band
 * holds 99 % of independent draws.
 */
export function rankPicture(quantities: readonly Quantity[]): string {
  const panels = quantities.map(({ name, chains }): Panel => {
    // Ten draws of a chain to a bin, or fewer bins.
    const bins = Math.max(2, Math.min(BINS, Math.floor(chains[0].length / 10)));
    const mean = chains[0].length / bins;
    const spread = 2.576 * Math.sqrt(mean * (1 - 1 / bins) * (1 - 1 / chains.length));
    const steps = rankCounts(chains, bins).map((counts) =>
      [...counts, counts[bins - 1]].map((n, i) => [i / bins, n]),
    );
    return {
      heading: shortName(name, (RANK_WIDTH - 24) / BOLD),
      x: { label: "rank among all draws, %", percent: true },
      y: { label: "draws", zero: true },
      marks: [
        ...chanceBand(mean, spread, 0.15),
        ...steps.map((line, c) =>
          Plot.lineY(line, {
            x: "0",
            y: "1",
            curve: "step-after",
            stroke: colourOf(c),
            ...lineOf(chains.length, 1.4),
          }),
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
    width: RANK_WIDTH,
    height: 190,
  });
}

/** Points of a cloud. */
const DOTS = 1000;
const PAIR_WIDTH = 220;

/**
 * Quantities against each other, their own histograms on the diagonal. `diverged`, an array a
 * chain: 1 marks a divergence.
 */
export function pairsPicture(
  quantities: readonly Quantity[],
  diverged?: readonly Uint8Array[],
): string {
  const draws = quantities[0].chains.reduce((n, chain) => n + chain.length, 0);
  const every = Math.max(1, Math.ceil(draws / DOTS));
  const values = quantities.map(({ chains }) => chains.flatMap((chain) => Array.from(chain)));
  const bad = diverged?.flatMap((chain) => Array.from(chain, (d) => d === 1)) ?? [];
  const rows = Array.from({ length: draws }, (_, i) => i);
  const some = rows.filter((i) => i % every === 0 && !bad[i]);
  const ended = rows.filter((i) => bad[i]);
  const names = quantities.map(({ name }) => shortName(name, (PAIR_WIDTH - 24) / BOLD));
  const blank: Panel = { heading: "", axis: null, marks: [] };
  const cell = (row: number, column: number): Panel => {
    if (column > row) return blank;
    const { room, ...y } = down([values[row]]);
    const marginLeft = column === row ? 46 : room;
    const label = row === quantities.length - 1 ? names[column] : null;
    const x = { label, ...across([values[column]], PAIR_WIDTH - marginLeft - 10) };
    if (column === row)
      return {
        heading: names[row],
        x: { ...x, label: null },
        marginLeft,
        y: { axis: null },
        marks: [
          Plot.rectY(values[row], {
            ...Plot.binX({ y: "count" }, { x: (v: number) => v }),
            fill: COLOURS.blue,
          }),
        ],
      };
    const at = { x: (i: number) => values[column][i], y: (i: number) => values[row][i] };
    return {
      heading: "",
      x,
      y: { label: column === 0 ? names[row] : null, ...y },
      marginLeft,
      marks: [
        Plot.dot(some, { ...at, r: 1.1, fill: COLOURS.blue, fillOpacity: 0.35 }),
        Plot.dot(ended, { ...at, r: 2.2, fill: COLOURS.vermilion }),
      ],
    };
  };
  return chart({
    title: "Draws of two quantities against each other",
    ...(ended.length > 0 && {
      note: `${ended.length} transitions diverged: where they ended.`,
      legend: [{ label: "diverged", colour: COLOURS.vermilion }],
    }),
    description: `Scatter plots of ${named(quantities)}, histograms on the diagonal.`,
    panels: quantities.flatMap((_, row) => quantities.map((_, column) => cell(row, column))),
    columns: quantities.length,
    width: PAIR_WIDTH,
    height: 180,
  });
}

/** What was observed, and sets of predictions of as many numbers. */
export interface Predictive {
  readonly name: string;
  readonly observed: ArrayLike<number>;
  readonly sets: readonly ArrayLike<number>[];
}

const PREDICTIVE_WIDTH = 380;

/** Integers that take few values are counted one by one, other numbers in intervals. */
function intervals(numbers: readonly ArrayLike<number>[]): {
  from: number;
  step: number;
  count: number;
} {
  let [low, high, whole] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, true];
  for (const list of numbers)
    for (let i = 0; i < list.length; i++) {
      [low, high] = [Math.min(low, list[i]), Math.max(high, list[i])];
      whole &&= Number.isInteger(list[i]);
    }
  if (whole && high - low <= 40) return { from: low - 0.5, step: 1, count: high - low + 1 };
  const all = Float64Array.from(numbers.flatMap((list) => Array.from(list))).sort();
  // A few far predictions would leave no width for the rest.
  const [from, to] = [0.002, 0.998].map((p) => all[Math.round(p * (all.length - 1))]);
  const seen = numbers[0];
  const [first, last] = [Math.min(from, ...Array.from(seen)), Math.max(to, ...Array.from(seen))];
  const count = Math.max(8, Math.min(30, Math.ceil(2 * Math.cbrt(seen.length))));
  return { from: first, step: (last - first) / count || 1, count };
}

/**
 * Histograms of predicted sets, a line each, and of what was observed: a posterior predictive check
 * (A. Gelman, X.-L. Meng, H. Stern, 1996).
 */
export function predictivePicture(quantities: readonly Predictive[]): string {
  const panels = quantities.map(({ name, observed, sets }): Panel => {
    const { from, step, count } = intervals([observed, ...sets]);
    const shares = (list: ArrayLike<number>): (readonly [number, number])[] => {
      const counts = new Array<number>(count).fill(0);
      for (let i = 0; i < list.length; i++) {
        const bin = Math.min(count - 1, Math.floor((list[i] - from) / step));
        if (bin >= 0) counts[bin]++;
      }
      return [...counts, counts[count - 1]].map((n, i) => [
        from + i * step,
        (100 * n) / list.length,
      ]);
    };
    const line = (list: ArrayLike<number>, style: object) =>
      Plot.lineY(shares(list), { x: "0", y: "1", curve: "step-after", ...style });
    const { tickFormat } = marked([[from, from + count * step]]);
    return {
      heading: shortName(name, (PREDICTIVE_WIDTH - 24) / BOLD),
      x: { label: name, tickFormat, ticks: 4 },
      y: { label: "share, %", zero: true },
      marks: [
        ...sets.map((set) =>
          line(set, { stroke: COLOURS.blue, strokeWidth: 0.6, strokeOpacity: 0.3 }),
        ),
        line(observed, { stroke: COLOURS.vermilion, strokeWidth: 2 }),
      ],
    };
  });
  return chart({
    title: "What was observed among what the model predicts",
    note: "The observed line should look like one of the others.",
    description: `Histograms of predicted and observed ${quantities.map(({ name }) => name).join(", ")}.`,
    legend: [
      { label: "observed", colour: COLOURS.vermilion },
      { label: "predicted", colour: COLOURS.blue },
    ],
    panels,
    columns: Math.min(2, quantities.length),
    width: PREDICTIVE_WIDTH,
    height: 200,
  });
}

/**
 * Ranks of true values among draws from posteriors of simulated data, counts of equal bins: uniform
 * where model and sampler are right. The band holds 99 % of uniform counts.
 */
export function ranksPicture(quantities: Readonly<Record<string, readonly number[]>>): string {
  const panels = Object.entries(quantities).map(([name, counts]): Panel => {
    const bins = counts.length;
    const mean = counts.reduce((a, b) => a + b, 0) / bins;
    const spread = 2.576 * Math.sqrt(mean * (1 - 1 / bins));
    return {
      heading: shortName(name, (RANK_WIDTH - 24) / BOLD),
      x: { label: "rank of the true value, %", percent: true },
      y: { label: "datasets", zero: true },
      marks: [
        ...chanceBand(mean, spread, 0.25),
        Plot.lineY(
          [...counts, counts[bins - 1]].map((n, i) => [i / bins, n] as const),
          { x: "0", y: "1", curve: "step-after", stroke: COLOURS.blue, strokeWidth: 1.4 },
        ),
      ],
    };
  });
  return chart({
    title: "Ranks of true values",
    note: "A hill says that posteriors are too wide, a valley that they are too narrow, a slope that they are biased.",
    description: `Histograms of the ranks of ${Object.keys(quantities).join(", ")}.`,
    panels,
    columns: Math.min(3, panels.length),
    width: RANK_WIDTH,
    height: 190,
  });
}
