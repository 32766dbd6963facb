/** Numbers above a bound, or below one. */
import { positive as positiveDomain } from "diffeo/domain";
import { rangeText } from "./column-cells.ts";
import { recordedOf } from "./distribution.ts";
import type { ColumnKind } from "./kind.ts";

export const positive: ColumnKind = {
  name: "positive",
  counts: [0],
  make: () => positiveDomain(),
  recognised: ({ numbers }) =>
    numbers?.every((v) => v > 0)
      ? {
          domain: positiveDomain(recordedOf(numbers)),
          reason: `all above 0, ${rangeText(numbers)}`,
        }
      : undefined,
  numbersOf: ({ spec }) =>
    spec?.kind === "positive" && spec.above === undefined && spec.below === undefined
      ? []
      : undefined,
};

export const above: ColumnKind = {
  name: "above",
  counts: [1],
  make: ([bound]) => positiveDomain({ above: bound }),
  numbersOf: ({ spec }) =>
    spec?.kind === "positive" && spec.above !== undefined ? [spec.above] : undefined,
};

export const below: ColumnKind = {
  name: "below",
  counts: [1],
  make: ([bound]) => positiveDomain({ below: bound }),
  numbersOf: ({ spec }) =>
    spec?.kind === "positive" && spec.below !== undefined ? [spec.below] : undefined,
};
