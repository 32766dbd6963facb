/** What the view of densities and its workers send each other. */
import type { Frame } from "../../../view/frame.ts";

/** Tables of two columns that are made on the spot. */
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

export interface Ask {
  readonly set: SetName;
  readonly points: number;
  readonly seed: number;
  readonly loss: LossName;
}

/** Points a side of the shades, and of the arrows. */
export const SHADES = 96;
export const ARROWS = 17;

/** A density as it is at a step: log p̃ over the window, and its score at a lattice of points. */
export interface Field {
  readonly frame: Frame;
  readonly shades: Float32Array;
  readonly points: Float32Array;
  readonly arrows: Float32Array;
}

export interface Step {
  readonly step: number;
  /**
   * The loss on the validation points, by its own slices; and exact score matching there, every
   * fifth step.
   */
  readonly loss: number;
  readonly exact?: number;
}

/** Of the gradient at a step: its noise beside its size. */
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

/** What the fit is worth on points it has not seen. */
export interface Evaluation {
  readonly steps: number;
  /** ½‖s‖² + tr ∇s, the mean. */
  readonly scoreMatching: number;
  /** log q, the mean, in nats and the table's own units. */
  readonly likelihood: number;
  /** Why training ended early, if it did. */
  readonly failure?: string;
}
