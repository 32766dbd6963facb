/** The figure of a study of w as SVG. The chart code is large and is loaded on demand. */
import type { StudyRecord } from "./study.ts";

/** The figure of the study of drift scales as SVG. */
export const studyFigure = async (records: readonly StudyRecord[]): Promise<string> =>
  (await import("./study-chart.ts")).studyChart(records);
