/** One value in all rows: there is nothing to learn, and the value is written back. */
import { quote } from "../../table/quote.ts";
import type { ColumnKind } from "./kind.ts";

export const constant: ColumnKind = {
  name: "constant",
  recognised: ({ cells, rows }) => {
    if (cells.length === 0)
      return { filler: { kind: "constant", value: "" }, reason: "empty in all rows" };
    if (rows < 2 || cells.some((cell) => cell !== cells[0])) return undefined;
    return {
      filler: { kind: "constant", value: cells[0] },
      reason: `${quote(cells[0])} in all rows`,
    };
  },
};
