/**
 * Ways to choose a map T of the plane, w ↦ x = T(w), in whose x a score is trained. Data are w, T
 * is a flow of affine couplings, the network and its training are the same in all:
 *
 *   none      T(w) = w
 *   before    T by maximum likelihood, −log N(T(w)) − log|det J_T(w)|, then the score of T(w)
 *   joint     T and the score at once, by the bound on −log p(w) that diffusions have:
 *               ½ ∫ E‖σs + ε‖² dλ + ½ m(T)²‖T(w)‖² − log|det J_T(w)| + const      x₀ = T(w)
 *             (D. Kim et al., Maximum Likelihood Training of Implicit Nonlinear Diffusion Models,
 *             2022); λ = log(m²/σ²) is uniform in training, so the first term is the mean of
 *             ‖σs + ε‖² times half the range of λ, and the score itself has the loss of the others
 *   sampler   the score of w first; then T⁻¹ by the energy distance between w and T⁻¹(samples of
 *             the sampler with few steps): what is fitted is the sampler's own error
 */

import { type Bijector, invert } from "diffeo/bijector";
import {
  add,
  constant,
  expandDims,
  log,
  mean,
  mul,
  type NdArray,
  sqrt,
  square,
  sub,
  sum,
  type Tensor,
} from "diffeo/graph";
import { rowsOf } from "diffeo/host";
import { denoising } from "diffeo/matching";
import {
  type CouplingFlow,
  couplingFlow,
  networkOf,
  normalised,
  type Parameters,
  velocityScore,
} from "diffeo/model";
import { fold, type Key, normal, uniform } from "diffeo/random";
import type { GaussianSde, MarginalScore } from "diffeo/sde";
import type { TaskContext } from "../study/study.ts";
import { trainSmall } from "../study/train.ts";

export const armNames = ["none", "before", "joint", "sampler"] as const;
export type ArmName = (typeof armNames)[number];

export const TRAINING_POINTS = 25_600;
const BATCH = 256;
const SCORE_STEPS = 2000;
const FLOW_STEPS = 1000;
/** Steps of the sampler whose error `sampler` is fitted to. */
export const FEW_STEPS = 8;

const flow = { channels: 2, couplings: 4, width: 32 } as const;
const flowNetwork = networkOf({ kind: "couplings", ...flow });
const scoreNetwork = networkOf({ kind: "residual", channels: 2, outputs: 2, width: 64, blocks: 2 });

/** T and its log-determinant at w; the identity without a flow. */
const through = (p: Parameters<Tensor> | undefined, w: Tensor) =>
  p && normalised(p as unknown as CouplingFlow<Tensor>, w, flow);

/** What an arm gives: the score in x, and T. */
export interface Trained {
  readonly score: MarginalScore;
  readonly parameters?: Parameters<Tensor>;
}

/** w = T⁻¹(x), a map from the space of the score to that of the data. */
export const mapOf = (p: Parameters<Tensor>): Bijector =>
  invert(couplingFlow(p as unknown as CouplingFlow<Tensor>, flow));

/** What arms are trained with. */
export interface Setting {
  readonly sde: GaussianSde;
  /** Times whose λ are spaced evenly, from the first of training to the horizon. */
  readonly times: Float64Array;
  /** The range of λ over them. */
  readonly range: number;
  readonly points: NdArray;
  readonly root: Key;
  readonly context: TaskContext;
  /** Samples of the process of a score with few steps. */
  readonly fewSteps: (score: MarginalScore, key: Key, count: number) => Promise<NdArray>;
}

const batchOf = (points: NdArray, i: number): NdArray =>
  rowsOf(points, (i * BATCH) % points.shape[0], BATCH);

/** Points, times and noise of a step. */
function noisy({ points, times, root }: Setting, i: number): NdArray[] {
  const t = uniform(fold(fold(root, "times"), i), [BATCH]);
  const last = times.length - 1;
  for (let k = 0; k < BATCH; k++) {
    const at = Number(t.data[k]) * last;
    const j = Math.min(Math.floor(at), last - 1);
    t.data[k] = times[j] + (at - j) * (times[j + 1] - times[j]);
  }
  return [batchOf(points, i), t, normal(fold(fold(root, "noise"), i), [BATCH, 2])];
}

const scoreOf = (sde: GaussianSde, p: Parameters<Tensor>): MarginalScore =>
  velocityScore(sde, (x, level) => scoreNetwork.apply(p, x, level));

type Noisy = readonly [Tensor, Tensor, Tensor];
const NOISY = [[BATCH, 2], [BATCH], [BATCH, 2]] as const;
const POINTS = [[BATCH, 2]] as const;

