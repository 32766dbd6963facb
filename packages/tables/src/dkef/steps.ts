/**
 * The graphs of a fit, compiled once for a dataset's sizes and a loss:
 *
 *   train     200 points: α from the first half, the loss on the second, an Adam step on all parameters through α
 *   gradient  the gradient of that loss
 *   validate  α from random training points, then the loss on the validation set
 *   exact     exact score matching on the validation set, for a given α
 *   equations sums of G and b over points
 *   ridge     one Adam step on log λ alone, α(λ) from the eigenvectors of G
 */

import { type Compiled, compile } from "diffeo/engine";
import {
  add,
  backward,
  cast,
  div,
  exp,
  expandDims,
  fill,
  leavesOf,
  matmul,
  mean,
  mul,
  type NdArray,
  neg,
  type Shape,
  slice,
  sqrt,
  squaredNorm,
  squeeze,
  type Tensor,
  valueAndGrad,
} from "diffeo/graph";
import { type Closable, disposable } from "diffeo/host";
import { type Draws, drawShapes, lossOf, type Objective, scoreMatching } from "diffeo/matching";
import {
  type Dkef,
  dkefScore,
  type NormalEquations,
  normalEquations,
  solveAlpha,
  trainedAlpha,
} from "diffeo/model";
import { type AdamState, adam, clipFactor, flatten, flattenTensors, unflatten } from "diffeo/train";

export interface FitSizes {
  readonly n: number;
  /** Points per step; even. */
  readonly batch: number;
  /** Points that give α for validation. */
  readonly points: number;
  readonly validation: number;
  /** Points per step of the ridge. */
  readonly ridgeBatch: number;
}

/** Compiled steps of a fit: training, validation and the final solve. */
export interface FitSteps extends Closable {
  readonly train: Compiled<
    [AdamState<Tensor>, Tensor, Draws<Tensor>, Draws<Tensor>, Tensor],
    { state: AdamState<Tensor>; loss: Tensor }
  >;
  readonly gradient: Compiled<[Tensor, Tensor, Draws<Tensor>, Draws<Tensor>], Tensor>;
  readonly validate: Compiled<
    [Tensor, Tensor, Draws<Tensor>, Tensor, Draws<Tensor>],
    { loss: Tensor; alpha: Tensor }
  >;
  readonly exact: Compiled<[Tensor, Tensor, Tensor], Tensor>;
  readonly equations: Compiled<[Tensor, Tensor, Draws<Tensor>], NormalEquations<Tensor>>;
  readonly ridge: Compiled<
    [Tensor, RidgeSystem<Tensor>, AdamState<Tensor>, Tensor, Draws<Tensor>, Tensor],
    { state: AdamState<Tensor>; loss: Tensor }
  >;
  dispose(): Promise<void>;
}

/** G = V diag(e) Vᵀ and c = Vᵀb, so that α(λ) = −V (c/(e + λ)) for every λ. */
interface RidgeSystem<T> {
  readonly vectors: T;
  readonly values: T;
  readonly projected: T;
}

export interface FitRates {
  readonly rate: number;
  readonly clip: number;
  readonly ridgeRate: number;
}

export const parametersOf = (theta: Tensor, like: Dkef<NdArray>): Dkef<Tensor> =>
  unflatten(theta, like) as unknown as Dkef<Tensor>;

/** α(λ) = −V (c/(e + λ)), in float64. */
function ridgeAlpha(
  { vectors, values, projected }: RidgeSystem<Tensor>,
  logLambda: Tensor,
): Tensor {
  const lambda = exp(mul(cast(logLambda, "float64"), Math.LN10));
  return neg(squeeze(matmul(vectors, expandDims(div(projected, add(values, lambda)), -1)), -1));
}

/** The inputs of every graph of a fit. */
interface Parts {
  readonly objective: Objective;
  readonly like: Dkef<NdArray>;
  readonly sizes: FitSizes;
  readonly rates: FitRates;
  /** Number of values in all parameters. */
  readonly size: number;
}

const options = { threads: 1 } as const;
const stepDraws = ({ objective, sizes }: Parts, count: number) =>
  drawShapes(objective.draws(sizes.n), [count]);
const stateShapes = (count: number) => ({ theta: [count], m: [count], v: [count] });

/** The loss on the second half of a batch with α from the first, and its gradient through α. */
function descent({ objective, like, sizes: { batch } }: Parts) {
  const half = batch / 2;
  return (theta: Tensor, x: Tensor, first: Draws<Tensor>, second: Draws<Tensor>) => {
    const p = parametersOf(theta, like);
    const alpha = trainedAlpha(
      normalEquations(p, objective, slice(x, [0, half]), first),
      p.logLambda,
    );
    const loss = mean(lossOf(objective)(dkefScore(p, alpha), slice(x, [half, batch]), second));
    const gradients = backward([loss], [fill([], 1, loss.dtype)], leavesOf(p)) as Tensor[];
    return { loss, gradient: flattenTensors(gradients) };
  };
}

