/**
 * Plots in a square grid that share their axes: those of the bottom row and of the first column are
 * shown.
 */
import type * as Plot from "@observablehq/plot";
import { EDGE, framed, type Heading, plotGroup } from "./frame.ts";

/** What a grid of small plots shows. */
export interface GridOptions extends Heading {
  /** Of every row its plots; undefined leaves a place empty. */
  readonly cells: readonly (readonly (Plot.PlotOptions | undefined)[])[];
  /** The side of a plot, in pixels. */
  readonly side: number;
  /** Room for the axes on the left, and at the bottom. Default 56 and 40. */
  readonly left?: number;
  readonly bottom?: number;
}

const GAP = 6;
/** Around the plots, so that what stands on an edge is whole. */
const ROOM = 6;

/** A grid of small plots as SVG. */
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
