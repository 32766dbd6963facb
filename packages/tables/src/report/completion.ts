/** The results for hidden cells: one line per column, and a section of the HTML report. */
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
  `share of draws with the true label ${plusMinus(truth)}, of pairs of draws that agree ` +
  `${agreement.mean.toFixed(3)}`;

const columnText = ({ numbers, labels }: ColumnCompletion): string =>
  numbers ? coverage(numbers) : labels ? label(labels) : "";

const numbersLine = (name: string, { numbers }: HiddenCells): string[] =>
  numbers ? [line(`  ${name}`, `${coverage(numbers)}   (${whole(numbers.cells)} numbers)`)] : [];

/** The columns of a table, hidden alone and among several. */
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
      `${whole(rows)} rows, ${draws} draws per hidden cell; share of true values within the ` +
        "50 % and 90 % intervals of the draws",
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

/**
 * Columns of one kind of cell as rows of a table; a row is marked if the completion is
 * miscalibrated.
 */
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
      ["within 50 % interval", "within 90 % interval"],
      [...(sum ? [[sum, all(several)[0]] as const] : []), ...found.filter(([one]) => one.numbers)],
      ({ numbers }) => (numbers ? [plusMinus(numbers.half), plusMinus(numbers.ninety)] : []),
    ),
    ...columnsTable(
      ["draws with the true label", "pairs of draws that agree", "difference"],
      found.filter(([one]) => one.labels),
      ({ labels }) =>
        labels ? [plusMinus(labels.truth), plusMinus(labels.agreement), plusMinus(labels.gap)] : [],
    ),
    paragraph(
      `Cells of ${whole(rows)} held-out rows were hidden, one column or group of columns at a ` +
        `time and several at once, and sampled ${draws} times given the rest of their row. If ` +
        "the model is right, 50 % of the true values lie within the 50 % intervals of their " +
        "draws and 90 % within the 90 % intervals, and a draw has the true label as often as " +
        "two draws agree.",
    ),
  );
}
