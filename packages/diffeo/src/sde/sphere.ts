/**
 * Brownian motion on the sphere Sⁿ in two stereographic charts, which together cover it. A state is
 * (x, c) with x in Rⁿ and the chart c = ±1:
 *
 *   y = (2x/s, c(1 − 2/s)),   s = 1 + ‖x‖²
 *
 * The other chart has x′ = x/‖x‖² for the same y. The charts are conformal with λ = 2/s, so
 * √r times Brownian motion is, in both of them,
 *
 *   dX = −r(n − 2)(s/4) x dt + √r (s/2) dW
 *
 * Proof: the generator is (r/2)λ⁻ⁿ Σ∂ᵢ(λⁿ⁻²∂ᵢ) = (r/2)(λ⁻²Δ + (n − 2)λ⁻³∇λ·∇) with ∇λ = −4x/s².
 *
 * Steps are the same in both charts, and `change` moves a point with ‖x‖ > 1 to the other chart. By
 * the reverse-time Itô lemma the process in one chart is the image of that in the other, so
 * changing charts is exact, and ‖x‖ stays small. A score with respect to area on the sphere is
 * pulled back to either chart by Theorem 1.
 *
 *   p_t(y | y₀) = Σ_l e^{−l(l + n − 1)rt/2} (2l + n − 1)/(n − 1) C_l^{(n − 1)/2}(y·y₀)/|Sⁿ|
 *
 * with Gegenbauer polynomials C_l, because zonal harmonics are eigenfunctions of the Laplacian.
 */

import { stereographic } from "../bijector/index.ts";
import {
  add,
  concat,
  constant,
  div,
  exp,
  expandDims,
  fail,
  greater,
  log,
  mul,
  onesLike,
  slice,
  squaredNorm,
  sub,
  sum,
  type Tensor,
  where,
  zerosLike,
} from "../graph/index.ts";
import { type FloatArray, normal } from "../random/index.ts";
import { pullScore } from "../score/index.ts";
import type { MarginalScore } from "./score.ts";
import type { Sde } from "./sde.ts";

/** Options of `sphereBrownian`. */
export interface SphereOptions {
  /** n of Sⁿ, at least 2. Unit vectors have n + 1 numbers. */
  readonly dimension: number;
  /** r, the rate. Default 1. */
  readonly rate?: number;
  /** T, the horizon. Default 10/n, at which means have decayed to e^{−5r}. */
  readonly horizon?: number;
  /** Terms of the heat kernel. Default 60. */
  readonly terms?: number;
}

/** The result of `sphereBrownian`: Brownian motion on a sphere in two charts. */
export interface SphereBrownian {
  /** The process of states (x, c), n + 1 numbers, with a uniform prior on the sphere. */
  readonly sde: Sde;
  /** The unit vector of a state. */
  readonly toSphere: (z: Tensor) => Tensor;
  /** The state of a unit vector, in the chart where ‖x‖ ≤ 1. */
  readonly toChart: (y: Tensor) => Tensor;
  /** Moves a state to the chart where ‖x‖ ≤ 1; `changingCharts` does this after each step. */
  readonly change: (z: Tensor) => Tensor;
  /** The score of states from a score of unit vectors, which is a gradient along the sphere. */
  readonly inCharts: (score: MarginalScore) => MarginalScore;
  /** log p_{0t}(y | y₀) with respect to area, one number per event. */
  readonly logTransition: (y: Tensor, y0: Tensor, t: Tensor) => Tensor;
  /** Its gradient along the sphere, the target of denoising score matching. */
  readonly transitionScore: (y: Tensor, y0: Tensor, t: Tensor) => Tensor;
}

/** All numbers of events but the last, and the last one with its axis. */
function parts(z: Tensor): readonly [Tensor, Tensor] {
  const last = (z.shape.at(-1) as number) - 1;
  const whole = z.shape.slice(0, -1).map(() => null);
  return [slice(z, ...whole, [0, last]), slice(z, ...whole, [last, last + 1])];
}

/** log |Sⁿ|, by |Sⁿ| = 2π|Sⁿ⁻²|/(n − 1) from |S⁰| = 2 and |S¹| = 2π. */
const logArea = (n: number): number =>
  n === 0
    ? Math.log(2)
    : n === 1
      ? Math.log(2 * Math.PI)
      : logArea(n - 2) + Math.log((2 * Math.PI) / (n - 1));

/** Σ_l e^{−λ_l rt} (2l + n − 1)/(n − 1) C_l(u), and its derivative with respect to u. */
function heatKernel(u: Tensor, t: Tensor, n: number, rate: number, terms: number) {
  const alpha = (n - 1) / 2;
  let [c, before, d, dBefore] = [onesLike(u), zerosLike(u), zerosLike(u), zerosLike(u)];
  let [total, slope] = [onesLike(u), zerosLike(u)];
  for (let l = 1; l <= terms; l++) {
    // l C_l = 2(l − 1 + α) u C_{l−1} − (l − 2 + 2α) C_{l−2}
    const [a, b] = [(2 * (l - 1 + alpha)) / l, (l - 2 + 2 * alpha) / l];
    const next = sub(mul(mul(u, c), a), mul(before, b));
    const dNext = sub(mul(add(c, mul(u, d)), a), mul(dBefore, b));
    [before, c, dBefore, d] = [c, next, d, dNext];
    const decay = mul(exp(mul(t, (-l * (l + n - 1) * rate) / 2)), (2 * l + n - 1) / (n - 1));
    total = add(total, mul(decay, c));
    slope = add(slope, mul(decay, d));
  }
  return { total, slope };
}

