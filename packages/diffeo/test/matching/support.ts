/**
 * Shared by the tests of losses: a score that is not a gradient, dense forms of C, and means with
 * their standard errors.
 */
import { evaluate } from "../../src/engine/index.ts";
import {
  add,
  concat,
  constant,
  expand,
  expandDims,
  jacobian,
  matmul,
  mul,
  type NdArray,
  sin,
  sub,
  sum,
  type Tensor,
  tanh,
} from "../../src/graph/index.ts";
import { applyMetric, type DrawSpec, drawArrays, type Metric } from "../../src/matching/index.ts";
import { fold, key, normal } from "../../src/random/index.ts";

/** A fixed array of normals. */
export const numbers = (name: string, shape: readonly number[]): NdArray =>
  normal(fold(key("matching"), name), shape, { dtype: "float64" });

const matrix = (name: string, n: number): Tensor => constant(numbers(name, [n, n]), "float64");

/**
 * s(x) = −x + ½ tanh(x A) + ⅓ sin(x B): smooth, nonlinear, with a Jacobian that is not symmetric.
 */
export const field = (x: Tensor): Tensor => {
  const n = x.shape.at(-1) as number;
  const bent = add(
    mul(tanh(matmul(x, matrix("A", n))), 0.5),
    mul(sin(matmul(x, matrix("B", n))), 1 / 3),
  );
  return sub(bent, x);
};

/** M, dense: […, n, n]. */
const dense = (metric: Metric, x: Tensor): Tensor => {
  const n = x.shape.at(-1) as number;
  const columns = Array.from({ length: n }, (_, j) =>
    expandDims(
      applyMetric(
        metric,
        expand(
          constant(
            Array.from({ length: n }, (_, i) => (i === j ? 1 : 0)),
            x.dtype,
          ),
          x.shape,
        ),
      ),
      -1,
    ),
  );
  return concat(columns, -1);
};

/** tr(M ∇s) */
export const traceWith = (metric: Metric, score: (x: Tensor) => Tensor, x: Tensor): Tensor =>
  sum(mul(dense(metric, x), jacobian(score, x)), [-2, -1]);

/** Float64 draws of a spec. */
export const drawn = (spec: DrawSpec, batch: readonly number[], name = "draws") =>
  drawArrays(spec, batch, fold(key("matching"), name), "float64");

/** Evaluates a function of points and draws. */
export async function at<Y extends Tensor | Readonly<Record<string, Tensor>>>(
  f: (x: Tensor, draws: Readonly<Record<string, Tensor>>) => Y,
  x: NdArray,
  draws: Readonly<Record<string, NdArray>>,
): Promise<Y extends Tensor ? Float64Array : Record<keyof Y, Float64Array>> {
  const names = Object.keys(draws);
  const result = await evaluate(
    (...args: Tensor[]) =>
      f(args[0], Object.fromEntries(names.map((name, i) => [name, args[i + 1]]))),
    x,
    ...names.map((name) => draws[name]),
  );
  const data = (value: unknown): Float64Array => (value as NdArray).data as Float64Array;
  return (
    "data" in (result as object)
      ? data(result)
      : Object.fromEntries(
          Object.entries(result as object).map(([name, value]) => [name, data(value)]),
        )
  ) as never;
}

/** Mean and standard error. */
export function moments(values: ArrayLike<number>): { mean: number; error: number } {
  const n = values.length;
  let [s, q] = [0, 0];
  for (let i = 0; i < n; i++) s += values[i];
  const mean = s / n;
  for (let i = 0; i < n; i++) q += (values[i] - mean) ** 2;
  return { mean, error: Math.sqrt(q / (n - 1) / n) };
}

/** By how many standard errors a mean misses its value. */
export const misses = (values: ArrayLike<number>, expected: number): number => {
  const { mean, error } = moments(values);
  return Math.abs(mean - expected) / error;
};

/** One point repeated. */
export const repeated = (point: readonly number[], count: number): NdArray => ({
  shape: [count, point.length],
  dtype: "float64",
  data: Float64Array.from({ length: count * point.length }, (_, i) => point[i % point.length]),
});
