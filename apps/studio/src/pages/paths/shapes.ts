/** What the page of paths and its worker send each other. */
import type { Frame } from "../../view/frame.ts";

export const SPACES = [
  { value: "simplex", label: "Simplex" },
  { value: "box", label: "Box" },
  { value: "ball", label: "Ball" },
  { value: "halfLine", label: "Half-line" },
] as const;
export type SpaceName = (typeof SPACES)[number]["value"];

/** Numbers of steps: each path is on the grid of the last, and so on that of all. */
export const STEPS = [8, 16, 32, 64, 128, 256] as const;

export interface Ask {
  readonly space: SpaceName;
  readonly seed: number;
  readonly w: number;
  /** Which number of steps to begin with. */
  readonly first: number;
}

/** A window with what lies under the paths. */
export interface Ground {
  readonly frame: Frame;
  readonly shades: Float32Array;
  readonly grid: readonly Float32Array[];
}

/** The forward path, u₁ u₂ … as it is seen, at equal times from 0. */
export interface Outward {
  readonly x: Ground;
  readonly y: Ground;
  readonly inX: Float32Array;
  /** φ(X), and the process that Itô's lemma makes of it, stepped in y by Milstein. */
  readonly mapped: Float32Array;
  readonly inY: Float32Array;
  /** Of draws from the law itself, the share that is nearer to the boundary than `margin`. */
  readonly near: number;
  readonly margin: number;
}

/**
 * The reverse paths in so many steps that are stepped in x, from t = 1 at equal times, and the
 * points where all of them end.
 */
export interface Way {
  readonly steps: number;
  readonly dt: number;
  readonly inX: Float32Array;
  /** φ(Reverse(X)) */
  readonly mapped: Float32Array;
  readonly domain: Ends;
}

/** And those that are stepped in y. */
export interface Back extends Way {
  /** Reverse(φ(X)) by Milstein. */
  readonly inY: Float32Array;
  /** The mean distance of their ends, by Euler–Maruyama and by Milstein in y. */
  readonly euler: number;
  readonly milstein: number;
  readonly plain: Ends;
}

export interface Ends {
  readonly points: Float32Array;
  readonly exits: number;
  readonly near: number;
}

export const COUNT = 256;
/** Where reverse paths end. */
export const T_END = 0.02;

/** What comes, as it comes: of the steps that are looked at, the way in x before all else. */
export type Update =
  | { readonly kind: "outward"; readonly outward: Outward }
  | { readonly kind: "way"; readonly way: Way }
  | { readonly kind: "back"; readonly back: Back };
