/** Any numbers. */
import { real as realDomain } from "diffeo/domain";
import { rangeText } from "./column-cells.ts";
import { recordedOf } from "./distribution.ts";
import type { ColumnKind } from "./kind.ts";

export const real: ColumnKind = {
  name: "real",
  counts: [0],
  make: () => realDomain(),
  recognised: ({ numbers }) =>
    numbers && {
      domain: realDomain(1, recordedOf(numbers)),
      reason: `numbers ${rangeText(numbers)}`,
    },
  numbersOf: ({ spec }) => (spec?.kind === "real" ? [] : undefined),
};
