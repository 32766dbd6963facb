/** The figures of a study. What draws them is large, and loaded when they are requested. */
import type { RunRecord } from "./study.ts";

/** Figures by file name, without an ending. */
export const studyFigures = async (
  records: readonly RunRecord[],
): Promise<Readonly<Record<string, string>>> => (await import("./charts.ts")).studyCharts(records);
