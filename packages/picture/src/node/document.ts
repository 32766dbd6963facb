/** The document in which charts are built in Node. */
import type { PlotOptions } from "@observablehq/plot";
import { parseHTML } from "linkedom";

type ChartDocument = NonNullable<PlotOptions["document"]>;

export const chartDocument = (): ChartDocument =>
  parseHTML("<!doctype html><html></html>").document;
