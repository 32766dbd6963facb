/**
 * Free text: so many different texts that they are not categories. A model of a table learns
 * nothing from it, and leaves it out.
 */
import { quote } from "../../table/quote.ts";
import { disguiseOf } from "./disguise.ts";
import type { ColumnKind } from "./kind.ts";

export const text: ColumnKind = {
  name: "text",
  counts: [0],
  declared: () => ({ filler: { kind: "omitted" }, reason: "as specified" }),
  recognised: ({ cells }) => {
    const remedy = disguiseOf(cells);
    return {
      filler: { kind: "omitted" },
      reason:
        `${new Set(cells).size} different texts, such as ${quote(cells[0])}: left ` +
        `out${remedy === undefined ? "" : `; ${remedy}, and they are learned`}`,
    };
  },
};
