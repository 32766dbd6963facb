/**
 * Random arguments of the properties: shapes by fast-check, so that they shrink; numbers by a key,
 * so that they are reproducible.
 */
import fc from "fast-check";
import {
  convert,
  type DType,
  type NdArray,
  type Shape,
  sizeOf,
  type Tensor,
} from "../../src/graph/index.ts";
import { key, uniform } from "../../src/random/index.ts";

/** How often a property is tried: RUNS=1000 in the environment tries harder than usual. */
export const effort = (usual: number): number => Number(process.env.RUNS ?? usual);

/** Fills a shape: `u` holds three uniform numbers an entry. */
export type Domain = (
  shape: Shape,
  u: Float64Array,
) => { readonly dtype: DType; readonly values: readonly number[] };

const each =
  (f: (u: number, v: number, w: number) => number, dtype: DType = "float64"): Domain =>
  (shape, u) => ({
    dtype,
    values: Array.from({ length: sizeOf(shape) }, (_, i) =>
      f(u[3 * i], u[3 * i + 1], u[3 * i + 2]),
    ),
  });

/** Numbers of an interval, one in four of them a hard one. */
export const within = (low: number, high: number, ...hard: number[]): Domain =>
  each((u, v, w) =>
    hard.length > 0 && v < 0.25 ? hard[Math.floor(w * hard.length)] : low + (high - low) * u,
  );

/** Both signs, at least `gap` from 0. */
export const beside = (gap: number, high: number): Domain =>
  each((u, v) => (gap + (high - gap) * u) * (v < 0.5 ? -1 : 1));

/** The same numbers, but none within `gap` of a point. */
export const away =
  (domain: Domain, point: number, gap: number): Domain =>
  (shape, u) => {
    const { dtype, values } = domain(shape, u);
    return { dtype, values: values.map((v) => (Math.abs(v - point) < gap ? v + 2 * gap : v)) };
  };

/**
 * Near a multiple of ½ plus an offset: two lattices with offsets ¼ apart never come closer than
 * 0.15.
 */
export const lattice = (offset: number): Domain =>
  each((u, v) => Math.floor(u * 12 - 6) / 2 + offset + (v - 0.5) / 10);

/**
 * No two entries closer than 0.1: nothing that sorts or compares changes its mind within a
 * difference quotient.
 */
export const distinct: Domain = (shape, u) => {
  const n = sizeOf(shape);
  const order = [...Array(n).keys()].sort((i, j) => u[3 * i] - u[3 * j]);
  const values = new Array<number>(n);
  order.forEach((i, rank) => {
    values[i] = (rank - n / 2) / 5 + (u[3 * i + 1] - 0.5) / 10;
  });
  return { dtype: "float64", values };
};

/** Square matrices whose diagonal dominates. */
export const regular: Domain = (shape, u) => {
  const n = shape.at(-1) as number;
  const values = Array.from({ length: sizeOf(shape) }, (_, i) => {
    const onDiagonal = Math.floor(i / n) % n === i % n;
    return (onDiagonal ? (u[3 * i + 1] < 0.5 ? -1.5 : 1.5) : 0) + (2 * u[3 * i] - 1) / n;
  });
  return { dtype: "float64", values };
};

/** Whole numbers low … high. */
export const whole = (low: number, high: number, dtype: DType = "int32"): Domain =>
  each((u) => low + Math.floor(u * (high - low + 1)), dtype);

/** One application of an operation: the function on tensors and the arrays to try it on. */
export interface Draw {
  readonly f: (...x: Tensor[]) => Tensor;
  readonly args: readonly NdArray[];
  /** Other arguments of the same shapes. */
  readonly others: (k: number) => readonly NdArray[];
}

interface EntryOptions {
  /**
   * Entry j of the result depends on entry j of the arguments alone, so that errors can be taken
   * relative to it.
   */
  readonly elementwise?: boolean;
  /**
   * In float32 it may be so far off whatever its size: the runtime has an operator that is good to
   * a rounding of 1.
   */
  readonly rounding?: number;
  /** At most so many runs per property: for large tensors. */
  readonly runs?: number;
}

export interface Entry extends Required<EntryOptions> {
  readonly name: string;
  readonly draws: fc.Arbitrary<Draw>;
}

export type Apply = readonly [
  f: (...x: Tensor[]) => Tensor,
  ...args: readonly (readonly [Shape, Domain])[],
];

/** An entry of the table, from an arbitrary of its parameters and what to do with them. */
export function entry<P>(
  name: string,
  parameters: fc.Arbitrary<P>,
  apply: (p: P) => Apply,
  { elementwise = false, rounding = 0, runs = Number.POSITIVE_INFINITY }: EntryOptions = {},
): Entry {
  const draws = fc.tuple(parameters, fc.nat()).map(([p, seed]): Draw => {
    const [f, ...sources] = apply(p);
    const filled = (name: string): NdArray[] =>
      sources.map(([shape, domain], i) => {
        const u = uniform(key(`${name} ${i}`), [3 * sizeOf(shape)], { dtype: "float64" }).data;
        const { dtype, values } = domain(shape, u);
        return { shape, dtype, data: convert(values, dtype) };
      });
    const args = filled(`${seed}`);
    const show = (a: NdArray): string => `${a.dtype} [${a.shape}] (${a.data.slice(0, 100)})`;
    const text = (): string =>
      `${name} on ${args.map(show).join(" and ")}, drawn from ${JSON.stringify(p)}`;
    const others = (k: number): NdArray[] => filled(`${seed} other ${k}`);
    return Object.assign({ f, args, others }, { [fc.toStringMethod]: text });
  });
  return { name, draws, elementwise, rounding, runs };
}

/**
 * Draws that are run together, in one graph: to open a session takes longer than to run any of
 * them.
 */
export const together = ({ draws, runs }: Entry, usual: number): fc.Arbitrary<Draw[]> => {
  const length = Math.min(runs, usual);
  return fc.array(draws, { minLength: length, maxLength: length });
};

export const size = (min = 1, max = 4): fc.Arbitrary<number> => fc.integer({ min, max });

export const shapes = (minRank = 0, maxRank = 3): fc.Arbitrary<number[]> =>
  fc.array(size(), { minLength: minRank, maxLength: maxRank });

/**
 * Shapes that broadcast together: each is one shape with some axes made 1 and some leading ones
 * dropped.
 */
export const broadcastable = (count: number): fc.Arbitrary<number[][]> =>
  shapes().chain((full) =>
    fc.array(
      fc
        .tuple(
          fc.integer({ min: 0, max: full.length }),
          fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
        )
        .map(([dropped, ones]) => full.map((d, i) => (ones[i] ? 1 : d)).slice(dropped)),
      { minLength: count, maxLength: count },
    ),
  );

/** A shape and one of its axes, counted from either end. */
export const shapeAndAxis = (maxRank = 3): fc.Arbitrary<{ shape: number[]; axis: number }> =>
  shapes(1, maxRank).chain((shape) =>
    fc.record({
      shape: fc.constant(shape),
      axis: fc.integer({ min: -shape.length, max: shape.length - 1 }),
    }),
  );

/** A shape and any of its axes. */
export const shapeAndAxes: fc.Arbitrary<{
  shape: number[];
  axes: number[] | undefined;
  keepDims: boolean;
}> = shapes(1).chain((shape) =>
  fc.record({
    shape: fc.constant(shape),
    axes: fc.option(fc.subarray([...shape.keys()], { minLength: 1 }), { nil: undefined }),
    keepDims: fc.boolean(),
  }),
);
