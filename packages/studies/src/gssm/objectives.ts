/** The losses that the theory and the sweep compare, by name and dimension. */
import { add, expand, expandDims, eye, mul, squaredNorm, type Tensor } from "diffeo/graph";
import {
  fourierSlices,
  gssm,
  gssmVr,
  networkSlices,
  normalisedGssm,
  normalisedGssmVr,
  type Objective,
  quadraticSlices,
  scoreMatching,
  ssm,
  ssmVr,
  withMonteCarlo,
} from "diffeo/matching";
import { DEGREES } from "./models.ts";

/** Quadratic slices with σ₂² times the paper's 1/√n, σ₁² = 2σ₂², and a Gaussian b. */
const goe = (n: number, times: number) =>
  quadraticSlices({
    varDiagonal: (2 * times) / Math.sqrt(n),
    varOffDiagonal: times / Math.sqrt(n),
    linear: "normal",
  });

/**
 * Score matching with the weight C(x) = (1 + ‖x‖²/ν)² I, without slices: the C of the theory for
 * the scale of a Student distribution. div C = 4(1 + ‖x‖²/ν)x/ν.
 */
const matched = (): Objective => ({
  name: "sm, (1 + r²/ν)²",
  draws: () => ({}),
  terms: (x: Tensor) => {
    const n = x.shape.at(-1) as number;
    const grown = expandDims(add(mul(squaredNorm(x), 1 / DEGREES), 1), -1);
    return {
      metric: { diagonal: mul(grown, grown) },
      drift: mul(mul(x, grown), 4 / DEGREES),
      slices: mul(expand(eye(n, x.dtype), [...x.shape, n]), expandDims(grown, -1)),
    };
  },
});

/** An objective for points of n coordinates. */
export const theoryObjectives = {
  sm: scoreMatching,
  ssm: () => ssm(),
  "ssm-vr": () => ssmVr(),
  gssm: (n) => gssm(goe(n, 1)),
  "gssm-vr, ¼": (n) => gssmVr(goe(n, 0.25)),
  "gssm-vr": (n) => gssmVr(goe(n, 1)),
  "gssm-vr, 4×": (n) => gssmVr(goe(n, 4)),
  "gssm-vr, diagonal A": (n) =>
    gssmVr(quadraticSlices({ varDiagonal: 2 / Math.sqrt(n), varOffDiagonal: 0 })),
  "gssm-normalised": (n) => normalisedGssm(goe(n, 1)),
  "gssm-normalised-vr": (n) => normalisedGssmVr(goe(n, 1)),
  fourier: () => gssm(fourierSlices(0.5)),
  "fourier-vr": () => gssmVr(fourierSlices(0.5)),
  "network-vr": () => gssmVr(withMonteCarlo(networkSlices(), 16)),
  "sm, (1 + r²/ν)²": matched,
} as const satisfies Readonly<Record<string, (n: number) => Objective>>;

export type TheoryObjective = keyof typeof theoryObjectives;

/** A fit of the sweep: an objective, and how long it waits. */
export interface SweepVariant {
  readonly objective: (n: number) => Objective;
  /** Steps without a better validation loss. Default the protocol's 200. */
  readonly patience?: number;
}

const quadratic = (n: number, diagonal: number, off: number, linear = 1): Objective =>
  gssmVr(
    quadraticSlices({
      varDiagonal: diagonal / Math.sqrt(n),
      varOffDiagonal: off / Math.sqrt(n),
      varLinear: linear,
    }),
  );

/** Each differs from the paper's GSSM-VR, σ₁² = 2/√n, σ₂² = 1/√n, σ₃² = 1, in one thing. */
export const sweep = {
  "ssm-vr": { objective: () => ssmVr() },
  "gssm-vr": { objective: (n) => quadratic(n, 2, 1) },
  "σ₁², σ₂² ÷ 16": { objective: (n) => quadratic(n, 2 / 16, 1 / 16) },
  "σ₁², σ₂² ÷ 4": { objective: (n) => quadratic(n, 0.5, 0.25) },
  "σ₁², σ₂² × 4": { objective: (n) => quadratic(n, 8, 4) },
  "σ₁² × 4": { objective: (n) => quadratic(n, 8, 1) },
  "σ₂² = 0": { objective: (n) => quadratic(n, 2, 0) },
  "σ₃² = 0": { objective: (n) => quadratic(n, 2, 1, 0) },
  "gssm-normalised-vr": {
    objective: () => normalisedGssmVr(quadraticSlices({ linear: "normal" })),
  },
  "fourier-vr, ½": { objective: () => gssmVr(fourierSlices(0.5)) },
  "fourier-vr, 2": { objective: () => gssmVr(fourierSlices(2)) },
  "network-vr": { objective: () => gssmVr(withMonteCarlo(networkSlices(), 16)) },
  "ssm-vr, patience 800": { objective: () => ssmVr(), patience: 800 },
  "gssm-vr, patience 800": { objective: (n) => quadratic(n, 2, 1), patience: 800 },
} as const satisfies Readonly<Record<string, SweepVariant>>;

export type SweepName = keyof typeof sweep;
