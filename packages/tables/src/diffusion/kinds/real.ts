/** Any numbers. */
import { real as realDomain } from "diffeo/domain";
import { rangeText } from "./column-cells.ts";
import type { ColumnKind } from "./kind.ts";

export const real: ColumnKind = {
  name: "real",
  counts: [0],
  make: () => realDomain(),
  recognised: ({ numbers }) =>
    numbers && { domain: realDomain(), reason: `numbers ${rangeText(numbers)}` },
  numbersOf: ({ spec }) => (spec?.kind === "real" ? [] : undefined),
};
