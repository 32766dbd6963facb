/** What the page and its worker send each other. */
import type { Frame } from "../../view/frame.ts";
import type { Misread } from "./expression.ts";
import type { Field, LawName, MapName, Typed } from "./names.ts";

export interface Ask {
  readonly law: LawName;
  readonly map: MapName;
  readonly typed: Typed;
  /** The time, for a map that moves with it. */
  readonly t: number;
}

/** One of the two panels: lattices over its window, rows from below. */
export interface Panel {
  readonly frame: Frame;
  /** log density, SHADES² numbers. */
  readonly shades: Float32Array;
  /** u₁ u₂ and the score there, ARROWS² of each. */
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
  /** At how many points. */
  readonly points: number;
}

/** What could not be read of what was typed. */
export interface Unread {
  readonly kind: "unread";
  readonly fields: Partial<Record<Field, Misread>>;
}

/** Everything at one point; arrows and places as they are seen. */
export interface Reading {
  readonly x: readonly number[];
  readonly y: readonly number[];
  readonly seen: readonly [number, number];
  /** Whether the point is on the side of y that is seen. */
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
