/**
 * A network as the score of noised codes. A site of class k is the code point c_k, and x_t = m(t)
 * x₀ + σ(t) ε. The output of the network gives a mean of x₀ and a score s, which are related by
 * Tweedie's formula, s = (m x̂₀ − x)/σ²:
 *
 *              output          x̂₀              s                 plain loss
 *   noise      ε̂(x, t)         (x − σε̂)/m      −ε̂/σ              ‖ε̂ − ε‖²
 *   score      ŝ(x, t)         (x + σ²ŝ)/m     ŝ                 ‖σŝ + ε‖²
 *   x0         x̂₀(x, t)        x̂₀              (m x̂₀ − x)/σ²     ‖x̂₀ − x₀‖²
 *   posterior  p̂(k | x, t)     Σₖ p̂ₖ c_k       (m x̂₀ − x)/σ²     −log p̂(k₀), cross-entropy
 *
 * A weighted loss uses the score alone and is the same for all four: the error of s is measured on
 * the simplex, σ²‖J_{φ⁻¹}ᵀ(s + ε/σ)‖² (eq:weighted_loss_multidim), as in `denoising` of
 * diffeo/matching. J is block diagonal, so this is a sum over sites. A bound applies to each site
 * separately, so that a site near the boundary does not outweigh the others. Like any weight of
 * (x_t, t) it keeps the minimiser, the true score. For the posterior it replaces cross-entropy.
 */
import { alignToEvent, type Bijector } from "../bijector/index.ts";
import {
  add,
  constant,
  div,
  dot,
  expand,
  fail,
  logSoftmax,
  matmul,
  mean,
  mul,
  type NdArray,
  neg,
  oneHot,
  softmax,
  square,
  sub,
  type Tensor,
  take,
} from "../graph/index.ts";
import { denoising } from "../matching/index.ts";
import type { Network, Parameters } from "../model/index.ts";
import type { GaussianSde, MarginalScore } from "../sde/index.ts";
import { type KnownClasses, logLikelihoods, withKnown } from "./evidence.ts";

/** A point x = m x₀ + σε of the batch; m and σ broadcast against it. */
interface Noisy {
  readonly x: Tensor;
  readonly m: Tensor;
  readonly sigma: Tensor;
  /** [classes, n] */
  readonly codes: Tensor;
}

/** The classes, x₀ and noise that x was made from. */
interface Truth {
  readonly classes: Tensor;
  readonly x0: Tensor;
  readonly noise: Tensor;
}

interface Convention {
  /** Channels of the output. */
  readonly outputs: (classes: number, n: number) => number;
  /** x̂₀, from the output. */
  readonly mean: (out: Tensor, at: Noisy) => Tensor;
  /** s */
  readonly score: (out: Tensor, at: Noisy) => Tensor;
  /** The plain loss, averaged over the batch. */
  readonly loss: (out: Tensor, at: Noisy, truth: Truth) => Tensor;
}

const channels = (_: number, n: number): number => n;
const tweedie = (x0: Tensor, { x, m, sigma }: Noisy): Tensor =>
  div(sub(mul(m, x0), x), square(sigma));
const expectedCode = (logits: Tensor, { codes }: Noisy): Tensor => matmul(softmax(logits), codes);

/** The meanings of a network's output, by name. */
export const parameterisations = {
  noise: {
    outputs: channels,
    mean: (noise, { x, m, sigma }) => div(sub(x, mul(sigma, noise)), m),
    score: (noise, { sigma }) => neg(div(noise, sigma)),
    loss: (noise, _, truth) => mean(square(sub(noise, truth.noise))),
  },
  score: {
    outputs: channels,
    mean: (score, { x, m, sigma }) => div(add(x, mul(square(sigma), score)), m),
    score: (score) => score,
    loss: (score, { sigma }, { noise }) => mean(square(add(mul(sigma, score), noise))),
  },
  x0: {
    outputs: channels,
    mean: (x0) => x0,
    score: tweedie,
    loss: (x0, _, truth) => mean(square(sub(x0, truth.x0))),
  },
  posterior: {
    outputs: (classes) => classes,
    mean: expectedCode,
    score: (logits, at) => tweedie(expectedCode(logits, at), at),
    loss: (logits, _, { classes }) =>
      neg(
        mean(dot(oneHot(classes, logits.shape.at(-1) as number, logits.dtype), logSoftmax(logits))),
      ),
  },
} as const satisfies Readonly<Record<string, Convention>>;

/** The meaning of a network's output. */
export type Parameterisation = keyof typeof parameterisations;

/** The input of a network: the point x_t, or the log-likelihoods of its classes. */
export type Sees = "points" | "likelihoods";

/** A network with the meaning of its output. It gives score, mean and posterior of grids. */
export interface Denoiser {
  readonly network: Network;
  /** Default points. */
  readonly sees?: Sees;
  readonly parameterisation: Parameterisation;
  /** Code points in standardised coordinates, [classes, n]. */
  readonly codes: NdArray;
  /** φ of one site. */
  readonly site: Bijector;
  readonly sde: GaussianSde;
}

/**
 * The weights of errors of the score in a loss: none, the Jacobian, or the Jacobian with a bound.
 */
export const weights = ["none", "jacobian", "bounded"] as const;

/**
 * The default bound, near which the weight of a site begins to saturate. Weights of chess data are
 * 2·10³ on an empty square and 3·10⁴ on a piece; those of noise reach 10¹⁴.
 */
