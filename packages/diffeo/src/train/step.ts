/**
 * A training step as one graph: loss and gradient, clipping by the global norm, Adam with decoupled
 * weight decay, and an exponential moving average of the parameters, for sampling. The state
 * consists of flat vectors.
 */
import { type Compiled, type CompileOptions, compile, type OpenSpecs } from "../engine/index.ts";
import {
  add,
  backward,
  div,
  fill,
  leavesOf,
  minimum,
  mul,
  type NdArray,
  sqrt,
  sub,
  sum,
  type Tensor,
} from "../graph/index.ts";
import { type AdamOptions, type AdamState, adam } from "./adam.ts";
import { clipFactor } from "./clip.ts";
import { flatten, flattenTensors, unflatten } from "./flat.ts";
import { muon as muonStep, parameterGroups } from "./muon.ts";

/** The state of training: parameters, their moving average, and the state of Adam. */
export interface TrainState<T> extends AdamState<T> {
  /** Moving average of theta. */
  readonly ema: T;
}

/** Options of `compileStep`. */
export interface StepOptions extends AdamOptions, CompileOptions {
  /** The greatest global norm of a gradient, above which it is clipped. Default 1. */
  readonly clip?: number;
  /** The decay of the moving average; less in the first steps. Default 0.9995. */
  readonly emaDecay?: number;
  /**
   * Uses Muon for matrices of at least 8 by 8, at the rate of the step times this factor, and Adam
   * for other arrays. Default 0: Adam for all.
   */
  readonly muon?: number;
}

/** The result of a training step: the new state, the loss and the gradient norm. */
export interface StepResult<T> {
  readonly state: TrainState<T>;
  readonly loss: T;
  /** Global norm of the gradient before clipping. */
  readonly norm: T;
}

/** A compiled step of training. */
export type Step<B extends readonly unknown[]> = Compiled<
  [state: TrainState<Tensor>, batch: B, step: Tensor, rate: Tensor],
  StepResult<Tensor>
>;

/** The initial state of training, from initial parameters. */
export function initialState(parameters: unknown): TrainState<NdArray> {
  const theta = flatten(parameters);
  const vector = (data: Float32Array): NdArray => ({
    shape: [data.length],
    dtype: "float32",
    data,
  });
  const zeros = (): NdArray => vector(new Float32Array(theta.length));
  return { theta: vector(theta), m: zeros(), v: zeros(), ema: vector(theta) };
}

/** Compiles the training step of a loss, which is a function of the parameters and a batch. */
export function compileStep<P, B extends readonly unknown[]>(
  loss: (parameters: P, ...batch: B) => Tensor,
  parameters: unknown,
  batch: OpenSpecs<B>,
  options: StepOptions = {},
): Step<B> {
  const { clip = 1, emaDecay = 0.9995, muon = 0, ...rest } = options;
  const size = flatten(parameters).length;
  const vectors = { theta: [size], m: [size], v: [size], ema: [size] };
  return compile(
    (state: TrainState<Tensor>, data: B, step: Tensor, rate: Tensor): StepResult<Tensor> => {
      const p = unflatten(state.theta, parameters) as P;
      const value = loss(p, ...data);
      // With respect to the arrays and not the flat vector, so that gradients are concatenated.
      const pieces = leavesOf(p);
      const gradients = backward([value], [fill([], 1, value.dtype)], pieces);
      const gradient = flattenTensors(gradients.map((g, i) => g ?? mul(pieces[i], 0)));
      const norm = sqrt(sum(mul(gradient, gradient)));
      const byAdam = adam(state, gradient, step, rate, rest, clipFactor(norm, clip));
      const groups = parameterGroups(pieces.map(({ shape }) => shape));
      const next = muon === 0 ? byAdam : muonStep(state, byAdam, gradient, mul(rate, muon), groups);
      // In the first steps the decay is less: min(d, (1 + s)/(10 + s)).
      const decay = minimum(div(add(step, 1), add(step, 10)), emaDecay);
      const ema = add(next.theta, mul(sub(state.ema, next.theta), decay));
      return { state: { ...next, ema }, loss: value, norm };
    },
    [vectors, batch, [], []],
    { ...rest, keep: ["state", "loss", "norm"] },
  );
}
