/** diffeo-picture: what figures share, and charts by Observable Plot. */
export * as Plot from "@observablehq/plot";
export { type ChartOptions, COLOURS, chart, type LegendEntry, type Panel } from "./chart.ts";
export { escapeText, FAINT, FONT, INK, RULE } from "./svg.ts";
