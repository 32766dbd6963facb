/**
 * Brownian motion reflected at the faces of a box (A. Lou, S. Ermon, "Reflected diffusion models",
 * ICML 2023), as the image of free Brownian motion under the triangle wave `fold` of period 2L,
 * which folds Rⁿ onto the box and is not invertible.
 *
 *   X_t = fold(x₀ + σ(t) ε)
 *   p(x | x₀) = Πᵢ Σₖ [φ_σ(xᵢ − x₀ᵢ + 2kL) + φ_σ(xᵢ + x₀ᵢ − 2 low + 2kL)]
 *
 * Proof: fold is a local isometry, and Brownian motion is symmetric under the reflections that fold
 * identifies, so fold(B) is a Markov process with Brownian generator inside and ∂ₙ = 0 on the
 * faces; its transition is the sum over all points that fold to x.
 *
 * Reversal works in the same way: with s̃(z) = fold′(z) s(fold(z)), the gradient of the symmetric
 * log-density on Rⁿ, the reverse process of free Brownian motion folds to the reversed reflected
 * one. So every sampler can run it: step without faces, and fold the samples at the end.
 */
import { alignToEvent, sumEvent } from "../bijector/index.ts";
import {
  abs,
  add,
  div,
  exp,
  expandDims,
  expm1,
  fail,
  fill,
  floor,
  less,
  log,
  logSumExp,
  mul,
  neg,
  onesLike,
  softmax,
  sqrt,
  square,
  stack,
  sub,
  sum,
  type Tensor,
  where,
  zerosLike,
} from "../graph/index.ts";
import { uniform } from "../random/index.ts";
import type { MarginalScore } from "./score.ts";
import type { Sde } from "./sde.ts";

/** Options of `reflected`. */
export interface ReflectedOptions {
  /** The faces of the box, for all coordinates. Default 0 and 1. */
  readonly low?: number;
  readonly high?: number;
  /** σ in units of the box's length, at the times 0+ and 1. Default 0.01 and 1.5. */
  readonly sigmaMin?: number;
  readonly sigmaMax?: number;
  /** The number of trailing axes of one event. Default 1. */
  readonly eventRank?: number;
}

/** The result of `reflected`: the process, its transition and its fold. */
export interface Reflected {
  /** Free Brownian motion on Rⁿ, whose prior is the uniform distribution on the box. */
  readonly sde: Sde;
  /** Folds points of Rⁿ onto the box. */
  readonly fold: (z: Tensor) => Tensor;
  /** σ(t), where X_t = fold(x₀ + σ(t) ε). */
  readonly std: (t: Tensor) => Tensor;
  /** log p_{0t}(x | x₀), one number per event. */
  readonly logTransition: (x: Tensor, x0: Tensor, t: Tensor) => Tensor;
  /** ∇ₓ log p_{0t}(x | x₀), the target of denoising score matching. */
  readonly transitionScore: (x: Tensor, x0: Tensor, t: Tensor) => Tensor;
  /** Extends a score on the box to s̃ on Rⁿ, for `reverse`. */
  readonly extend: (score: MarginalScore) => MarginalScore;
}

/**
 * The number of images on each side. With σ ≤ 2L the first omitted image is 14L = 7σ away and
 * contributes less than 10⁻¹⁰.
 */
const IMAGES = 7;

interface Box {
  readonly low: number;
  readonly length: number;
  readonly eventRank: number;
  readonly std: Reflected["std"];
}

