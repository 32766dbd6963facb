/**
 * Four constrained spaces: a map onto each, a distribution in x whose image comes close to the
 * boundary, and the coordinates of its picture.
 */
import { additiveLogistic, type Bijector, expMap, sigmoidMap, unitBall } from "diffeo/bijector";
import { type Diffusible, gaussian, mixture } from "diffeo/distribution";
import { around, boxOutline, circleOutline, type Frame } from "../../view/frame.ts";
import type { SpaceName } from "./shapes.ts";

export interface PathSpace {
  readonly phi: Bijector;
  readonly dimension: number;
  /** Of the data, in x. */
  readonly distribution: Diffusible;
  readonly frameX: Frame;
  readonly frameY: Frame;
  /**
   * Coordinates in the picture of point i of y at time t, and of x; `lift` is the inverse for y.
   */
  readonly see: (y: ArrayLike<number>, i: number, t: number) => [number, number];
  readonly seeX: (x: ArrayLike<number>, i: number, t: number) => [number, number];
  readonly lift: (u: number, v: number) => number[];
  /** The distance of point i from the boundary. */
  readonly margin: (y: ArrayLike<number>, i: number) => number;
  /** The distance that counts as near the boundary. */
  readonly near: number;
}

const three = mixture([
  { weight: 1.2, distribution: gaussian({ mean: [2.1, -0.3], covariance: [0.5, 0.35] }) },
  { distribution: gaussian({ mean: [-1.6, 1.7], covariance: 0.4 }) },
  {
    distribution: gaussian({
      mean: [-0.9, -1.8],
      covariance: [
        [0.7, 0.2],
        [0.2, 0.35],
      ],
    }),
  },
]);
const two = mixture([
  { distribution: gaussian({ mean: [0.7], covariance: [0.08] }) },
  { distribution: gaussian({ mean: [-2], covariance: [0.6] }) },
]);

const HEIGHT = Math.sqrt(3) / 2;
const flat = (a: ArrayLike<number>, i: number): [number, number] => [a[2 * i], a[2 * i + 1]];
const wide: Frame = { low: [-4.5, -4.5], size: 9 };
const inPlane = {
  dimension: 2,
  distribution: three,
  frameX: wide,
  seeX: flat,
  see: flat,
  lift: (u: number, v: number) => [u, v],
};

/** The pictures of the half-line have time from left to right. */
const LINE_X: Frame = { low: [0, -5], size: 8 };
const LINE_Y: Frame = { low: [0, -0.2], size: 4.6, outline: [-1, 0, 9, 0, 9, 9, -1, 9] };
const across =
  (frame: Frame) =>
  (a: ArrayLike<number>, i: number, t: number): [number, number] => [frame.size * t, a[i]];

export const spaces: Readonly<Record<SpaceName, () => PathSpace>> = {
  simplex: () => ({
    ...inPlane,
    phi: additiveLogistic(),
    frameY: around([0, 0, 1, 0, 0.5, HEIGHT]),
    // Corners: y₁ = 1 on the left, y₂ = 1 on the right, 1 − y₁ − y₂ = 1 at the top.
    see: (y, i) => {
      const [a, b] = flat(y, i);
      return [b + (1 - a - b) / 2, HEIGHT * (1 - a - b)];
    },
    lift: (u, v) => [1 - u - v / (2 * HEIGHT), u - v / (2 * HEIGHT)],
    margin: (y, i) => Math.min(y[2 * i], y[2 * i + 1], 1 - y[2 * i] - y[2 * i + 1]),
    near: 0.01,
  }),
  box: () => ({
    ...inPlane,
    phi: sigmoidMap(),
    frameY: around(boxOutline(0, 1, 0, 1)),
    margin: (y, i) => Math.min(...flat(y, i).map((v) => Math.min(v, 1 - v))),
    near: 0.03,
  }),
  ball: () => ({
    ...inPlane,
    phi: unitBall(),
    frameY: around(circleOutline(1)),
    margin: (y, i) => 1 - Math.hypot(...flat(y, i)),
    near: 0.04,
  }),
  halfLine: () => ({
    phi: expMap(),
    dimension: 1,
    distribution: two,
    frameX: LINE_X,
    frameY: LINE_Y,
    seeX: across(LINE_X),
    see: across(LINE_Y),
    lift: (_, v) => [v],
    margin: (y, i) => y[i],
    near: 0.04,
  }),
};
