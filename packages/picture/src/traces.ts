/** Traces of chains. */

import { BOLD, shortName, yTicks } from "./axes.ts";
import { colourOf, legendOf, lineOf, namesOf, type Quantity } from "./chains.ts";
import { chart, type Panel, Plot } from "./chart.ts";

/** Maximum number of points of a line. */
const SHOWN = 400;

const TRACE_WIDTH = 380;

/** Traces: the draws of each chain in order, thinned to at most 400 points. */
export function tracePicture(quantities: readonly Quantity[]): string {
  const panels = quantities.map(({ name, chains }): Panel => {
    const every = Math.max(1, Math.ceil(chains[0].length / SHOWN));
    const { room, ...y } = yTicks(chains);
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
    title: "Traces",
    note: "Chains that have converged look alike: no trends, no plateaus, one common band.",
    description: `Traces of ${namesOf(quantities)}, one line per chain.`,
    legend: legendOf(quantities[0].chains.length),
    panels,
    columns: 2,
    width: TRACE_WIDTH,
    height: 150,
  });
}
