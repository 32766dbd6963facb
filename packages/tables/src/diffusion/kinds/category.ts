/** One of several labels. */
import { category as categoryDomain } from "diffeo/domain";
import { fail } from "diffeo/graph";
import { quote } from "../../table/quote.ts";
import { disguiseOf } from "./disguise.ts";
import type { Column, ColumnKind } from "./kind.ts";

/** More labels than these are not taken for categories without a rule. */
const MOST_LABELS = 50;
/** More have no room in a model. */
const MOST_DECLARED = 1000;
/** So many may be categories even where few rows share one. */
const FEW_LABELS = 10;

/** Whether so many different texts are too many for categories: few rows share one. */
export const areNames = (labels: number, cells: number): boolean =>
  labels > MOST_LABELS || (labels > FEW_LABELS && labels > cells / 2);

const labelsOf = ({ cells }: Column): readonly string[] => [...new Set(cells)].sort();

export const category: ColumnKind = {
  name: "category",
  counts: [0],
  declared: (column) => {
    const labels = labelsOf(column);
    if (labels.length > MOST_DECLARED || labels.length < 2)
      fail(
        "data",
        `${quote(column.name)} has ${labels.length} different ${labels.length === 1 ? "text" : "texts"}, a category has 2 to ${MOST_DECLARED}`,
        `merge rare ones, or leave it out by the rule ${column.name}=drop`,
      );
    return { domain: categoryDomain(labels), reason: "as specified" };
  },
  recognised: (column) => {
    const labels = labelsOf(column);
    if (column.numbers || areNames(labels.length, column.cells.length) || labels.length < 2)
      return undefined;
    const remedy = disguiseOf(column.cells);
    return {
      domain: categoryDomain(labels),
      reason: `text${remedy === undefined ? "" : `, such as ${quote(labels[0])}: if it is not, ${remedy}`}`,
    };
  },
  numbersOf: ({ spec }) => (spec?.kind === "category" ? [] : undefined),
};
