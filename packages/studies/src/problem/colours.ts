/**
 * A small grid: 2 × 2 sites of three classes in which neighbours differ, 18 boards of 81, all
 * equally likely. A site is a softened one-hot vector of the simplex, as a square of a chess board
 * is, so x has atoms and p_t is a mixture of 18 Gaussians.
 */
import { affine, type Bijector, blocks, chain } from "diffeo/bijector";
import { type Diffusible, gaussian, mixture } from "diffeo/distribution";
import { constant, reference } from "diffeo/graph";
import { type StudyMap, studyMaps } from "./maps.ts";

export const SITES = 4;
const CLASSES = 3;
const SOFT = 0.01;
/** Pairs of sites that touch, sites in reading order. */
const EDGES = [
  [0, 1],
  [1, 3],
  [3, 2],
  [2, 0],
] as const;

/** Whether all neighbours differ. */
export const isLegal = (board: readonly number[]): boolean =>
  EDGES.every(([a, b]) => board[a] !== board[b]);

export const boards: readonly (readonly number[])[] = Array.from(
  { length: CLASSES ** SITES },
  (_, i) => Array.from({ length: SITES }, (_s, k) => Math.floor(i / CLASSES ** k) % CLASSES),
).filter(isLegal);

/** A site's class as a point of the simplex without its last coordinate. */
const softened = (c: number): readonly number[] =>
  Array.from({ length: CLASSES - 1 }, (_, i) => (i === c ? 1 - (CLASSES - 1) * SOFT : SOFT));

/** Classes of a point y: the greatest coordinate of each site. */
export const classesOf = (y: ArrayLike<number>): number[] =>
  Array.from({ length: SITES }, (_, k) => {
    const [a, b] = [y[2 * k], y[2 * k + 1]];
    const last = 1 - a - b;
    return a >= b && a >= last ? 0 : b >= last ? 1 : 2;
  });

export interface Colours {
  readonly phi: Bijector;
  readonly law: Diffusible;
  /** The point of each class in x, the same for all sites. */
  readonly codes: readonly (readonly number[])[];
}

/** The problem through a map of a simplex, with coordinates of mean 0 and variance 1. */
export function colours(name: StudyMap): Colours {
  const psi = studyMaps[name]();
  const points = Array.from({ length: CLASSES }, (_, c) => softened(c));
  const [raw] = reference([psi.inverse(constant(points, "float64"))], new Map());
  const rawOf = (c: number): number[] => Array.from(raw as Float64Array).slice(2 * c, 2 * c + 2);
  const moments = [0, 1].map((i) => {
    const values = Array.from({ length: CLASSES }, (_, c) => rawOf(c)[i]);
    const mean = values.reduce((a, b) => a + b, 0) / CLASSES;
    return { mean, sd: Math.sqrt(values.reduce((s, v) => s + (v - mean) ** 2, 0) / CLASSES) };
  });
  const code = (c: number): number[] =>
    rawOf(c).map((v, i) => (v - moments[i].mean) / moments[i].sd);
  const repeat = (of: "mean" | "sd"): number[] =>
    Array.from({ length: SITES }, () => moments.map((m) => m[of])).flat();
  return {
    phi: chain(
      affine({ scale: repeat("sd"), shift: repeat("mean") }),
      blocks(Array.from({ length: SITES }, () => ({ map: studyMaps[name](), size: 2 }))),
    ),
    law: mixture(
      boards.map((board) => ({
        distribution: gaussian({ mean: board.flatMap(code), covariance: 1e-6 }),
      })),
    ),
    codes: Array.from({ length: CLASSES }, (_, c) => code(c)),
  };
}
