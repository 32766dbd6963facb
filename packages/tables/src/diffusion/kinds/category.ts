/** One of several labels. */
import { category as categoryDomain } from "diffeo/domain";
import { fail } from "diffeo/graph";
import { quote } from "../../table/quote.ts";
import { disguiseOf } from "./disguise.ts";
import type { Column, ColumnKind } from "./kind.ts";

/** More labels are coded by points of few numbers, one for each. */
const MOST_CORNERS = 50;
/** More have no room in a model: each has a chance of its own. */
const MOST_LABELS = 10_000;
/** So many may be categories even where few rows share one. */
const FEW_LABELS = 10;

/** Whether so many different texts are too many for categories: few rows share one. */
const areNames = (labels: number, cells: number): boolean =>
  labels > MOST_LABELS || (labels > FEW_LABELS && labels > cells / 2);

/** Whether a column of so many different texts, most of them numbers, is one of labels. */
export const areLabels = (labels: number, cells: number): boolean =>
  labels <= MOST_CORNERS && !areNames(labels, cells);

/** The domain of labels. */
const domainOf = (labels: readonly string[]) =>
  labels.length <= MOST_CORNERS
    ? categoryDomain(labels)
    : categoryDomain(labels, { dimension: Math.ceil(2 * Math.log2(labels.length)) });

const labelsOf = ({ cells }: Column): readonly string[] => [...new Set(cells)].sort();

/** Labels that occur once are named where there are so many at most. */
const NAMED_ONCE = 3;
/** In fewer cells a label occurs once by chance. */
const ENOUGH_CELLS = 50;

/** Labels that one row has, in words to add to a reason: a typing error, or too few to learn. */
function onceNote({ cells }: Column): string {
  if (cells.length < ENOUGH_CELLS) return "";
  const counts = new Map<string, number>();
  for (const cell of cells) counts.set(cell, (counts.get(cell) ?? 0) + 1);
  const once = [...counts].flatMap(([label, count]) => (count === 1 ? [label] : []));
  if (once.length === 0 || once.length === counts.size) return "";
  return once.length <= NAMED_ONCE
    ? `; ${once.map((label) => quote(label)).join(", ")} ` +
        `${once.length === 1 ? "occurs" : "occur"} once`
    : `; ${once.length} of ${counts.size} labels occur once`;
}

export const category: ColumnKind = {
  name: "category",
  counts: [0],
  declared: (column) => {
    const labels = labelsOf(column);
    if (labels.length > MOST_LABELS || labels.length < 2)
      fail(
        "data",
        `${quote(column.name)} has ${labels.length} different ` +
          `${labels.length === 1 ? "text" : "texts"}, a category has 2 to ${MOST_LABELS}`,
        `merge rare ones, or leave it out by the rule ${column.name}=drop`,
      );
    return { domain: domainOf(labels), reason: "as specified" };
  },
  recognised: (column) => {
    const labels = labelsOf(column);
    if (column.numbers || areNames(labels.length, column.cells.length) || labels.length < 2)
      return undefined;
    const remedy = disguiseOf(column.cells);
    const many = labels.length > MOST_CORNERS ? `, ${labels.length} different` : onceNote(column);
    return {
      domain: domainOf(labels),
      reason:
        `text${many}` +
        (remedy === undefined ? "" : `, such as ${quote(labels[0])}: if it is not, ${remedy}`),
    };
  },
  numbersOf: ({ spec }) => (spec?.kind === "category" ? [] : undefined),
};
