/**
 * The random numbers of losses. A slice family declares which random numbers one slice needs. They
 * are inputs of the graph, computed on the host from a key. So one graph serves every step, and the
 * numbers are the same on every device.
 *
 *   const spec = objective.draws(n);           // { v: { distribution: "rademacher", shape: [1, n] } }
 *   const step = compile((x, draws) => …, [[batch, n], drawShapes(spec, [batch])]);
 *   await step(x, drawArrays(spec, [batch], fold(key, i)));
 */
import { type FloatType, fail, type Shape } from "../graph/index.ts";
import { mapValues } from "../host/index.ts";
import { type FloatArray, fold, type Key, normal, rademacher, uniform } from "../random/index.ts";

/**
 * One array of independent random numbers per point, of the given shape. `uniform` is on (0, 1).
 */
export interface Draw {
  readonly distribution: "normal" | "rademacher" | "uniform";
  readonly shape: Shape;
}

/** The random arrays that a loss needs per point, by name. */
export type DrawSpec = Readonly<Record<string, Draw>>;

/** Random arrays by the names of a `DrawSpec`, with the shapes […batch, …shape]. */
export type Draws<T> = Readonly<Record<string, T>>;

const generators = { normal, rademacher, uniform } as const;

/**
 * The shapes of the random arrays for a batch of points, for `compile`; `null` leaves a size open.
 */
export const drawShapes = <D extends number | null>(
  spec: DrawSpec,
  batch: readonly D[],
): Record<string, readonly (number | D)[]> => mapValues(spec, ({ shape }) => [...batch, ...shape]);

/** Computes the random arrays for a batch of points. Each name has its own stream. */
export const drawArrays = <D extends FloatType = "float32">(
  spec: DrawSpec,
  batch: Shape,
  key: Key,
  dtype?: D,
): Record<string, FloatArray<D>> =>
  mapValues(spec, ({ distribution, shape }, name) =>
    generators[distribution](fold(key, name), [...batch, ...shape], {
      dtype: (dtype ?? "float32") as D,
    }),
  );

/** Checks a count. */
export const countOf = (count: number, what: string): number =>
  Number.isInteger(count) && count >= 1
    ? count
    : fail("usage", `the number of ${what} is ${count}`, "use an integer of at least 1");

/** Adds leading axes to the arrays, for several slices per point. */
export const repeatSpec = (spec: DrawSpec, axes: Shape): DrawSpec =>
  mapValues(spec, ({ distribution, shape }) => ({ distribution, shape: [...axes, ...shape] }));

/** Adds a prefix to the names, so that two specs can be merged. */
export const prefixSpec = (prefix: string, spec: DrawSpec): DrawSpec =>
  Object.fromEntries(Object.entries(spec).map(([name, draw]) => [`${prefix}${name}`, draw]));

/** The arrays whose names start with a prefix, by their names without it. */
export const withPrefix = <T>(prefix: string, draws: Draws<T>): Draws<T> =>
  Object.fromEntries(
    Object.entries(draws).flatMap(([name, value]) =>
      name.startsWith(prefix) ? [[name.slice(prefix.length), value] as const] : [],
    ),
  );
