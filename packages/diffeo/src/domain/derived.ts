/**
 * Cells that are a function of other columns of a row: their sum, or a function of a label. A model
 * of a table does not learn them, because they contain no new information. They are written and
 * checked, and may be given instead of a cell that they determine.
 *
 *   sum      cell = Σ from                 end = start + duration, total = a + b
 *   label    cell = f(label of from)       country = f(town); either label of a pair
 *
 * Or cells that exist only if another column has one of some labels. Such a column is learned.
 *
 *   presence    a cell if from has one of the labels, else none
 */
import { fail } from "../graph/index.ts";
import type { Domain } from "./domain.ts";
import type { Derivation } from "./spec.ts";

/** The domain of cells that are derived from other columns. */
export function derived(own: Domain, derivation: Derivation): Domain {
  const { spec } = own;
  if (!spec || spec.kind === "product" || spec.kind === "derived" || own.cells !== 1)
    return fail(
      "usage",
      `derived: the domain of the cells is ${own.kind}`,
      "give a domain of one column that has a spec",
    );
  if (derivation.by === "label" && derivation.labels.length !== derivation.cells.length)
    fail(
      "usage",
      `derived: ${derivation.labels.length} labels and ${derivation.cells.length} cells`,
      "give one cell per label",
    );
  return { ...own, spec: { kind: "derived", domain: spec, derivation } };
}
