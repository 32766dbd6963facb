/**
 * The library's maps of the plane, and one onto the sphere, by name, each with a frame for its
 * image.
 */
import {
  additiveLogistic,
  affine,
  affineCoupling,
  affineMatrix,
  type Bijector,
  blocks,
  chain,
  expMap,
  identity,
  invert,
  isometricLogRatio,
  ordered,
  permutation,
  rationalQuadraticSpline,
  sigmoidMap,
  softplusMap,
  stereographic,
  stickBreaking,
  tanhMap,
  timeAffine,
  unitBall,
  whereMask,
} from "diffeo/bijector";
import {
  add,
  cos,
  div,
  exp,
  expandDims,
  mul,
  sin,
  sqrt,
  squaredNorm,
  type Tensor,
  tanh,
} from "diffeo/graph";
import { around, boxOutline, circleOutline, type Frame } from "../../view/frame.ts";
import type { MapName } from "./names.ts";

export interface Space {
  readonly frame: Frame;
  /** The point at u of the picture, and whether a point is on the visible side. Absent: y is u. */
  readonly lift?: (u: Float64Array) => Float64Array;
  readonly front?: (y: ArrayLike<number>, i: number) => boolean;
  /** How many coordinates y has; 2 if absent. */
  readonly dimension?: number;
  /** A retraction onto the space, for finite differences of a function on it. */
  readonly retract?: (y: Tensor) => Tensor;
}

export interface PlaneMap {
  readonly phi: Bijector;
  readonly image: Space;
  /** A map from R² onto the domain of φ if that is smaller; it pushes p onto the domain. */
  readonly from?: Bijector;
  readonly domain?: Space;
}

const window = (
  low: readonly [number, number],
  size: number,
  outline?: readonly number[],
): Space => ({
  frame: { low, size, outline },
});
export const plane = window([-3, -3], 6);
const simplex: Space = { frame: around([0, 0, 1, 0, 0, 1]) };
const positive = (most: number): Space =>
  window([-0.04 * most, -0.04 * most], 1.04 * most, boxOutline(0, 9 * most, 0, 9 * most));
const box = (a: number, b: number): Space => ({ frame: around(boxOutline(a, b, a, b)) });

/** The sphere from the front, u = (y₁, y₃). At the top is the pole, which is not in the image. */
const sphere: Space = {
  frame: around(circleOutline(1)),
  dimension: 3,
  lift: (u) => {
    const y = new Float64Array((u.length / 2) * 3);
    for (let i = 0; i < u.length / 2; i++) {
      const [a, b] = [u[2 * i], u[2 * i + 1]];
      y.set([a, -Math.sqrt(1 - a * a - b * b), b], 3 * i);
    }
    return y;
  },
  front: (y, i) => y[3 * i + 1] < 0,
  retract: (y) => div(y, expandDims(sqrt(squaredNorm(y)), -1)),
};

const coupling = (flip: boolean): Bijector =>
  affineCoupling({
    keep: 1,
    flip,
    conditioner: (kept) => ({
      logScale: mul(tanh(kept), 0.6),
      shift: mul(sin(mul(kept, 1.5)), 0.9),
    }),
  });
const spline = rationalQuadraticSpline({
  widths: [
    [0.3, -0.5, 0.8, 0, -0.2],
    [-0.4, 0.6, 0.1, 0.9, -0.7],
  ],
  heights: [
    [-0.2, 0.7, -0.6, 0.4, 0.1],
    [0.5, -0.3, 0.2, -0.8, 0.6],
  ],
  slopes: [
    [0.4, -0.6, 1.1, -0.3],
    [-0.9, 0.5, 0.2, 0.7],
  ],
});

/** All maps but the typed one. */
export const maps: Readonly<Record<Exclude<MapName, "own">, () => PlaneMap>> = {
  additiveLogistic: () => ({ phi: additiveLogistic(), image: simplex }),
  isometricLogRatio: () => ({ phi: isometricLogRatio(), image: simplex }),
  stickBreaking: () => ({ phi: stickBreaking(), image: simplex }),
  stickBreakingPlain: () => ({ phi: stickBreaking({ centred: false }), image: simplex }),
  unitBall: () => ({ phi: unitBall(), image: { frame: around(circleOutline(1)) } }),
  stereographic: () => ({ phi: stereographic(), image: sphere }),
  sigmoidMap: () => ({ phi: sigmoidMap(), image: box(0, 1) }),
  tanhMap: () => ({ phi: tanhMap(), image: box(-1, 1) }),
  expMap: () => ({ phi: expMap(), image: positive(5) }),
  softplusMap: () => ({ phi: softplusMap(), image: positive(4) }),
  ordered: () => ({ phi: ordered(), image: window([-3, -3], 6, [-30, -30, 30, 30, -30, 30]) }),
  affineCoupling: () => ({ phi: coupling(false), image: window([-3.6, -3.6], 7.2) }),
  chain: () => ({
    phi: chain(coupling(false), coupling(true), unitBall()),
    image: { frame: around(circleOutline(1)) },
  }),
  blocks: () => ({
    phi: blocks([
      { map: expMap(), size: 1 },
      { map: tanhMap(), size: 1 },
    ]),
    image: window([-0.2, -1.8], 3.6, boxOutline(0, 30, -1, 1)),
  }),
  whereMask: () => ({
    phi: whereMask([1, 0], sigmoidMap(-1, 1), softplusMap()),
    image: window([-1.6, -0.15], 3.2, boxOutline(-1, 1, 0, 30)),
  }),
  rationalQuadraticSpline: () => ({ phi: spline, image: window([-3, -3], 6) }),
  timeAffine: () => ({
    phi: timeAffine({ scale: (t) => exp(mul(t, -0.7)), shift: (t) => add(cos(mul(t, 3)), -1) }),
    image: window([-3.6, -3.6], 7.2),
  }),
  affineMatrix: () => ({
    phi: affineMatrix(
      [
        [1.1, -0.5],
        [0.6, 0.8],
      ],
      [0.3, -0.2],
    ),
    image: window([-3.6, -3.6], 7.2),
  }),
  affine: () => ({
    phi: affine({ scale: [1.4, -0.6], shift: [0.3, 0.2] }),
    image: window([-3.6, -3.6], 7.2),
  }),
  permutation: () => ({ phi: permutation([1, 0]), image: plane }),
  identity: () => ({ phi: identity(), image: plane }),
  invertExpMap: () => ({
    phi: invert(expMap()),
    image: plane,
    from: expMap(),
    domain: positive(5),
  }),
  invertAdditiveLogistic: () => ({
    phi: invert(additiveLogistic()),
    image: plane,
    from: additiveLogistic(),
    domain: simplex,
  }),
};