function trainStep(parts: Parts): FitSteps["train"] {
  const { sizes, rates, size } = parts;
  const { n, batch } = sizes;
  const of = descent(parts);
  return compile(
    (
      before: AdamState<Tensor>,
      x: Tensor,
      first: Draws<Tensor>,
      second: Draws<Tensor>,
      step: Tensor,
    ) => {
      const { loss, gradient } = of(before.theta, x, first, second);
      const c = clipFactor(sqrt(squaredNorm(gradient)), rates.clip);
      return { state: adam(before, gradient, step, fill([], rates.rate, x.dtype), {}, c), loss };
    },
    [stateShapes(size), [batch, n], stepDraws(parts, batch / 2), stepDraws(parts, batch / 2), []],
    options,
  );
}

function gradientStep(parts: Parts): FitSteps["gradient"] {
  const { n, batch } = parts.sizes;
  const of = descent(parts);
  return compile(
    (theta: Tensor, x: Tensor, first: Draws<Tensor>, second: Draws<Tensor>) =>
      of(theta, x, first, second).gradient,
    [[parts.size], [batch, n], stepDraws(parts, batch / 2), stepDraws(parts, batch / 2)],
    options,
  );
}

function validateStep(parts: Parts): FitSteps["validate"] {
  const { objective, like, sizes, size } = parts;
  const { n, points, validation } = sizes;
  return compile(
    (theta: Tensor, x: Tensor, draws: Draws<Tensor>, y: Tensor, second: Draws<Tensor>) => {
      const p = parametersOf(theta, like);
      const alpha = solveAlpha(normalEquations(p, objective, x, draws), p.logLambda);
      return { loss: mean(lossOf(objective)(dkefScore(p, alpha), y, second)), alpha };
    },
    [[size], [points, n], stepDraws(parts, points), [validation, n], stepDraws(parts, validation)],
    options,
  );
}

function exactStep({ like, sizes, size }: Parts): FitSteps["exact"] {
  return compile(
    (theta: Tensor, alpha: Tensor, y: Tensor) =>
      mean(lossOf(scoreMatching())(dkefScore(parametersOf(theta, like), alpha), y, {})),
    [[size], [like.inducing.shape[0]], [sizes.validation, sizes.n]],
    options,
  );
}

function equationsStep({ objective, like, sizes, size }: Parts): FitSteps["equations"] {
  return compile(
    (theta: Tensor, x: Tensor, draws: Draws<Tensor>) => {
      const { g, b } = normalEquations(parametersOf(theta, like), objective, x, draws);
      return { g, b };
    },
    [[size], [null, sizes.n], drawShapes(objective.draws(sizes.n), [null])],
    options,
  );
}

function ridgeStep(parts: Parts): FitSteps["ridge"] {
  const { objective, like, sizes, rates, size } = parts;
  const [inducing] = like.inducing.shape;
  const double = (shape: Shape) => ({ shape, dtype: "float64" as const });
  return compile(
    (
      theta: Tensor,
      system: RidgeSystem<Tensor>,
      before: AdamState<Tensor>,
      x: Tensor,
      draws: Draws<Tensor>,
      step: Tensor,
    ) => {
      const p = parametersOf(theta, like);
      const value = (logLambda: Tensor): Tensor => {
        const alpha = cast(ridgeAlpha(system, squeeze(logLambda, 0)), x.dtype);
        return mean(lossOf(objective)(dkefScore(p, alpha), x, draws));
      };
      const [found, gradient] = valueAndGrad(value)(before.theta);
      return {
        state: adam(before, gradient, step, fill([], rates.ridgeRate, x.dtype)),
        loss: found,
      };
    },
    [
      [size],
      {
        vectors: double([inducing, inducing]),
        values: double([inducing]),
        projected: double([inducing]),
      },
      stateShapes(1),
      [sizes.ridgeBatch, sizes.n],
      stepDraws(parts, sizes.ridgeBatch),
      [],
    ],
    options,
  );
}

/** Compiles the steps of a fit. */
export function fitSteps(
  objective: Objective,
  like: Dkef<NdArray>,
  sizes: FitSizes,
  rates: FitRates,
): FitSteps {
  const parts: Parts = { objective, like, sizes, rates, size: flatten(like).length };
  const steps = {
    train: trainStep(parts),
    gradient: gradientStep(parts),
    validate: validateStep(parts),
    exact: exactStep(parts),
    equations: equationsStep(parts),
    ridge: ridgeStep(parts),
  };
  return {
    ...steps,
    ...disposable(async () => {
      await Promise.all(Object.values(steps).map((step) => step.dispose()));
    }),
  };
}
