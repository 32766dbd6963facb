/** Φ and Φ⁻¹ of numbers. */
import { erfcValue } from "../graph/erf.ts";
import { normalQuantileValue } from "../graph/normal.ts";

/** Φ(z) = ½ erfc(−z/√2), accurate also in the lower tail. */
export const normalShare = (z: number): number => erfcValue(-z * Math.SQRT1_2) / 2;

/**
 * Φ⁻¹ of a share, given together with 1 minus the share, because the smaller of the two has all
 * digits.
 */
export const normalPoint = (below: number, above: number): number =>
  below < above ? normalQuantileValue(below) : -normalQuantileValue(above);
