/** Training of the small networks of studies: Adam, a warm-up, and the average of parameters. */
import { constant, type NdArray, type Shape, type Tensor } from "diffeo/graph";
import type { Parameters } from "diffeo/model";
import { compileStep, initialState, rateAt, unflatten } from "diffeo/train";
import type { TaskContext } from "./study.ts";

/** What is trained, on what, and for how long. */
export interface SmallTraining<B extends readonly Tensor[]> {
  /** The mean loss of a batch. */
  readonly loss: (parameters: Parameters<Tensor>, ...batch: B) => Tensor;
  /** Parameters to start from. */
  readonly init: Parameters<NdArray>;
  /** The shape of each array of a batch. */
  readonly shapes: { readonly [K in keyof B]: Shape };
  /** The batch of step i, i = 1 … steps. */
  readonly batch: (i: number) => readonly NdArray[] | Promise<readonly NdArray[]>;
  readonly steps: number;
  /** The greatest learning rate. Default 2·10⁻³. */
  readonly peak?: number;
  /** The share of the task that this training is, from and to. Default 0 to 0.9. */
  readonly span?: readonly [number, number];
}

/** Parameters after training: their moving average, as constants in float64. */
export async function trainSmall<B extends readonly Tensor[]>(
  training: SmallTraining<B>,
  { report, signal }: TaskContext,
): Promise<Parameters<Tensor>> {
  const { loss, init, shapes, batch, steps, peak = 2e-3, span: [from, to] = [0, 0.9] } = training;
  // One thread: tasks share the machine, and the steps of a small network gain nothing by more.
  const step = compileStep(loss, init, shapes as never, { threads: 1, emaDecay: 0.995 });
  const schedule = { peak, warmup: 100, steps };
  let state = initialState(init);
  for (let i = 1; i <= steps; i++) {
    signal?.throwIfAborted();
    const next = await step(state, (await batch(i)) as never, i, rateAt(i, schedule));
    state = next.state as typeof state;
    if (i % 100 === 0) report(from + ((to - from) * i) / steps);
  }
  await step.dispose();
  const theta = state.ema.data as Float32Array;
  return unflatten(constant(theta, "float64"), init) as Parameters<Tensor>;
}