const chart = stereographic();

/** s = 1 + ‖x‖², with an axis for coordinates. */
const stretch = (x: Tensor): Tensor => expandDims(add(squaredNorm(x), 1), -1);

/** y with its last number times c: charts are mirror images of each other. */
function mirrored(y: Tensor, c: Tensor): Tensor {
  const [across, up] = parts(y);
  return concat([across, mul(up, c)], -1);
}

function toSphere(z: Tensor): Tensor {
  const [x, c] = parts(z);
  return mirrored(chart.forward(x), c);
}

function toChart(y: Tensor): Tensor {
  const [, up] = parts(y);
  const c = where(greater(up, 0), mul(onesLike(up), -1), onesLike(up));
  return concat([chart.inverse(mirrored(y, c)), c], -1);
}

/** A state with ‖x‖ > 1 in the other chart: x/‖x‖², −c. */
function toNearChart(z: Tensor): Tensor {
  const [x, c] = parts(z);
  const size = expandDims(squaredNorm(x), -1);
  const far = greater(size, 1);
  const other = concat([div(x, where(far, size, onesLike(size))), mul(c, -1)], -1);
  return where(far, other, z);
}

const inCharts =
  (score: MarginalScore): MarginalScore =>
  (z, t) => {
    const [x, c] = parts(z);
    const y = chart.forward(x);
    const pulled = pullScore(chart, x, mirrored(score(mirrored(y, c), t), c));
    return concat([pulled, zerosLike(c)], -1);
  };

/** The cosine y·y₀ of two unit vectors. */
const cosine = (y: Tensor, y0: Tensor): Tensor => sum(mul(y, y0), -1);

/**
 * Brownian motion on the sphere Sⁿ in two charts, for unit vectors, and for rotations as unit
 * quaternions (n = 3).
 *
 * Run it with the solver `changingCharts`, and map the samples with `toSphere`.
 *
 * @throws DiffeoError of kind `usage` if the dimension is not an integer of at least 2, or another
 * option is not positive
 * @example
 * import { key } from "diffeo/random";
 *
 * const { sde, inCharts, change, toSphere } = sphereBrownian({ dimension: 2 });
 * // The product is the score of the uniform distribution; replace it by a network of y and t.
 * const process = reverse(sde, inCharts((y) => mul(y, 0)));
 * const solver = changingCharts(change);
 * const { samples } = await sample(process, { shape: [3], count: 100, key: key(1), solver });
 */
export function sphereBrownian({
  dimension: n,
  rate = 1,
  horizon = 10 / n,
  terms = 60,
}: SphereOptions): SphereBrownian {
  if (!Number.isInteger(n) || n < 2)
    fail("usage", `sphereBrownian: \`dimension\` is ${n}`, "use an integer of at least 2");
  for (const [name, value] of Object.entries({ rate, horizon, terms }))
    if (!(value > 0 && value < Infinity))
      fail("usage", `sphereBrownian: \`${name}\` is ${value}`, "use a positive number");
  const prior: Sde["prior"] = {
    sample: (keys, event, dtype) => {
      const y = normal(keys, event, { dtype });
      for (let at = 0; at < y.data.length; at += n + 1) toState(y, at, n);
      return y;
    },
    // log λⁿ − log |Sⁿ| in x.
    logDensity: (z) => sub(chart.logDet(parts(z)[0]), logArea(n)),
  };
  return {
    sde: {
      name: `Brownian motion on the ${n}-sphere`,
      eventRank: 1,
      horizon,
      drift: (z) => {
        const [x, c] = parts(z);
        return concat([mul(mul(x, stretch(x)), (-rate * (n - 2)) / 4), zerosLike(c)], -1);
      },
      diffusion: (z) => {
        const [x] = parts(z);
        const moves = Array.from({ length: n + 1 }, (_, i) => (i < n ? Math.sqrt(rate) / 2 : 0));
        return { kind: "diagonal", value: mul(stretch(x), constant(moves, z.dtype)) };
      },
      prior,
    },
    toSphere,
    toChart,
    change: toNearChart,
    inCharts,
    logTransition: (y, y0, t) =>
      sub(log(heatKernel(cosine(y, y0), t, n, rate, terms).total), logArea(n)),
    transitionScore: (y, y0, t) => {
      const u = cosine(y, y0);
      const { total, slope } = heatKernel(u, t, n, rate, terms);
      const tangent = sub(y0, mul(y, expandDims(u, -1)));
      return mul(tangent, expandDims(div(slope, total), -1));
    },
  };
}

/** Replaces n + 1 numbers by the state of their direction. */
function toState({ data }: FloatArray, at: number, n: number): void {
  const y = data.subarray(at, at + n + 1);
  const length = Math.hypot(...y);
  const c = y[n] > 0 ? -1 : 1;
  const down = 1 + Math.abs(y[n]) / length;
  for (let i = 0; i < n; i++) y[i] /= length * down;
  y[n] = c;
}