export const BOUND = 1e4;

/** How the errors of sites are weighted. */
export interface LossOptions {
  /** Default `none`: the plain loss of the parameterisation. */
  readonly weight?: (typeof weights)[number];
  /**
   * For `bounded`: the largest factor of a site's squared error, on average over directions.
   * Default `BOUND`.
   */
  readonly bound?: number;
}

/** m(t) and σ(t), to multiply grids by. */
const levels = (
  { sde: { transition, eventRank } }: Denoiser,
  t: Tensor,
): Pick<Noisy, "m" | "sigma"> => ({
  m: alignToEvent(transition.meanFactor(t), eventRank),
  sigma: alignToEvent(transition.std(t), eventRank),
});

const noisyAt = (denoiser: Denoiser, x: Tensor, t: Tensor): Noisy => ({
  x,
  ...levels(denoiser, t),
  codes: constant(denoiser.codes, x.dtype),
});

/**
 * The output of the network for x [batch, ...grid, n] and t of shape [] or [batch]. A network of
 * likelihoods predicts a site from the other sites; the site's own likelihood is added.
 */
function outputAt(
  denoiser: Denoiser,
  parameters: Parameters<Tensor>,
  x: Tensor,
  t: Tensor,
  known?: KnownClasses,
): Tensor {
  const { network, sees, codes } = denoiser;
  const each = expand(t, x.shape.slice(0, 1));
  if (sees !== "likelihoods") return network.apply(parameters, x, each);
  const noised = logLikelihoods(x, constant(codes, x.dtype), levels(denoiser, t));
  const seen = known ? withKnown(noised, known) : noised;
  return add(network.apply(parameters, seen, each), seen);
}

/** ∇ log p_t with the given parameters; of p_t given `known` if the network sees likelihoods. */
export const denoiserScore =
  (denoiser: Denoiser, parameters: Parameters<Tensor>, known?: KnownClasses): MarginalScore =>
  (x, t) =>
    parameterisations[denoiser.parameterisation].score(
      outputAt(denoiser, parameters, x, t, known),
      noisyAt(denoiser, x, t),
    );

/** E[x₀ | x_t] with the given parameters. */
export const denoiserMean =
  (denoiser: Denoiser, parameters: Parameters<Tensor>): MarginalScore =>
  (x, t) =>
    parameterisations[denoiser.parameterisation].mean(
      outputAt(denoiser, parameters, x, t),
      noisyAt(denoiser, x, t),
    );

/**
 * The logits of the classes of every site as a function of (x, t), for a network that predicts
 * them.
 */
function classLogits(
  denoiser: Denoiser,
  parameters: Parameters<Tensor>,
  known?: KnownClasses,
): (x: Tensor, t: Tensor) => Tensor {
  if (denoiser.parameterisation !== "posterior")
    fail(
      "usage",
      `a network that predicts ${denoiser.parameterisation} has no class probabilities`,
      'use its score or mean, or train a network with the parameterisation "posterior"',
    );
  return (x, t) => outputAt(denoiser, parameters, x, t, known);
}

/** p(k | x_t) of every site and class, for a network that predicts it. */
export const denoiserPosterior = (
  denoiser: Denoiser,
  parameters: Parameters<Tensor>,
): ((x: Tensor, t: Tensor) => Tensor) => {
  const logits = classLogits(denoiser, parameters);
  return (x, t) => softmax(logits(x, t));
};

/**
 * log p(k | x_t), accurate for small probabilities; also given `known` if the inputs of the network
 * are likelihoods.
 */
export const denoiserLogPosterior = (
  denoiser: Denoiser,
  parameters: Parameters<Tensor>,
  known?: KnownClasses,
): ((x: Tensor, t: Tensor) => Tensor) => {
  const logits = classLogits(denoiser, parameters, known);
  return (x, t) => logSoftmax(logits(x, t));
};

/**
 * The denoising loss of a batch: classes [batch, ...grid], times [batch], noise [batch, ...grid,
 * n]; `known` [batch, ...grid] marks sites whose classes are inputs of a network of likelihoods.
 */
export function denoiserLoss(
  denoiser: Denoiser,
  parameters: Parameters<Tensor>,
  classes: Tensor,
  t: Tensor,
  noise: Tensor,
  { weight = "none", bound = BOUND }: LossOptions = {},
  known?: Tensor,
): Tensor {
  const { sde, site, parameterisation, codes } = denoiser;
  const x0 = take(constant(codes, noise.dtype), classes);
  if (weight === "none") {
    const { m, sigma } = levels(denoiser, t);
    const at = noisyAt(denoiser, add(mul(m, x0), mul(sigma, noise)), t);
    const given = known && { classes, mask: known };
    const out = outputAt(denoiser, parameters, at.x, t, given);
    return parameterisations[parameterisation].loss(out, at, { classes, x0, noise });
  }
  // For a map of one site, the axes of the grid are batch axes.
  const loss = denoising(
    { ...sde, eventRank: 1 },
    { through: site, ...(weight === "bounded" && { bound }) },
  );
  const perSite = loss(
    (x) => denoiserScore(denoiser, parameters)(x, t),
    x0,
    alignToEvent(t, sde.eventRank - 1),
    noise,
  );
  return mul(mean(perSite), 1 / codes.shape[1]);
}
