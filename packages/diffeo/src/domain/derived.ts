/**
 * Cells that follow from those of other columns of a row: a sum of them, or what goes with a label.
 * A model of a table does not learn them together with these columns, of which they say nothing
 * new: they are written, checked, and may be given in the place of one that they determine.
 *
 *   sum      cell = Σ from                 end = start + duration, total = a + b
 *   label    cell = f(label of from)       country = f(town); either label of a pair
 *
 * Or cells that are there only where another column has one of some labels: such a column is learned.
 *
 *   presence    a cell where from has one of the labels, and none elsewhere
 */
import { fail } from "../graph/index.ts";
import type { Domain } from "./domain.ts";
import type { Derivation } from "./spec.ts";

/** A domain of cells that follow from other columns, by a derivation. */
export function derived(own: Domain, derivation: Derivation): Domain {
  const { spec } = own;
  if (!spec || spec.kind === "product" || spec.kind === "derived" || own.cells !== 1)
    return fail(
      "usage",
      `derived: the cells are ${own.kind}`,
      "give a domain of one column that files can hold",
    );
  if (derivation.by === "label" && derivation.labels.length !== derivation.cells.length)
    fail(
      "usage",
      `derived: ${derivation.labels.length} labels and ${derivation.cells.length} cells`,
      "give a cell for each label",
    );
  return { ...own, spec: { kind: "derived", domain: spec, derivation } };
}
