/** The messages between the view of densities and its workers. */
import type { Frame } from "../../../view/frame.ts";

/** Synthetic data sets. */
export const SETS = [
  { value: "two-moons", label: "Two moons" },
  { value: "rings", label: "Rings" },
] as const;
export type SetName = (typeof SETS)[number]["value"];

export const LOSSES = [
  { value: "ssm-vr", label: "SSM-VR", colour: "var(--blue)" },
  { value: "gssm", label: "GSSM", colour: "var(--vermilion)" },
  { value: "gssm-vr", label: "GSSM-VR", colour: "var(--green)" },
] as const;
export type LossName = (typeof LOSSES)[number]["value"];

export interface RunRequest {
  readonly set: SetName;
  readonly points: number;
  readonly seed: number;
  readonly loss: LossName;
}

/** Points per side of the lattices of shades and of arrows. */
export const SHADES = 96;
export const ARROWS = 17;

/** The density at a step: log p̃ over the frame, and its score at a lattice of points. */
export interface Field {
  readonly frame: Frame;
  readonly shades: Float32Array;
  readonly points: Float32Array;
  readonly arrows: Float32Array;
}

export interface Step {
  readonly step: number;
  /**
   * The loss on the validation points with its own slices, and exact score matching every fifth
   * step.
   */
  readonly loss: number;
  readonly exact?: number;
}

/** Variance and squared mean of the gradient at a step. */
export interface Noise {
  readonly step: number;
  readonly noise: number;
  readonly signal: number;
}

export type Update =
  | { readonly kind: "data"; readonly frame: Frame; readonly points: Float32Array }
  | { readonly kind: "steps"; readonly steps: readonly Step[]; readonly most: number }
  | { readonly kind: "field"; readonly field: Field }
  | { readonly kind: "noise"; readonly noise: Noise };

/** The evaluation of a fit on test points. */
export interface Evaluation {
  readonly steps: number;
  /** Mean of ½‖s‖² + tr ∇s. */
  readonly scoreMatching: number;
  /** Mean of log q, in nats and in the units of the data. */
  readonly likelihood: number;
  /** Why training ended early, if it did. */
  readonly failure?: string;
}
