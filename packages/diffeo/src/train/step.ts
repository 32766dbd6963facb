/**
 * One training step as one graph: loss and gradient, clipping by the global norm, Adam with
 * decoupled weight decay, and the exponential moving average of the parameters that sampling uses.
 * State goes in and comes out as flat vectors.
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
import { muon as muonStep } from "./muon.ts";

/** Parameters, their moving average, and the state of Adam. */
export interface TrainState<T> extends AdamState<T> {
  /** Moving average of theta. */
  readonly ema: T;
}

/** How a step of training clips, averages and updates. */
export interface StepOptions extends AdamOptions, CompileOptions {
  /** Largest global norm of a gradient. Default 1. */
  readonly clip?: number;
  /** Decay of the moving average once training has gone on for a while. Default 0.9995. */
  readonly emaDecay?: number;
  /**
   * Moves matrices of at least 8 by 8 by Muon instead of Adam, at the rate of the step times this
   * factor. Other arrays keep Adam. Default 0: Adam for all.
   */
  readonly muon?: number;
}

/** What a step of training returns: the new state and its loss. */
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

/** State of a run that has not begun. */
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

/**
 * Compiles the step of a loss that is a function of parameters (a tree like `parameters`) and of a
 * batch.
 */
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
      // With respect to the pieces, not the vector: the pieces' gradients then simply stand side by
      // side.
      const pieces = leavesOf(p);
      const gradients = backward([value], [fill([], 1, value.dtype)], pieces);
      const gradient = flattenTensors(gradients.map((g, i) => g ?? mul(pieces[i], 0)));
      const norm = sqrt(sum(mul(gradient, gradient)));
      const byAdam = adam(state, gradient, step, rate, rest, clipFactor(norm, clip));
      const shapes = pieces.map(({ shape }) => shape);
      const next = muon === 0 ? byAdam : muonStep(state, byAdam, gradient, mul(rate, muon), shapes);
      // A young average follows closely: decay min(d, (1 + s)/(10 + s)).
      const decay = minimum(div(add(step, 1), add(step, 10)), emaDecay);
      const ema = add(next.theta, mul(sub(state.ema, next.theta), decay));
      return { state: { ...next, ema }, loss: value, norm };
    },
    [vectors, batch, [], []],
    { ...rest, keep: ["state", "loss", "norm"] },
  );
}
