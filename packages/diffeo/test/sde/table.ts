/**
 * The SDEs over which the tests run: those of the library, and general ones whose diffusion depends
 * on x.
 */
import { batchOf, eventOf, flattenEvent } from "../../src/bijector/event.ts";
import { alignToEvent, sumEvent } from "../../src/bijector/index.ts";
import {
  add,
  cos,
  exp,
  expandDims,
  eye,
  input,
  mul,
  reference,
  reshape,
  type Shape,
  sin,
  sizeOf,
  square,
  type Tensor,
  take,
} from "../../src/graph/index.ts";
import { key, normal } from "../../src/random/index.ts";
import { type GaussianSde, type Sde, type SdeSpec, sdeOf, sdes } from "../../src/sde/index.ts";

/** G = g(x, t) I */
const scalarSde = (eventRank = 1): Sde => ({
  name: "scalar g(x)",
  eventRank,
  horizon: 1,
  drift: (x, t) => mul(sin(x), alignToEvent(cos(t), eventRank)),
  diffusion: (x, t) => ({
    kind: "scalar",
    value: mul(exp(mul(sumEvent(square(x), eventRank), -0.05)), add(t, 0.7)),
  }),
});

/** Noise of each coordinate's own size, which depends on it and on the coordinate before it. */
const diagonalSde = (eventRank = 1): Sde => ({
  name: "diagonal G(x)",
  eventRank,
  horizon: 1,
  drift: (x) => mul(x, -0.4),
  diffusion: (x, t) => {
    const flat = flattenEvent(x, eventRank);
    const n = flat.shape.at(-1) as number;
    const before = reshape(
      take(
        flat,
        [...Array(n).keys()].map((i) => (i + n - 1) % n),
        -1,
      ),
      x.shape,
    );
    return {
      kind: "diagonal",
      value: add(mul(sin(add(before, x)), 0.4), alignToEvent(add(t, 1), eventRank)),
    };
  },
});

/** Every entry of an n × (n + 1) matrix a function of x. */
const matrixSde = (eventRank = 1): Sde => ({
  name: "full G(x)",
  eventRank,
  horizon: 1,
  drift: (x, t) => mul(cos(x), alignToEvent(t, eventRank)),
  diffusion: (x, t) => {
    const flat = flattenEvent(x, eventRank);
    const n = flat.shape.at(-1) as number;
    const wide = take(
      flat,
      [...Array(n + 1).keys()].map((i) => i % n),
      -1,
    );
    const rank1 = mul(expandDims(sin(flat), -1), expandDims(cos(mul(wide, 0.5)), -2));
    const shifted = take(eye(n + 1, x.dtype), [...Array(n).keys()], 0);
    return {
      kind: "matrix",
      value: add(mul(rank1, 0.3), mul(shifted, alignToEvent(add(t, 0.5), 2))),
    };
  },
});

/** Those of the library by name, with the options they have by default. */
export const gaussianSdes = Object.fromEntries(
  Object.keys(sdes).map((kind) => [kind, (eventRank = 1) => sdeOf({ kind } as SdeSpec, eventRank)]),
) as Record<keyof typeof sdes, (eventRank?: number) => GaussianSde>;

/** Every SDE, for events of the given rank. */
export const table: readonly ((eventRank?: number) => Sde)[] = [
  ...Object.values(gaussianSdes),
  scalarSde,
  diagonalSde,
  matrixSde,
];

/** SDEs whose diffusion depends on x. */
export const stateDependent = [scalarSde, diagonalSde, matrixSde] as const;

/** A standard normal array of the given shape. */
export const draws = (seed: string, shape: Shape): Float64Array =>
  normal(key(seed), shape, { dtype: "float64" }).data;

/** A function of tensors as one of numbers, in the float64 reference. */
export function at(
  f: (...args: Tensor[]) => Tensor,
  ...args: readonly (readonly [Shape, ArrayLike<number>])[]
) {
  const inputs = args.map(([shape], i) => input(`x${i}`, shape, "float64"));
  const [value] = reference(
    [f(...inputs)],
    new Map(inputs.map((t, i) => [t, Float64Array.from(args[i][1])])),
  );
  return value;
}

/** max |a − b| / max |b| */
export function relativeError(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [difference, size] = [0, 0];
  for (let i = 0; i < b.length; i++) {
    difference = Math.max(difference, Math.abs(a[i] - b[i]));
    size = Math.max(size, Math.abs(b[i]));
    if (Number.isNaN(a[i] - b[i])) return Number.NaN;
  }
  return a.length === b.length ? difference / Math.max(size, 1e-300) : Number.NaN;
}

/**
 * A smooth vector field that is not a gradient: the properties of this folder hold for any field.
 */
export const field =
  (eventRank: number) =>
  (x: Tensor, t: Tensor): Tensor => {
    const event = eventOf(x, eventRank);
    const n = sizeOf(event);
    const twist = reshape(flattenEvent(sin(add(x, alignToEvent(t, eventRank))), eventRank), [
      ...batchOf(x, eventRank),
      n,
    ]);
    const turned = take(
      twist,
      [...Array(n).keys()].map((i) => (i + 1) % n),
      -1,
    );
    return add(mul(x, -0.6), reshape(turned, x.shape));
  };

/**
 * Derivatives by the five-point rule: −f(2h) + 8f(h) − 8f(−h) + f(−2h) over 12h, and its
 * second-order sibling.
 */
export const slope = (f: (h: number) => Float64Array, h: number): Float64Array =>
  combine(
    [f(2 * h), f(h), f(-h), f(-2 * h)],
    [-1, 8, -8, 1].map((c) => c / (12 * h)),
  );
export const curvature = (f: (h: number) => Float64Array, h: number): Float64Array =>
  combine(
    [f(2 * h), f(h), f(0), f(-h), f(-2 * h)],
    [-1, 16, -30, 16, -1].map((c) => c / (12 * h * h)),
  );
const combine = (values: readonly Float64Array[], by: readonly number[]): Float64Array =>
  values[0].map((_, i) => values.reduce((sum, v, k) => sum + by[k] * v[i], 0));
