/** The document in which charts are built: in a page, its own. */
import type { PlotOptions } from "@observablehq/plot";

type ChartDocument = NonNullable<PlotOptions["document"]>;

export const chartDocument = (): ChartDocument =>
  (globalThis as unknown as { document: ChartDocument }).document;