/** The transition as a sum of normal densities around the images of x₀, and its score. */
function transitionOf({
  low,
  length,
  eventRank,
  std,
}: Box): Pick<Reflected, "logTransition" | "transitionScore"> {
  /** The displacements of x from all images of x₀, along a new last axis. */
  const displacements = (x: Tensor, x0: Tensor): Tensor => {
    const [from, mirrored] = [sub(x, x0), sub(add(x, x0), 2 * low)];
    const shifts = Array.from({ length: 2 * IMAGES + 1 }, (_, k) => 2 * (k - IMAGES) * length);
    return stack(
      [from, mirrored].flatMap((d) => shifts.map((shift) => add(d, shift))),
      -1,
    );
  };
  /** log φ of each displacement, without the factor 1/(σ√2π), and σ² in the same shape. */
  const exponents = (d: Tensor, t: Tensor): { logits: Tensor; variance: Tensor } => {
    const variance = expandDims(square(alignToEvent(std(t), eventRank)), -1);
    return { logits: div(mul(square(d), -0.5), variance), variance };
  };
  return {
    logTransition: (x, x0, t) => {
      const { logits } = exponents(displacements(x, x0), t);
      const scale = log(mul(alignToEvent(std(t), eventRank), Math.sqrt(2 * Math.PI)));
      return sumEvent(sub(logSumExp(logits, -1), scale), eventRank);
    },
    transitionScore: (x, x0, t) => {
      const d = displacements(x, x0);
      const { logits, variance } = exponents(d, t);
      return sum(mul(softmax(logits, -1), neg(div(d, variance))), -1);
    },
  };
}

/**
 * Reflected Brownian motion on a box. Its noise grows geometrically, as in `ve`, until X is uniform
 * up to e^{−½π²σ²}, which is 10⁻⁵ at σ = 1.5.
 *
 * @throws DiffeoError of kind `usage` if the box is empty, or unless 0 < `sigmaMin` < `sigmaMax` ≤
 * 2
 * @example
 * import { compile } from "diffeo/engine";
 * import { key } from "diffeo/random";
 *
 * const { sde, extend, fold } = reflected();
 * // Replace the product by a network of x and t, on the box.
 * const process = reverse(sde, extend((x) => mul(x, 0)));
 * const { samples } = await sample(process, { shape: [2], count: 100, key: key(1) });
 * const inside = await compile(fold, [[100, 2]])(samples);
 */
export function reflected({
  low = 0,
  high = 1,
  sigmaMin = 0.01,
  sigmaMax = 1.5,
  eventRank = 1,
}: ReflectedOptions = {}): Reflected {
  const length = high - low;
  if (!(length > 0 && length < Infinity))
    fail(
      "usage",
      `reflected: \`low\` is ${low} and \`high\` is ${high}`,
      "give finite numbers with low < high",
    );
  if (!(sigmaMin > 0 && sigmaMax > sigmaMin && sigmaMax <= 2))
    fail(
      "usage",
      `reflected: \`sigmaMin\` is ${sigmaMin} and \`sigmaMax\` is ${sigmaMax}`,
      "use 0 < sigmaMin < sigmaMax ≤ 2",
    );
  const logRatio = Math.log(sigmaMax / sigmaMin);
  const std = (t: Tensor): Tensor => mul(sqrt(expm1(mul(t, 2 * logRatio))), sigmaMin * length);

  /** z in lengths from `low`, in [−1, 1) up to the period 2. */
  const wrapped = (z: Tensor): Tensor => {
    const u = mul(sub(z, low), 1 / length);
    return sub(u, mul(floor(mul(add(u, 1), 0.5)), 2));
  };
  const fold = (z: Tensor): Tensor => add(mul(abs(wrapped(z)), length), low);

  return {
    sde: {
      name: "reflected Brownian motion",
      eventRank,
      horizon: 1,
      drift: (x) => zerosLike(x),
      diffusion: (_, t) => ({
        kind: "scalar",
        value: mul(exp(mul(t, logRatio)), sigmaMin * length * Math.sqrt(2 * logRatio)),
      }),
      prior: {
        sample: (keys, event, dtype) => uniform(keys, event, { low, high, dtype }),
        logDensity: (x) => sumEvent(fill(x.shape, -Math.log(length), x.dtype), eventRank),
      },
    },
    fold,
    std,
    ...transitionOf({ low, length, eventRank, std }),
    extend: (score) => (z, t) => {
      const side = where(less(wrapped(z), 0), neg(onesLike(z)), onesLike(z));
      return mul(side, score(fold(z), t));
    },
  };
}
