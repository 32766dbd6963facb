/** The names of laws and maps, as the page shows them: the page itself computes nothing. */

export const LAWS = [
  { value: "mixture", label: "Mixture of three Gaussians" },
  { value: "gaussian", label: "Gaussian" },
  { value: "banana", label: "Banana" },
  { value: "own", label: "Your own expression" },
] as const;
export type LawName = (typeof LAWS)[number]["value"];

export const MAPS = [
  { value: "additiveLogistic", label: "additiveLogistic, onto the simplex" },
  { value: "isometricLogRatio", label: "isometricLogRatio, onto the simplex" },
  { value: "stickBreaking", label: "stickBreaking, onto the simplex" },
  { value: "stickBreakingPlain", label: "stickBreaking, not centred" },
  { value: "unitBall", label: "unitBall, onto the disc" },
  { value: "stereographic", label: "stereographic, onto the sphere" },
  { value: "sigmoidMap", label: "sigmoidMap, onto a box" },
  { value: "tanhMap", label: "tanhMap, onto a box" },
  { value: "expMap", label: "expMap, onto positive numbers" },
  { value: "softplusMap", label: "softplusMap, onto positive numbers" },
  { value: "ordered", label: "ordered, onto y₁ < y₂" },
  { value: "affineCoupling", label: "affineCoupling" },
  { value: "chain", label: "chain of two couplings and unitBall" },
  { value: "blocks", label: "blocks: expMap beside tanhMap" },
  { value: "whereMask", label: "whereMask: sigmoidMap or softplusMap" },
  { value: "rationalQuadraticSpline", label: "rationalQuadraticSpline" },
  { value: "timeAffine", label: "timeAffine, which moves with time" },
  { value: "affineMatrix", label: "affineMatrix" },
  { value: "affine", label: "affine" },
  { value: "permutation", label: "permutation" },
  { value: "identity", label: "identity" },
  { value: "invertExpMap", label: "invert of expMap, from positive numbers" },
  { value: "invertAdditiveLogistic", label: "invert of additiveLogistic, from the simplex" },
  { value: "own", label: "Your own expression" },
] as const;
export type MapName = (typeof MAPS)[number]["value"];

/** What is typed: log p, φ and, unless it is to be found, φ⁻¹. */
export interface Typed {
  readonly logp: string;
  readonly y1: string;
  readonly y2: string;
  readonly x1: string;
  readonly x2: string;
}
export type Field = keyof Typed;
