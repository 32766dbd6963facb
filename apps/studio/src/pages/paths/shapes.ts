/** The messages between the page of paths and its worker. */
import type { Frame } from "../../view/frame.ts";

export const SPACES = [
  { value: "simplex", label: "Simplex" },
  { value: "box", label: "Box" },
  { value: "ball", label: "Ball" },
  { value: "halfLine", label: "Half-line" },
] as const;
export type SpaceName = (typeof SPACES)[number]["value"];

/** Numbers of steps. Coarser time grids are parts of the finest one. */
export const STEPS = [8, 16, 32, 64, 128, 256] as const;

export interface RunRequest {
  readonly space: SpaceName;
  readonly seed: number;
  readonly w: number;
  /** The number of steps to compute first. */
  readonly first: number;
}

/** The background of a picture: density and grid. */
export interface Ground {
  readonly frame: Frame;
  readonly shades: Float32Array;
  readonly grid: readonly Float32Array[];
}

/** The forward path in coordinates of the picture, u₁ u₂ …, at equal times from 0. */
export interface Outward {
  readonly x: Ground;
  readonly y: Ground;
  readonly inX: Float32Array;
  /** φ(X), and the process that Itô's lemma gives, stepped in y by Milstein. */
  readonly mapped: Float32Array;
  readonly inY: Float32Array;
  /** The share of the data that is nearer to the boundary than `margin`. */
  readonly near: number;
  readonly margin: number;
}

/** The reverse path stepped in x, from t = 1 at equal times, and the ends of all paths. */
export interface Way {
  readonly steps: number;
  readonly dt: number;
  readonly inX: Float32Array;
  /** φ(Reverse(X)) */
  readonly mapped: Float32Array;
  readonly domain: Ends;
}

/** Adds the reverse paths stepped in y. */
export interface Back extends Way {
  /** Reverse(φ(X)) by Milstein. */
  readonly inY: Float32Array;
  /** Mean distance between the ends in x and in y, for Euler–Maruyama and for Milstein in y. */
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
/** The time at which reverse paths end. */
export const T_END = 0.02;

/** Results in the order in which they come; `way` only for the number of steps computed first. */
export type Update =
  | { readonly kind: "outward"; readonly outward: Outward }
  | { readonly kind: "way"; readonly way: Way }
  | { readonly kind: "back"; readonly back: Back };
