/** Posterior predictive checks. */

import { BOLD, shortName, tickMarks } from "./axes.ts";
import { COLOURS, chart, type Panel, Plot } from "./chart.ts";

/** Observed values, and predicted data sets of the same length. */
export interface Predictive {
  readonly name: string;
  readonly observed: ArrayLike<number>;
  readonly sets: readonly ArrayLike<number>[];
}

const PREDICTIVE_WIDTH = 380;

/** Bins of a histogram: one per value for integers with a small range, otherwise intervals. */
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
  // A few extreme predictions would take most of the width.
  const [from, to] = [0.002, 0.998].map((p) => all[Math.round(p * (all.length - 1))]);
  const seen = numbers[0];
  const [first, last] = [Math.min(from, ...Array.from(seen)), Math.max(to, ...Array.from(seen))];
  const count = Math.max(8, Math.min(30, Math.ceil(2 * Math.cbrt(seen.length))));
  return { from: first, step: (last - first) / count || 1, count };
}

/**
 * Posterior predictive check (A. Gelman, X.-L. Meng, H. Stern, 1996): histograms of the observed
 * values and of each predicted data set.
 */
export function predictivePicture(quantities: readonly Predictive[]): string {
  const names = quantities.map(({ name }) => name);
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
    const { tickFormat } = tickMarks([[from, from + count * step]]);
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
    title: "Posterior predictive check",
    note: "If the model fits, the observed line looks like one of the predicted lines.",
    description: `Histograms of predicted and observed ${names.join(", ")}.`,
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
