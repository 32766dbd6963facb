/**
 * Checks the assumptions of a loss on points (assumption:integrability, assumption:boundary).
 *
 * Moments: the mean of a loss exists if its tail index is above 1, and its estimate has an error
 * O(1/√N) if the index is above 2. Hill's estimate of the index from the k greatest values is
 *
 *   1/index = (1/k) Σᵢ≤ₖ log(ℓ₍ᵢ₎/ℓ₍ₖ₊₁₎)
 *
 * Boundary: integration by parts gives the term ∮ p (sᵀC n) at a face, which is 0 for every density
 * and score if C n = 0 there. Otherwise p must vanish at the face, which points cannot prove.
 */
import { compile } from "../engine/index.ts";
import {
  abs,
  add,
  fail,
  fill,
  isNdArray,
  mul,
  type NdArray,
  squaredNorm,
  sum,
  type Tensor,
} from "../graph/index.ts";
import { mean } from "../host/index.ts";
import type { Key } from "../random/index.ts";
import { type Draws, drawArrays, drawShapes } from "./draws.ts";
import { applyMetric } from "./metric.ts";
import { lossOf, type Objective, type ScoreFunction } from "./objective.ts";

/** Options of `checkObjective`. */
export interface CheckObjectiveOptions {
  /**
   * A score whose loss is checked. Default none; then the factors that multiply the score are
   * checked.
   */
  readonly score?: ScoreFunction;
  /** Faces of the box of the data, for all coordinates. Default none. */
  readonly low?: number;
  readonly high?: number;
  readonly key: Key;
}

/** The result of `checkObjective`. */
export interface ObjectiveCheck {
  /** The estimated tail index of the loss over points. Above 2, its mean has an error O(1/√N). */
  readonly tail: number;
  /** ‖C n‖ at the faces divided by that on the points; 0 if there is no boundary term. */
  readonly edge: number;
  /** Problems, in sentences; empty if none was found. */
  readonly warnings: readonly string[];
}

const FEWEST = 100;

/** Hill's estimate from the √N greatest of N values. */
function tailIndex(values: readonly number[]): number {
  const sorted = values.map(Math.abs).sort((a, b) => b - a);
  const k = Math.floor(Math.sqrt(sorted.length));
  const level = sorted[k];
  if (!(level > 0)) return Infinity;
  return 1 / mean(sorted.slice(0, k).map((v) => Math.log(v / level)));
}

/** C e for a direction e, which is the same at all points. */
const towards = (objective: Objective, x: Tensor, draws: Draws<Tensor>, i: number): Tensor => {
  const n = x.shape.at(-1) as number;
  const unit = Array.from({ length: n }, (_, k) => (k === i ? 1 : 0));
  return applyMetric(objective.terms(x, draws).metric, add(mul(x, 0), unit));
};

function warningsOf(tail: number, edge: number): string[] {
  const warnings: string[] = [];
  if (tail <= 2)
    warnings.push(
      `The loss has a tail index of about ${tail.toFixed(1)}, so its ` +
        `${tail <= 1 ? "mean" : "variance"} is not finite.`,
    );
  if (edge > 1e-6)
    warnings.push(
      `The slices do not vanish at the faces (${edge.toPrecision(2)} of their size ` +
        "inside), so the density must be 0 there. Otherwise use boundedSlices or " +
        "scoreMatchingThrough.",
    );
  return warnings;
}

/**
 * Checks whether the mean of a loss over points is reliable: the tail of the loss, and its boundary
 * term.
 *
 * @throws DiffeoError of kind `usage` if there are fewer than 100 points
 * @example
 * import { key, uniform } from "diffeo/random";
 *
 * const points = uniform(key(1), [1000, 2], { dtype: "float64" });
 * await checkObjective(scoreMatching(), points, { low: 0, high: 1, key: key(2) }); // warns: faces
 * await checkObjective(gssmVr(boundedSlices()), points, { low: 0, high: 1, key: key(2) });
 */
export async function checkObjective(
  objective: Objective,
  points: NdArray,
  { score, low = -Infinity, high = Infinity, key }: CheckObjectiveOptions,
): Promise<ObjectiveCheck> {
  if (!isNdArray(points) || points.shape.length !== 2 || points.shape[0] < FEWEST)
    fail(
      "usage",
      "checkObjective: too few points, or not an array [count, n]",
      `give at least ${FEWEST} points`,
    );
  const [count, n] = points.shape;
  const spec = objective.draws(n);
  const draws = drawArrays(spec, [count], key, "float64");
  const shapes = [[count, n], drawShapes(spec, [count])] as const;
  const engine = { device: "wasm", type: "float64" } as const;

  const size = compile(
    (x: Tensor, own: Draws<Tensor>) => {
      if (score) return lossOf(objective)(score, x, own);
      const { metric, drift } = objective.terms(x, own);
      const spread = sum(abs(applyMetric(metric, fill(x.shape, 1, x.dtype))), -1);
      return drift ? add(spread, squaredNorm(drift)) : spread;
    },
    shapes,
    engine,
  );
  const tail = tailIndex(Array.from((await size(points, draws)).data as Float64Array));
  await size.dispose();

  const normal = compile(
    (x: Tensor, own: Draws<Tensor>) =>
      Array.from({ length: n }, (_, i) => squaredNorm(towards(objective, x, own, i))),
    shapes,
    engine,
  );
  const sizes = async (at: NdArray, i: number): Promise<number> =>
    Math.sqrt(mean((await normal(at, draws))[i].data as Float64Array));
  const onFace = (i: number, face: number): NdArray => {
    const data = Float64Array.from(points.data as Float64Array);
    for (let row = 0; row < count; row++) data[row * n + i] = face;
    return { shape: points.shape, dtype: "float64", data };
  };
  let edge = 0;
  for (let i = 0; i < n; i++)
    for (const face of [low, high].filter(Number.isFinite)) {
      const inside = await sizes(points, i);
      edge = Math.max(edge, (await sizes(onFace(i, face), i)) / inside);
    }
  await normal.dispose();
  return { tail, edge, warnings: warningsOf(tail, edge) };
}