/** The score of T(w), T fixed. */
async function trainScore(
  setting: Setting,
  fixed: Parameters<Tensor> | undefined,
  span: readonly [number, number],
): Promise<MarginalScore> {
  const { sde, root, context } = setting;
  const loss = denoising(sde);
  const p = await trainSmall<Noisy>(
    {
      init: scoreNetwork.init(fold(root, "parameters")),
      loss: (q, w, t, noise) => mean(loss(scoreOf(sde, q), through(fixed, w)?.x ?? w, t, noise)),
      shapes: NOISY,
      batch: (i) => noisy(setting, i),
      steps: SCORE_STEPS,
      span,
    },
    context,
  );
  return scoreOf(sde, p);
}

/** −log N(T(w)) − log|det J_T(w)|, but for a constant. */
const gaussianLoss = (p: Parameters<Tensor>, w: Tensor): Tensor => {
  const { x, logDet } = normalised(p as unknown as CouplingFlow<Tensor>, w, flow);
  return mean(sub(mul(sum(square(x), -1), 0.5), logDet));
};

const trainFlow = ({ points, root, context }: Setting): Promise<Parameters<Tensor>> =>
  trainSmall<readonly [Tensor]>(
    {
      init: flowNetwork.init(fold(root, "flow")),
      loss: gaussianLoss,
      shapes: POINTS,
      batch: (i) => [batchOf(points, i)],
      steps: FLOW_STEPS,
      span: [0, 0.2],
    },
    context,
  );

async function trainJointly(setting: Setting): Promise<Trained> {
  const { sde, range, root, context } = setting;
  const loss = denoising(sde);
  const end = constant(sde.horizon, "float32");
  const p = await trainSmall<Noisy>(
    {
      init: {
        score: scoreNetwork.init(fold(root, "parameters")),
        flow: flowNetwork.init(fold(root, "flow")),
      },
      loss: (q, w, t, noise) => {
        const { score, flow: own } = q as Record<string, Parameters<Tensor>>;
        const { x, logDet } = normalised(own as unknown as CouplingFlow<Tensor>, w, flow);
        const bound = mul(loss(scoreOf(sde, score), x, t, noise), range / 2);
        const prior = mul(sum(square(x), -1), mul(square(sde.transition.meanFactor(end)), 0.5));
        return mean(sub(add(bound, prior), logDet));
      },
      shapes: NOISY,
      batch: (i) => noisy(setting, i),
      steps: SCORE_STEPS,
    },
    context,
  );
  const { score, flow: parameters } = p as Record<string, Parameters<Tensor>>;
  return { score: scoreOf(sde, score), parameters };
}

/** Σ‖aᵢ − bⱼ‖ over pairs. Smooth at 0, where a point meets itself. */
function distances(a: Tensor, b: Tensor): Tensor {
  const apart = square(sub(expandDims(a, 1), expandDims(b, 0)));
  return sum(sum(sqrt(add(sum(apart, -1), 1e-8)), -1), -1);
}

/** 2 E‖a − w‖ − E‖a − a′‖, unbiased, but for a constant. */
function energyLoss(a: Tensor, w: Tensor): Tensor {
  const between = mul(distances(a, w), 2 / BATCH ** 2);
  return sub(between, mul(distances(a, a), 1 / (BATCH * (BATCH - 1))));
}

async function trainForSampler(setting: Setting): Promise<Trained> {
  const { points, root, context, fewSteps } = setting;
  const score = await trainScore(setting, undefined, [0, 0.6]);
  const samples = await fewSteps(score, fold(root, "few steps"), TRAINING_POINTS);
  const parameters = await trainSmall<readonly [Tensor, Tensor]>(
    {
      init: flowNetwork.init(fold(root, "flow")),
      loss: (p, x, w) => energyLoss(mapOf(p).forward(x), w),
      shapes: [
        [BATCH, 2],
        [BATCH, 2],
      ],
      batch: (i) => [batchOf(samples, i), batchOf(points, i)],
      steps: FLOW_STEPS,
      span: [0.6, 0.9],
    },
    context,
  );
  return { score, parameters };
}

/** Trains by one arm. */
export async function trainArm(name: ArmName, setting: Setting): Promise<Trained> {
  if (name === "none") return { score: await trainScore(setting, undefined, [0, 0.9]) };
  if (name === "joint") return trainJointly(setting);
  if (name === "sampler") return trainForSampler(setting);
  const parameters = await trainFlow(setting);
  return { score: await trainScore(setting, parameters, [0.2, 0.9]), parameters };
}

/** λ = log(m²/σ²) at t. */
export const levelAt = ({ transition: { meanFactor, std } }: GaussianSde, t: Tensor): Tensor =>
  mul(sub(log(meanFactor(t)), log(std(t))), 2);
