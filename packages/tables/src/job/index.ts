/**
 * Job: sampling and fitting as jobs, for this process, other processes or other machines.
 *
 * In: a model, or rows. Out: jobs and their kinds.
 */
export {
  type TableFitInputs,
  type TableFitJobsOptions,
  type TableFitParameters,
  tableFitJobs,
  tableFitKind,
} from "./fit.ts";
export {
  type RowsInputs,
  type RowsJobsOptions,
  type RowsParameters,
  rowsJobs,
  rowsKind,
} from "./rows.ts";
