/**
 * The process with the marginals of Y = v(X) for a scalar v without a closed form:
 *
 *   b(y, t) = E[Lv | Y = y],   a(y, t) = E[∇vᵀ G Gᵀ ∇v | Y = y]
 *
 * estimated by regression of the terms of Itô's lemma at points of X_t on v(X_t): weighted means
 * around knots at each of several times, linear between knots and between times. The weights are
 * the hat functions of the knots, so a, a mean of nonnegative numbers, is not negative.
 */
import { compile } from "../engine/index.ts";
import {
  add,
  clip,
  constant,
  expandDims,
  fail,
  matmul,
  minimum,
  mul,
  type NdArray,
  sqrt,
  squeeze,
  sub,
  sum,
  type Tensor,
} from "../graph/index.ts";
import { quantile } from "../host/index.ts";
import { projectAt } from "./project.ts";
import type { Sde } from "./sde.ts";

/** Options of `learnProjection`. */
export interface LearnProjectionOptions {
  /**
   * Increasing times of the states. Before the first and after the last one, drift and noise are
   * constant in time.
   */
  readonly times: readonly number[];
  /** Number of knots in y, at quantiles of all states. Default 40. */
  readonly knots?: number;
}

/**
 * The weights [..., knots] of the knots at numbers [...]: linear between knots, constant outside.
 */
function hats(u: Tensor, knots: readonly number[]): Tensor {
  const wide = expandDims(u, -1);
  const like = (values: readonly number[]): Tensor => constant(values, u.dtype);
  const gap = (i: number): number => knots[i + 1] - knots[i];
  const last = knots.length - 1;
  // Left of the first and right of the last knot the slope is 0 and the weight 1.
  const up = add(
    mul(sub(wide, like(knots)), like(knots.map((_, i) => (i === 0 ? 0 : 1 / gap(i - 1))))),
    1,
  );
  const down = sub(
    1,
    mul(sub(wide, like(knots)), like(knots.map((_, i) => (i === last ? 0 : 1 / gap(i))))),
  );
  return clip(minimum(up, down), 0, 1);
}

/** Distinct quantiles of numbers. */
function knotsOf(values: readonly number[], count: number): number[] {
  const sorted = values.toSorted((a, b) => a - b);
  const found = Array.from({ length: count }, (_, i) => quantile(sorted, i / (count - 1)));
  return found.filter((k, i) => i === 0 || k > found[i - 1]);
}

/**
 * Learns an SDE with the marginals of v(X) from states of X at several times, for maps v without a
 * closed form in `project`. Its paths are not those of v(X) (docs/explanation/projection.md).
 *
 * @param v a function with one number per event, from [..., n] to [..., 1]
 * @param states points of X_t for each of the times, [rows, n]
 * @throws DiffeoError of kind `usage` if there is not one array of states per time, or `knots` is
 * not an integer of at least 2
 * @example
 * import { key, normal } from "diffeo/random";
 *
 * const states = [0, 1].map((i) => normal(key(i), [5000, 2], { dtype: "float64" }));
 * const size = (x: Tensor) => sum(mul(mul(x, x), [1, 2]), -1, { keepDims: true });
 * const seen = await learnProjection(vp(), size, states, { times: [0, 1] });
 */
export async function learnProjection(
  sde: Sde,
  v: (x: Tensor) => Tensor,
  states: readonly NdArray[],
  { times, knots: count = 40 }: LearnProjectionOptions,
): Promise<Sde> {
  if (states.length !== times.length || times.length === 0)
    fail(
      "usage",
      `learnProjection: ${states.length} arrays of states for ${times.length} times`,
      "give one array of states per time",
    );
  if (!Number.isInteger(count) || count < 2)
    fail("usage", `learnProjection: \`knots\` is ${count}`, "use an integer of at least 2");
  const engine = { device: "wasm", type: "float64" } as const;
  const found: { y: number[]; drift: number[]; square: number[] }[] = [];
  for (const [i, points] of states.entries()) {
    const at = compile(
      (x: Tensor, t: Tensor) => {
        const { drift, covariance } = projectAt(sde, v, x, t);
        return [squeeze(v(x), -1), squeeze(drift, -1), sum(covariance, [-2, -1])];
      },
      [points.shape, []],
      engine,
    );
    const [y, drift, square] = (await at(points, times[i])).map(({ data }) =>
      Array.from(data as Float64Array),
    );
    await at.dispose();
    found.push({ y, drift, square });
  }
  const knots = knotsOf(
    found.flatMap(({ y }) => y),
    count,
  );
  const tables = found.map(({ y, drift, square }) => means(y, [drift, square], knots));
  const [drifts, squares] = [0, 1].map((k) => tables.map((table) => table[k]));
  /** Interpolates the table: hats of t, [..., 1, times], times the table, times hats of y. */
  const value = (table: readonly number[][], y: Tensor, t: Tensor): Tensor => {
    const byTime = matmul(expandDims(hats(t, times), -2), constant(table as number[][], y.dtype));
    return sum(mul(squeeze(byTime, -2), squeeze(hats(y, knots), -2)), -1, { keepDims: true });
  };
  return {
    name: `learned projection of ${sde.name}`,
    eventRank: 1,
    horizon: sde.horizon,
    drift: (y, t) => value(drifts, y, t),
    diffusion: (y, t) => ({ kind: "diagonal", value: sqrt(value(squares, y, t)) }),
  };
}

/**
 * Weighted means of columns around each knot; a knot without points has the mean of its neighbour.
 */
function means(
  y: readonly number[],
  columns: readonly (readonly number[])[],
  knots: readonly number[],
): number[][] {
  const weights = new Float64Array(knots.length);
  const sums = columns.map(() => new Float64Array(knots.length));
  for (const [i, at] of y.entries()) {
    const next = knots.findIndex((k) => k > at);
    const [low, high] =
      next < 0 ? [knots.length - 1, knots.length - 1] : [Math.max(0, next - 1), next];
    const share =
      low === high || at <= knots[low] ? 0 : (at - knots[low]) / (knots[high] - knots[low]);
    for (const [knot, weight] of [
      [low, 1 - share],
      [high, share],
    ]) {
      weights[knot] += weight;
      columns.forEach((column, c) => {
        sums[c][knot] += weight * column[i];
      });
    }
  }
  const known = Array.from(weights.keys()).filter((k) => weights[k] > 0);
  const nearest = (k: number): number =>
    known.reduce((best, j) => (Math.abs(j - k) < Math.abs(best - k) ? j : best), known[0]);
  return sums.map((column) =>
    Array.from(knots, (_, k) => column[nearest(k)] / weights[nearest(k)]),
  );
}
