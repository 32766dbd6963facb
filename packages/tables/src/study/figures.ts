/** The figures of a study. The drawing code is large and is loaded on demand. */
import type { RunRecord } from "./study.ts";

/** Figures by file name, without an extension. */
export const studyFigures = async (
  records: readonly RunRecord[],
): Promise<Readonly<Record<string, string>>> => (await import("./charts.ts")).studyCharts(records);
