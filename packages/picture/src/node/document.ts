/** The document that charts are drawn in where there is no page. */
import type { PlotOptions } from "@observablehq/plot";
import { parseHTML } from "linkedom";

type ChartDocument = NonNullable<PlotOptions["document"]>;

export const chartDocument = (): ChartDocument =>
  parseHTML("<!doctype html><html></html>").document;
