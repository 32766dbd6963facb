/** diffeo-studies: studies of what the paper claims, each by name. */
export { isStudy, type StudyName, studies, studyNamed } from "./catalogue.ts";
export { type TaskFile, type TaskParameters, taskJob, taskKind } from "./job.ts";
export { parseStudyRecords, requireRecord, serializeRecords } from "./study/records.ts";
export type { ReportData, Study, StudyRecord, StudyReport, TaskContext } from "./study/study.ts";
