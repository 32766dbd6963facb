/** What commands do with an evaluation of a table: what fails it. */
import { fail } from "diffeo/graph";
import { faultsOf, type TableEvaluation } from "diffeo-tables";

/** Raises an error where a baseline is better or clusters have the wrong mass. */
export function requireWorth(evaluation: TableEvaluation, remedy: string): void {
  const faults = faultsOf(evaluation);
  if (faults.length > 0) fail("numerical", faults.join("; "), remedy);
}
