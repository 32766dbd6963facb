/** Numbers strictly between two bounds. */
import { between as betweenDomain } from "diffeo/domain";
import { rangeText } from "./column-cells.ts";
import { recordedOf } from "./distribution.ts";
import type { ColumnKind } from "./kind.ts";

export const between: ColumnKind = {
  name: "between",
  counts: [2],
  make: ([low, high]) => betweenDomain(low, high),
  recognised: ({ numbers }) =>
    numbers?.every((v) => v > 0 && v < 1)
      ? {
          domain: betweenDomain(0, 1, recordedOf(numbers)),
          reason: `all between 0 and 1, ${rangeText(numbers)}`,
        }
      : undefined,
  numbersOf: ({ spec }) => (spec?.kind === "between" ? [spec.low, spec.high] : undefined),
};
