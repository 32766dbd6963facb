/**
 * Identifiers: as many values as rows, in one pattern. They name rows and say nothing of them, so
 * new rows get new identifiers of the same pattern:
 *
 *   1, 2, 3 or P-0001, P-0002      a number between fixed texts, counted on
 *   3f-0a, 91-c7                   characters of a kind (A, a, 0 or f) at each place, sampled
 */
import { bounds } from "./column-cells.ts";
import type { ColumnKind, Filler } from "./kind.ts";

/** Fewer values may differ, and numbers be neighbours, by chance. */
const FEWEST = 20;

const numbered = /^(.*?)(\d{1,15})(\D*)$/;

/** Texts that are a number between texts that all share. */
function numberedForm(cells: readonly string[]): Filler | undefined {
  const found = cells.map((cell) => numbered.exec(cell));
  const [first] = found;
  if (!first || found.some((m) => !m || m[1] !== first[1] || m[3] !== first[3])) return undefined;
  const digits = found.map((m) => (m as RegExpExecArray)[2]);
  const isPadded = digits.some((text) => text.length > 1 && text.startsWith("0"));
  const width = isPadded ? digits[0].length : 0;
  if (isPadded && digits.some((text) => text.length !== width)) return undefined;
  const next = digits.reduce((most, text) => Math.max(most, Number(text)), 0) + 1;
  return { kind: "numbered", before: first[1], next, width, after: first[3] };
}

/** Characters of each place, as the least of these classes that holds them, or as they are. */
const classes = [
  ["0", /^[0-9]$/],
  ["f", /^[0-9a-f]$/],
  ["F", /^[0-9A-F]$/],
  ["A", /^[A-Z]$/],
  ["a", /^[a-z]$/],
  ["X", /^[0-9A-Z]$/],
  ["x", /^[0-9a-z]$/],
] as const;

/** Codes of one length, of which each place has characters of one class. */
function codedForm(cells: readonly string[]): Filler | undefined {
  const [{ length }] = cells;
  if (length > 64 || cells.some((cell) => cell.length !== length)) return undefined;
  const pattern: string[] = [];
  for (let at = 0; at < length; at++) {
    const seen = new Set(cells.map((cell) => cell[at]));
    const own = classes.find(([, test]) => [...seen].every((character) => test.test(character)));
    if (seen.size === 1) pattern.push(`=${cells[0][at]}`);
    else if (own) pattern.push(own[0]);
    else return undefined;
  }
  // A code has digits: words of one length are not codes.
  return pattern.some((place) => "0fFXx".includes(place)) ? { kind: "coded", pattern } : undefined;
}

export const identifier: ColumnKind = {
  name: "identifier",
  counts: [0],
  declared: ({ cells }) => ({
    filler: numberedForm(cells) ?? codedForm(cells) ?? { kind: "omitted" },
    reason: "as specified",
  }),
  recognised: ({ cells, numbers, rows }) => {
    if (cells.length < FEWEST || cells.length < rows || new Set(cells).size < cells.length)
      return undefined;
    if (numbers) {
      const [low, high] = bounds(numbers);
      const isCounted = numbers.every(Number.isSafeInteger) && high - low + 1 === numbers.length;
      const filler = isCounted ? numberedForm(cells) : undefined;
      return (
        filler && {
          filler,
          reason: `the numbers ${low} to ${high}, each once; new rows are counted on`,
        }
      );
    }
    const filler = numberedForm(cells) ?? codedForm(cells);
    return (
      filler && {
        filler,
        reason: `each value once, such as ${JSON.stringify(cells[0])}; new rows get new ones`,
      }
    );
  },
};
