/**
 * Where the randomness of a loss comes from. A graph has none of its own: a slice family states
 * which random numbers one slice needs, the graph takes them as inputs, and the host fills them
 * from a key. One graph then serves every step, and the numbers are the same on every device.
 *
 *   const spec = objective.draws(n);           // { v: { distribution: "rademacher", shape: [1, n] } }
 *   const step = compile((x, draws) => …, [[batch, n], drawShapes(spec, [batch])]);
 *   await step(x, drawArrays(spec, [batch], fold(key, i)));
 */
import { type FloatType, fail, type Shape } from "../graph/index.ts";
import { mapValues } from "../host/index.ts";
import { type FloatArray, fold, type Key, normal, rademacher, uniform } from "../random/index.ts";

/**
 * One array of independent random numbers, of this shape for every point. `uniform` is on (0, 1).
 */
export interface Draw {
  readonly distribution: "normal" | "rademacher" | "uniform";
  readonly shape: Shape;
}

/** The arrays a point needs, by name. */
export type DrawSpec = Readonly<Record<string, Draw>>;

/** The numbers themselves, by the same names: shape […batch, …shape]. */
export type Draws<T> = Readonly<Record<string, T>>;

const generators = { normal, rademacher, uniform } as const;

/**
 * Shapes of the inputs for a batch of points, as `compile` takes them; `null` leaves a size open.
 */
export const drawShapes = <D extends number | null>(
  spec: DrawSpec,
  batch: readonly D[],
): Record<string, readonly (number | D)[]> => mapValues(spec, ({ shape }) => [...batch, ...shape]);

/** The numbers for a batch of points. Each name has a stream of its own. */
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

/** How many of something, if that can be. */
export const countOf = (count: number, what: string): number =>
  Number.isInteger(count) && count >= 1
    ? count
    : fail("usage", `the number of ${what} is ${count}`, "use an integer of at least 1");

/** The same arrays with additional leading axes, for several slices at one point. */
export const repeatSpec = (spec: DrawSpec, axes: Shape): DrawSpec =>
  mapValues(spec, ({ distribution, shape }) => ({ distribution, shape: [...axes, ...shape] }));

/** Names under a common prefix, so that two specs fit into one. */
export const prefixSpec = (prefix: string, spec: DrawSpec): DrawSpec =>
  Object.fromEntries(Object.entries(spec).map(([name, draw]) => [`${prefix}${name}`, draw]));

/** Those arrays whose names begin with a prefix, without it. */
export const withPrefix = <T>(prefix: string, draws: Draws<T>): Draws<T> =>
  Object.fromEntries(
    Object.entries(draws).flatMap(([name, value]) =>
      name.startsWith(prefix) ? [[name.slice(prefix.length), value] as const] : [],
    ),
  );
