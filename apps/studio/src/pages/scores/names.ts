/** Names of densities and maps for the page, which does not load the code that computes. */

export const DENSITIES = [
  { value: "mixture", label: "Mixture of three Gaussians" },
  { value: "gaussian", label: "Gaussian" },
  { value: "banana", label: "Banana" },
  { value: "own", label: "Type an expression" },
] as const;
export type DensityName = (typeof DENSITIES)[number]["value"];

export const MAPS = [
  { value: "additiveLogistic", label: "additiveLogistic, onto the simplex" },
  { value: "isometricLogRatio", label: "isometricLogRatio, onto the simplex" },
  { value: "stickBreaking", label: "stickBreaking, onto the simplex" },
  { value: "stickBreakingPlain", label: "stickBreaking without centring" },
  { value: "unitBall", label: "unitBall, onto the disc" },
  { value: "stereographic", label: "stereographic, onto the sphere" },
  { value: "sigmoidMap", label: "sigmoidMap, onto a box" },
  { value: "tanhMap", label: "tanhMap, onto a box" },
  { value: "expMap", label: "expMap, onto positive numbers" },
  { value: "softplusMap", label: "softplusMap, onto positive numbers" },
  { value: "ordered", label: "ordered, onto y₁ < y₂" },
  { value: "affineCoupling", label: "affineCoupling" },
  { value: "chain", label: "chain: two couplings, then unitBall" },
  { value: "blocks", label: "blocks: expMap on x₁, tanhMap on x₂" },
  { value: "whereMask", label: "whereMask: sigmoidMap on x₁, softplusMap on x₂" },
  { value: "rationalQuadraticSpline", label: "rationalQuadraticSpline" },
  { value: "timeAffine", label: "timeAffine, time-dependent" },
  { value: "affineMatrix", label: "affineMatrix" },
  { value: "affine", label: "affine" },
  { value: "permutation", label: "permutation" },
  { value: "identity", label: "identity" },
  { value: "invertExpMap", label: "inverse of expMap, from positive numbers" },
  { value: "invertAdditiveLogistic", label: "inverse of additiveLogistic, from the simplex" },
  { value: "own", label: "Type an expression" },
] as const;
export type MapName = (typeof MAPS)[number]["value"];

/** Typed expressions: log p, φ, and φ⁻¹ unless it is computed. */
export interface Typed {
  readonly logp: string;
  readonly y1: string;
  readonly y2: string;
  readonly x1: string;
  readonly x2: string;
}
export type Field = keyof Typed;
