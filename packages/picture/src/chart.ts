/**
 * diffeo-picture/chart. Charts as SVG: panels by Observable Plot under one title and one legend,
 * with common colours and fonts. The same options give the same text in a page and in Node.
 */
import * as Plot from "@observablehq/plot";
import { EDGE, framed, type Heading, INDENT, LINE, plotGroup, textAt } from "./frame.ts";
import { FAINT } from "./svg.ts";

export type { LegendEntry } from "./frame.ts";
export { type GridOptions, grid } from "./grid.ts";
export { FAINT, Plot };

/** The colours of Okabe and Ito, which colour-blind readers can distinguish. */
export const COLOURS = {
  blue: "#0072b2",
  vermilion: "#d55e00",
  green: "#009e73",
  orange: "#e69f00",
  sky: "#56b4e9",
  purple: "#cc79a7",
  grey: "#6e7781",
} as const;

/** A panel of a chart: options of Observable Plot, and a heading. */
export interface Panel extends Plot.PlotOptions {
  /** The text above the panel. */
  readonly heading: string;
}

/** A chart: panels under one title. */
export interface ChartOptions extends Heading {
  readonly panels: readonly Panel[];
  /** Panels per row. Default all. */
  readonly columns?: number;
  /** Width of a panel in pixels. Default 380. */
  readonly width?: number;
  /** Height of a panel in pixels, without its heading. Default 284. */
  readonly height?: number;
}

const GAP = 12;

/** Defaults of every panel. */
const defaults: Plot.PlotOptions = {
  marginLeft: 46,
  marginRight: 10,
  marginTop: 28,
  marginBottom: 40,
  grid: false,
};

function panelAt(
  { heading, ...options }: Panel,
  width: number,
  height: number,
  x: number,
  y: number,
): string {
  const axis = { labelArrow: "none", labelAnchor: "center", tickSize: 4 } as const;
  const plot = plotGroup(
    {
      ...defaults,
      width,
      height,
      ...options,
      x: { ...axis, ...options.x },
      y: { labelArrow: "none", grid: true, tickSize: 0, ...options.y },
    },
    x,
    y + LINE,
  );
  return `${textAt(x + INDENT, y + 14, heading, 'font-weight="bold"')}${plot}`;
}

/**
 * Draws a chart.
 *
 * @returns the SVG, the same text for the same options
 */
export function chart(options: ChartOptions): string {
  const { panels, width = 380, height = 284, columns: across = panels.length } = options;
  const rows = Math.ceil(panels.length / across);
  return framed(options, {
    width: Math.min(across, panels.length) * (width + GAP) - GAP,
    height: rows * (LINE + height + 4),
    at: (top) =>
      panels
        .map((panel, i) => {
          const [row, column] = [Math.floor(i / across), i % across];
          return panelAt(
            panel,
            width,
            height,
            EDGE + column * (width + GAP),
            top + 4 + row * (LINE + height + 4),
          );
        })
        .join(""),
  });
}
