/** Angles, or other numbers that come round after a period. */
import { angle as angleDomain } from "diffeo/domain";
import type { ColumnKind } from "./kind.ts";
import { placedAngle } from "./poles.ts";

export const angle: ColumnKind = {
  name: "angle",
  counts: [0, 1],
  make: ([period]) => angleDomain(period === undefined ? {} : { period }),
  declared: ({ numbers = [] }, [period]) => placedAngle(numbers, period),
  numbersOf: ({ spec }) => {
    if (spec?.kind !== "angle") return undefined;
    return spec.period === undefined ? [] : [spec.period];
  },
};
