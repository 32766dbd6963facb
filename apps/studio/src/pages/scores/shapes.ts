/** The messages between the page and its worker. */
import type { Frame } from "../../view/frame.ts";
import type { Misread } from "./expression.ts";
import type { DensityName, Field, MapName, Typed } from "./names.ts";

export interface RunRequest {
  readonly density: DensityName;
  readonly map: MapName;
  readonly typed: Typed;
  /** The time, for a map that depends on it. */
  readonly t: number;
}

/** One of the two pictures: lattices over its frame, rows from below. */
export interface Panel {
  readonly frame: Frame;
  /** The log density, SHADES² numbers. */
  readonly shades: Float32Array;
  /** Points u₁ u₂ and the scores there, ARROWS² of each. */
  readonly points: Float32Array;
  readonly arrows: Float32Array;
  readonly grid: readonly Float32Array[];
}

export interface Scene {
  readonly kind: "scene";
  readonly x: Panel;
  readonly y: Panel;
  /**
   * The largest difference between the score in y and finite differences of log q, relative where
   * the score exceeds 1.
   */
  readonly error: number;
  /** The number of points compared. */
  readonly points: number;
}

/** The errors of typed expressions. */
export interface Unread {
  readonly kind: "unread";
  readonly fields: Partial<Record<Field, Misread>>;
}

/** Values at one point; arrows and `seen` are in coordinates of the picture. */
export interface Reading {
  readonly x: readonly number[];
  readonly y: readonly number[];
  readonly seen: readonly [number, number];
  /** Whether the point is on the visible side. */
  readonly front: boolean;
  readonly scoreX: readonly [number, number];
  readonly carried: readonly [number, number];
  readonly own: readonly [number, number];
  readonly scoreY: readonly [number, number];
  readonly logp: number;
  readonly logq: number;
  readonly error: number;
}

export const SHADES = 120;
export const ARROWS = 21;
