/** diffeo-studies: studies of what the paper claims, each by name. */
export { studies } from "./catalogue.ts";
export type { ReportData, Study, StudyRecord, StudyReport, TaskContext } from "./study/study.ts";

// For other packages of this repository; published types leave them out.

/** @internal */
/** @internal */
export { isStudy, type StudyName, studyNamed } from "./catalogue.ts";
/** @internal */
export { taskJob, taskKind } from "./job.ts";
