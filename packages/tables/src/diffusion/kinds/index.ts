/**
 * Kinds: what a single column can be.
 *
 * In: the cells of a column, or a rule that a person wrote for it.
 * Out: its domain, or what is written for it instead, with the reason why.
 */

import type { CellTable } from "../../table/cells.ts";
import { angle } from "./angle.ts";
import { between } from "./between.ts";
import { category } from "./category.ts";
import { columnOf } from "./column-cells.ts";
import { constant } from "./constant.ts";
import { date } from "./date.ts";
import { empirical } from "./empirical.ts";
import { identifier } from "./identifier.ts";
import { count, integer } from "./integer.ts";
import type { ColumnKind, Meaning } from "./kind.ts";
import { mixed } from "./mixed.ts";
import { above, below, positive } from "./positive.ts";
import { real } from "./real.ts";
import { text } from "./text.ts";

/** All kinds. A column without a rule is of the first that recognises it. */
export const columnKinds: readonly ColumnKind[] = [
  constant,
  date,
  identifier,
  mixed,
  empirical,
  count,
  integer,
  between,
  positive,
  above,
  below,
  real,
  category,
  angle,
  text,
];

/** What a column of numbers is, whatever identifiers look like. */
export function numberKind(table: CellTable, name: string): Meaning {
  const column = columnOf(table, name);
  for (const kind of columnKinds) {
    if (kind === identifier || kind === date) continue;
    const meaning = kind.recognised?.(column, "usual");
    if (meaning) return meaning;
  }
  throw new Error(`internal: ${name} is not a column of numbers`);
}

export { areLabels } from "./category.ts";
export { columnAt, columnOf, numbersIn, presentNumbers } from "./column-cells.ts";
export { recordedOf } from "./distribution.ts";
export {
  type Filler,
  type Meaning,
  type NumberTreatment,
  numberTreatments,
  type TableLayout,
} from "./kind.ts";
export { placedSphere } from "./poles.ts";
