/** Integers, with bounds that belong to them. */
import { integer as integerDomain } from "diffeo/domain";
import { bounds } from "./column-cells.ts";
import { recordedOf } from "./distribution.ts";
import type { ColumnKind } from "./kind.ts";

export const integer: ColumnKind = {
  name: "integer",
  counts: [0, 2],
  make: ([least, most]) => integerDomain(least === undefined ? {} : { least, most }),
  recognised: ({ numbers }) => {
    if (!numbers?.every(Number.isSafeInteger)) return undefined;
    const [low, high] = bounds(numbers);
    const { step, range } = recordedOf(numbers);
    const least = low >= 0 ? { least: 0 } : {};
    const seen = { ...(step !== undefined && step > 1 && { step }), ...(range && { range }) };
    return {
      domain: integerDomain({ ...least, ...seen }),
      reason: `integers from ${low} to ${high}${low < 0 ? ", some below 0" : ""}`,
    };
  },
  numbersOf: ({ spec }) => {
    if (spec?.kind !== "integer") return undefined;
    const { least, most } = spec;
    if (least === undefined) return most === undefined ? [] : undefined;
    return most === undefined ? undefined : [least, most];
  },
};

/** Integers from 0. */
export const count: ColumnKind = {
  name: "count",
  counts: [0],
  make: () => integerDomain({ least: 0 }),
  numbersOf: ({ spec }) =>
    spec?.kind === "integer" && spec.least === 0 && spec.most === undefined ? [] : undefined,
};
