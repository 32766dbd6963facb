/** What was found of hidden cells: one line per column, and a part of the HTML report. */
import type {
  ColumnCompletion,
  Coverage,
  HiddenCells,
  LabelCompletion,
  TableCompletion,
} from "../measure/completion.ts";
import { isMiscovered } from "../measure/faults.ts";
import { type Html, paragraph, plusMinus, section, table } from "./parts.ts";
import { line, whole } from "./words.ts";

const coverage = ({ half, ninety }: Coverage): string => `${plusMinus(half)}, ${plusMinus(ninety)}`;
const label = ({ truth, agreement }: LabelCompletion): string =>
  `the truth has ${plusMinus(truth)} of the draws, two draws agree in ${agreement.mean.toFixed(3)}`;

const columnText = ({ numbers, labels }: ColumnCompletion): string =>
  numbers ? coverage(numbers) : labels ? label(labels) : "";

const numbersLine = (name: string, { numbers }: HiddenCells): string[] =>
  numbers ? [line(`  ${name}`, `${coverage(numbers)}   (${whole(numbers.cells)} numbers)`)] : [];

/** A table's columns as they were found hidden alone, and among several. */
function pairs({
  alone,
  several,
}: TableCompletion): [alone: ColumnCompletion, among: ColumnCompletion | undefined][] {
  const among = new Map(several.columns.map((one) => [one.column, one]));
  return alone.columns.map((one) => [one, among.get(one.column)]);
}

/** A completion as lines of text. */
export function completionLines(completion: TableCompletion): string[] {
  const { rows, draws, alone, several } = completion;
  return [
    line(
      "completion",
      `${whole(rows)} rows, ${draws} draws of each hidden cell; share within 50 %, within 90 % of them`,
    ),
    ...numbersLine("hidden alone", alone),
    ...numbersLine("hidden among several", several),
    ...pairs(completion).map(([one, among]) =>
      line(
        `  ${one.column}`,
        `${columnText(one)}${among ? `   among several ${columnText(among)}` : ""}`,
      ),
    ),
  ];
}

/** Columns of one kind of cell as rows of a table, marked where they are off. */
function columnsTable(
  heading: readonly string[],
  found: readonly (readonly [ColumnCompletion, ColumnCompletion | undefined])[],
  cells: (column: ColumnCompletion) => readonly string[],
): Html[] {
  if (found.length === 0) return [];
  const blank = heading.map(() => "");
  return [
    table(
      ["column", ...heading, ...heading.map((text) => `among several: ${text}`)],
      found.map(([one, among]) => [one.column, ...cells(one), ...(among ? cells(among) : blank)]),
      (i) => found[i].some((one) => one !== undefined && isMiscovered(one)),
    ),
  ];
}

export function completionSection(completion: TableCompletion): Html {
  const { rows, draws, alone, several } = completion;
  const found = pairs(completion);
  const all = (hidden: HiddenCells): ColumnCompletion[] =>
    hidden.numbers
      ? [{ column: "all numbers", cells: hidden.numbers.cells, numbers: hidden.numbers }]
      : [];
  const [sum] = all(alone);
  return section(
    "Completion",
    ...columnsTable(
      ["within 50 %", "within 90 %"],
      [...(sum ? [[sum, all(several)[0]] as const] : []), ...found.filter(([one]) => one.numbers)],
      ({ numbers }) => (numbers ? [plusMinus(numbers.half), plusMinus(numbers.ninety)] : []),
    ),
    ...columnsTable(
      ["draws that have the true label", "two draws agree in", "difference"],
      found.filter(([one]) => one.labels),
      ({ labels }) =>
        labels ? [plusMinus(labels.truth), plusMinus(labels.agreement), plusMinus(labels.gap)] : [],
    ),
    paragraph(
      `Cells of ${whole(rows)} held-out rows were hidden, one column or group of columns at a time and several at once, and drawn ${draws} times given the rest of their row. If the model is right, the truth is within the middle half of its draws half of the time and within the middle nine tenths nine times of ten; a true label is drawn as often as two draws agree.`,
    ),
  );
}
