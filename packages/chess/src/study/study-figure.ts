/** The figure of a study of w as SVG. What draws it is large, and loaded when it is asked for. */
import type { StudyRecord } from "./study.ts";

/** The figure of the study of drift scales as SVG. */
export const studyFigure = async (records: readonly StudyRecord[]): Promise<string> =>
  (await import("./study-chart.ts")).studyChart(records);
