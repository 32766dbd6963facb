/** Φ and Φ⁻¹ of numbers. */
import { erfcValue } from "../graph/erf.ts";
import { normalQuantileValue } from "../graph/normal.ts";

/** Φ(z) = ½ erfc(−z/√2), to all digits in the lower tail too. */
export const normalShare = (z: number): number => erfcValue(-z * Math.SQRT1_2) / 2;

/** Φ⁻¹ of a share, given with what it leaves of 1: the smaller of the two has the digits. */
export const normalPoint = (below: number, above: number): number =>
  below < above ? normalQuantileValue(below) : -normalQuantileValue(above);
