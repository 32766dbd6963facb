/** Chains and predictions as charts. */
import type { Draw } from "../../view/Chart.svelte";
import type { Predicted, Quantity } from "./shapes.ts";

const colours = ["var(--blue)", "var(--vermilion)", "var(--green)", "var(--purple)"];

/** Maximum number of points per chain of a line or a scatter plot. */
const MOST = 400;

const thinned = (chain: Float64Array): { readonly i: number; readonly v: number }[] => {
  const every = Math.ceil(chain.length / MOST);
  return Array.from({ length: Math.floor(chain.length / every) }, (_, k) => ({
    i: k * every + 1,
    v: chain[k * every],
  }));
};

/** The trace of a quantity. */
export const traceOf =
  ({ name, chains }: Quantity): Draw =>
  (marks) => ({
    marginBottom: 36,
    x: { label: "draw" },
    y: { label: name, grid: true },
    marks: chains.map((chain, c) =>
      marks.line(thinned(chain), { x: "i", y: "v", stroke: colours[c], strokeWidth: 0.8 }),
    ),
  });

const BINS = 20;

/** Histograms of the ranks of each chain's draws among all: uniform if the chains agree. */
export const ranksOf =
  ({ chains }: Quantity): Draw =>
  (marks) => {
    const all = chains.flatMap((chain, c) => Array.from(chain, (v) => ({ v, c })));
    const counts = chains.map(() => new Array<number>(BINS).fill(0));
    all
      .toSorted((a, b) => a.v - b.v)
      .forEach(({ c }, rank) => {
        counts[c][Math.floor((rank * BINS) / all.length)]++;
      });
    const expected = all.length / chains.length / BINS;
    return {
      marginBottom: 36,
      marginRight: 16,
      x: { label: "rank", ticks: [0, all.length] },
      y: { label: "draws", domain: [0, 2 * expected] },
      marks: [
        marks.ruleY([expected], { stroke: "var(--line)" }),
        ...counts.map((own, c) =>
          marks.line(
            own.flatMap((count, b) => [
              { x: (b * all.length) / BINS, count },
              { x: ((b + 1) * all.length) / BINS, count },
            ]),
            { x: "x", y: "count", stroke: colours[c], clip: true },
          ),
        ),
      ],
    };
  };

/** Two quantities against each other. */
export const pairOf =
  (a: Quantity, b: Quantity): Draw =>
  (marks) => ({
    marginBottom: 36,
    x: { label: a.name, grid: true },
    y: { label: b.name, grid: true },
    marks: a.chains.map((chain, c) => {
      const [x, y] = [thinned(chain), thinned(b.chains[c])];
      const points = x.map(({ v }, i) => ({ x: v, y: y[i].v }));
      return marks.dot(points, { x: "x", y: "y", r: 1.4, fill: colours[c], fillOpacity: 0.5 });
    }),
  });

/** How many observations lie outside the intervals of their predictions. */
export const outsideOf = ({ observed, low, high }: Predicted): number =>
  observed.filter((v, i) => v < low[i] || v > high[i]).length;

/** Observations and 90 % intervals of their predictions. */
export const predictionsOf =
  ({ name, observed, low, middle, high }: Predicted): Draw =>
  (marks) => {
    const order = observed.map((_, i) => i).toSorted((a, b) => middle[a] - middle[b]);
    const points = order.map((i, at) => ({
      at: at + 1,
      low: low[i],
      high: high[i],
      observed: observed[i],
      outside: observed[i] < low[i] || observed[i] > high[i],
    }));
    return {
      marginBottom: 36,
      x: { label: "observation, ordered by prediction", ticks: 5 },
      y: { label: name, grid: true },
      marks: [
        marks.ruleX(points, {
          x: "at",
          y1: "low",
          y2: "high",
          stroke: "var(--blue)",
          strokeOpacity: 0.45,
          strokeWidth: 3,
        }),
        marks.dot(points, {
          x: "at",
          y: "observed",
          r: 2.5,
          fill: (d: { readonly outside: boolean }) =>
            d.outside ? "var(--vermilion)" : "var(--ink)",
        }),
      ],
      color: { type: "identity" },
    };
  };
