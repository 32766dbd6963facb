/** A grid of small square plots with shared axes, shown in the bottom row and the first column. */
import type * as Plot from "@observablehq/plot";
import { EDGE, framed, type Heading, plotGroup } from "./frame.ts";

/** A grid of small plots. */
export interface GridOptions extends Heading {
  /** The plots of each row; undefined leaves a cell empty. */
  readonly cells: readonly (readonly (Plot.PlotOptions | undefined)[])[];
  /** The side of a plot in pixels. */
  readonly side: number;
  /** Pixels for the axes on the left. Default 56. */
  readonly left?: number;
  /** Pixels for the axes at the bottom. Default 40. */
  readonly bottom?: number;
}

const GAP = 6;
/** Pixels around the plots for marks on an edge. */
const ROOM = 6;

/** Draws a grid of small plots as SVG. */
export function grid(options: GridOptions): string {
  const { cells, side, left = 56, bottom = 40 } = options;
  const [rows, columns] = [cells.length, Math.max(...cells.map((row) => row.length))];
  return framed(options, {
    width: left + columns * (side + GAP) - GAP + ROOM,
    height: rows * (side + GAP) - GAP + bottom + ROOM,
    at: (top) =>
      cells
        .flatMap((row, i) =>
          row.map((plot, j) => {
            if (!plot) return "";
            const margins = {
              marginLeft: left,
              marginRight: ROOM,
              marginTop: ROOM,
              marginBottom: bottom,
            };
            const size = { width: left + side + ROOM, height: ROOM + side + bottom };
            return plotGroup(
              { ...plot, ...margins, ...size },
              EDGE + j * (side + GAP),
              top + i * (side + GAP),
            );
          }),
        )
        .join(""),
  });
}
