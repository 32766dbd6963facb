/**
 * Ways to train a score, with one network and one budget. A network reads x or y = φ(x) and the
 * noise level; what it gives is the score in x, by one of three forms:
 *
 *   x          s = −x − (m/σ) net(x)                 ‖σs + ε‖²
 *   weighted   the same                              ‖J⁻ᵀ(σs + ε)‖²       (eq:weighted_loss_multidim)
 *   bounded    the same                              that, divided by 1 + ‖J⁻¹‖²_F/(n bound)
 *   y          s = Jᵀ net(y)/σ + ∇log|det J|         ‖J⁻ᵀ(σs + ε)‖²       denoising score matching in y
 *   y-metric   s = −x − (m/σ) net(y)                 ‖σs + ε‖²
 *   posterior  s = (m E[x₀|x] − x)/σ²                −Σ log π             classes of sites alone
 *
 * `y` is denoising score matching of φ(X) with a network that lives in y: both the score of y and
 * its target ∇ log q(y_t | y₀) carry J⁻ᵀ and the gradient of the log-determinant (`pullScore`).
 */
import type { Bijector } from "diffeo/bijector";
import {
  add,
  constant,
  div,
  expandDims,
  fail,
  log,
  logSoftmax,
  matmul,
  mean,
  mul,
  neg,
  reshape,
  softmax,
  square,
  sub,
  sum,
  type Tensor,
} from "diffeo/graph";
import { denoising } from "diffeo/matching";
import { type Network, networkOf, type Parameters, velocityScore } from "diffeo/model";
import { pullScore } from "diffeo/score";
import type { GaussianSde, MarginalScore } from "diffeo/sde";
import { BLOCKS, WIDTH } from "./budget.ts";

/** What is trained on, as losses see it. */
export interface Problem {
  readonly sde: GaussianSde;
  readonly phi: Bijector;
  readonly n: number;
  /** Points of the classes of a site in x, where x₀ is such points. */
  readonly codes?: readonly (readonly number[])[];
}

export const lossNames = ["x", "weighted", "bounded", "y", "y-metric", "posterior"] as const;
export type LossName = (typeof lossNames)[number];

/** The most that J⁻¹ may multiply a squared error with the bounded weight. */
export const BOUND = 100;

export interface Way {
  readonly network: Network;
  readonly score: (parameters: Parameters<Tensor>) => MarginalScore;
  /** The mean loss of a batch. */
  readonly loss: (p: Parameters<Tensor>, x0: Tensor, t: Tensor, noise: Tensor) => Tensor;
}

/** The network of all arms, of so many numbers in and out. */
export const networkFor = (n: number, outputs: number): Network =>
  networkOf({ kind: "residual", channels: n, outputs, width: WIDTH, blocks: BLOCKS });

/** log m²/σ², the level that networks read. */
const levelAt = ({ transition: { meanFactor, std } }: GaussianSde, t: Tensor): Tensor =>
  mul(log(div(meanFactor(t), std(t))), 2);

/** −Σ log π of the classes of x₀, and the score of the posterior mean. */
function posterior({ sde, n, codes: points }: Problem): Way {
  if (!points) fail("usage", "the posterior of classes needs classes", "take the grid");
  const [classes, width] = [points.length, points[0].length];
  const codesLike = ({ dtype }: Tensor): Tensor => constant(points, dtype);
  const sites = n / width;
  const network = networkFor(n, sites * classes);
  const { meanFactor, std } = sde.transition;
  const logits = (p: Parameters<Tensor>, x: Tensor, t: Tensor): Tensor =>
    reshape(network.apply(p, x, levelAt(sde, t)), [...x.shape.slice(0, -1), sites, classes]);
  /** One-hot rows: x₀ is one of the codes, to rounding. */
  const truth = (x0: Tensor): Tensor => {
    const near = sub(reshape(x0, [-1, sites, 1, width]), codesLike(x0));
    return softmax(mul(sum(square(near), -1), -1e4));
  };
  return {
    network,
    score: (p) => (x, t) => {
      const x0 = reshape(matmul(softmax(logits(p, x, t)), codesLike(x)), x.shape);
      const [m, sigma] = [expandDims(meanFactor(t), -1), expandDims(std(t), -1)];
      return div(sub(mul(m, x0), x), square(sigma));
    },
    loss: (p, x0, t, noise) => {
      const x = add(mul(x0, expandDims(meanFactor(t), -1)), mul(noise, expandDims(std(t), -1)));
      return neg(mean(sum(mul(truth(x0), logSoftmax(logits(p, x, t))), [-2, -1])));
    },
  };
}

/** A way to train, by its name. */
export function wayOf(name: LossName, problem: Problem): Way {
  const { sde, phi, n } = problem;
  if (name === "posterior") return posterior(problem);
  const network = networkFor(n, n);
  const inY = name === "y" || name === "y-metric";
  const read = (x: Tensor): Tensor => (inY ? phi.forward(x) : x);
  const score: Way["score"] =
    name === "y"
      ? (p) => (x, t) => {
          const inner = network.apply(p, read(x), levelAt(sde, t));
          return pullScore(phi, x, div(inner, expandDims(sde.transition.std(t), -1)));
        }
      : (p) => velocityScore(sde, (x, level) => network.apply(p, read(x), level));
  const through = name === "x" || name === "y-metric" ? {} : { through: phi };
  const loss = denoising(sde, name === "bounded" ? { ...through, bound: BOUND } : through);
  return { network, score, loss: (p, x0, t, noise) => mean(loss(score(p), x0, t, noise)) };
}
