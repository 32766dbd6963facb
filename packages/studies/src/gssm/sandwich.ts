/**
 * The asymptotic variance of an estimate by a score-matching loss ℓ(θ; x, v), for one parameter:
 *
 *   √N (θ̂ − θ) → N(0, V),   V = B/A²,   A = E[∂²ℓ],   B = E[(∂ℓ)²],   efficiency = 1/(I V)
 *
 * with I the Fisher information. Where s_θ is the score of p_θ, and u = ∂_θ s = ∇∂_θ log p,
 *
 *   A = E[uᵀC u],   E_v[∂ℓ | x] = s·Cu + div(Cu) =: T(Cu),   C(x) = E[∇v ∇vᵀ]
 *
 * Proof of A: up to a constant E[ℓ] = ½E[(s_θ − s)ᵀC(s_θ − s)]. By Stein's identity
 * E[∂_θ log p · T(Cu)] = −E[u·Cu], so A² ≤ I · E[T(Cu)²] ≤ I · B: no loss beats maximum likelihood,
 * and one reaches it exactly if it has no noise of slices and T(Cu) = L_C ∂_θ log p is a multiple
 * of ∂_θ log p: if that is an eigenfunction of the diffusion with mobility C,
 *
 *   L_C f = div(C∇f) + s·C∇f.
 *
 * Hermite polynomials are eigenfunctions for a Gaussian and C = I. For the scale of a Student
 * distribution f = −n − x·s, and the C that makes C∇f = const·x is (1 + r²/ν)² I along x, since
 * div(p x) = −p f: a loss is good where C grows as the tails are heavy.
 *
 * Expectations over x are sums over nodes; those over v are means of draws at each node, without
 * bias in B: E_v[(∂ℓ)²] is the mean of squares.
 */
import { compile } from "diffeo/engine";
import { jvp, type NdArray, onesLike, type Tensor } from "diffeo/graph";
import { type Draws, drawArrays, drawShapes, lossOf, type Objective } from "diffeo/matching";
import { fold, type Key, normal } from "diffeo/random";
import type { Model } from "./models.ts";

export interface Sandwich {
  /** Fisher's I. */
  readonly information: number;
  /** A and B. */
  readonly curvature: number;
  readonly noise: number;
  /** The share of B that draws of the slices make, E[Var_v ∂ℓ]/B. */
  readonly slices: number;
  /** 1/(I V) */
  readonly efficiency: number;
}

/** [∂ℓ, ∂²ℓ] at each point for parameter θ, by autodiff. */
export function derivativesOf(objective: Objective, model: Model, count: number, n: number) {
  const spec = objective.draws(n);
  const loss = lossOf(objective);
  return compile(
    (x: Tensor, draws: Draws<Tensor>, theta: Tensor) => {
      const one = onesLike(theta);
      const value = (at: Tensor): Tensor => loss((z) => model.score(z, at), x, draws);
      const slope = (at: Tensor): Tensor => jvp(value, at, one)[1];
      return jvp(slope, theta, one);
    },
    [[count, n], drawShapes(spec, [count]), []],
    { device: "wasm", type: "float64" },
  );
}

/** Draws of slices at each node, in pairs at one direction of its coordinates off the axis. */
const DRAWS = 48;

const expectation = (weights: readonly number[], values: ArrayLike<number>): number =>
  weights.reduce((sum, w, i) => sum + w * values[i], 0);

/**
 * Nodes (a, b, 0, …) as (a, b ω) with ω uniform on the sphere of the other coordinates: slices such
 * as signs are not the same in all directions.
 */
function turned(points: readonly (readonly number[])[], n: number, key: Key): NdArray {
  const count = points.length;
  const { data: omega } = normal(key, [count, n], { dtype: "float64" });
  const data = new Float64Array(count * n);
  points.forEach(([a, b = 0], i) => {
    const own = omega.subarray(i * n + 1, (i + 1) * n);
    const size = Math.hypot(...own);
    data[i * n] = a;
    for (let k = 1; k < n; k++) data[i * n + k] = (b * own[k - 1]) / size;
  });
  return { shape: [count, n], dtype: "float64", data };
}

export async function sandwich(
  objective: Objective,
  model: Model,
  n: number,
  key: Key,
): Promise<Sandwich> {
  const { points, weights } = model.nodes(n);
  const count = points.length;
  const spec = objective.draws(n);
  const draws = Object.keys(spec).length === 0 ? 2 : DRAWS;
  const derivatives = derivativesOf(objective, model, count, n);
  const [squares, curved, varied] = [0, 0, 0].map(() => new Float64Array(count));
  for (let pair = 0; pair < draws / 2; pair++) {
    const x = turned(points, n, fold(fold(key, "turned"), pair));
    let before: NdArray["data"] | undefined;
    for (const half of [0, 1]) {
      const drawn = drawArrays(spec, [count], fold(fold(key, pair), half), "float64");
      const [{ data: slope }, { data: curvature }] = await derivatives(x, drawn, model.truth);
      for (let i = 0; i < count; i++) {
        squares[i] += (slope[i] as number) ** 2 / draws;
        curved[i] += (curvature[i] as number) / draws;
        // ½(ψ₁ − ψ₂)² has the mean Var_v ψ.
        if (before) varied[i] += ((slope[i] as number) - (before[i] as number)) ** 2 / draws;
      }
      before = slope;
    }
  }
  await derivatives.dispose();
  const information = expectation(
    weights,
    points.map((point) => model.likelihoodScore(point) ** 2),
  );
  const [curvature, noise] = [expectation(weights, curved), expectation(weights, squares)];
  return {
    information,
    curvature,
    noise,
    slices: expectation(weights, varied) / noise,
    efficiency: curvature ** 2 / (information * noise),
  };
}
