/** Scatter plots of pairs of quantities. */

import { BOLD, shortName, xTicks, yTicks } from "./axes.ts";
import { namesOf, type Quantity } from "./chains.ts";
import { COLOURS, chart, type Panel, Plot } from "./chart.ts";

/** Maximum number of points of a scatter plot. */
const DOTS = 1000;
const PAIR_WIDTH = 220;

/**
 * Scatter plots of pairs of quantities, with histograms on the diagonal.
 *
 * @param diverged for each chain, 1 for draws whose transition diverged
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
  const divergent = rows.filter((i) => bad[i]);
  const names = quantities.map(({ name }) => shortName(name, (PAIR_WIDTH - 24) / BOLD));
  const blank: Panel = { heading: "", axis: null, marks: [] };
  const cell = (row: number, column: number): Panel => {
    if (column > row) return blank;
    const { room, ...y } = yTicks([values[row]]);
    const marginLeft = column === row ? 46 : room;
    const label = row === quantities.length - 1 ? names[column] : null;
    const x = { label, ...xTicks([values[column]], PAIR_WIDTH - marginLeft - 10) };
    if (column === row)
      return {
        heading: names[row],
        x,
        marginLeft,
        y: { axis: null, grid: false },
        marks: [
          Plot.rectY(values[row], {
            ...Plot.binX({ y: "count" }, { x: (v: number) => v }),
            fill: COLOURS.blue,
            inset: 0.25,
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
        Plot.dot(divergent, { ...at, r: 2.2, fill: COLOURS.vermilion }),
      ],
    };
  };
  return chart({
    title: "Pairs of quantities",
    ...(divergent.length > 0 && {
      note: `${divergent.length} transitions diverged; the marks show where they ended.`,
      legend: [{ label: "diverged", colour: COLOURS.vermilion }],
    }),
    description: `Scatter plots of ${namesOf(quantities)}, with histograms on the diagonal.`,
    panels: quantities.flatMap((_, row) => quantities.map((_, column) => cell(row, column))),
    columns: quantities.length,
    width: PAIR_WIDTH,
    height: 180,
  });
}
