/** Training and measures of the arms of processes.ts: the same data, budget and distances. */
import { sampleFrom } from "diffeo/distribution";
import { compile } from "diffeo/engine";
import {
  expandDims,
  mul,
  type NdArray,
  square,
  sub,
  sum,
  type Tensor,
  unexpanded,
} from "diffeo/graph";
import { rowsOf } from "diffeo/host";
import { fold, type Key, normal, uniform } from "diffeo/random";
import { sample } from "diffeo/sampler";
import { type MarginalScore, type ReverseProcess, reverse } from "diffeo/sde";
import { threeGaussians } from "../problem/mixture.ts";
import type { TaskContext } from "../study/study.ts";
import { trainSmall } from "../study/train.ts";
import type { Arm } from "./arm.ts";
import {
  BATCH,
  engine,
  HELD_OUT,
  SAMPLES,
  STEPS,
  TRAINING_POINTS,
  TRAINING_STEPS,
} from "./budget.ts";
import { networkFor, type Problem } from "./losses.ts";
import { logDensityAt } from "./marginal.ts";
import { lostNats } from "./measure.ts";
import { armOf, type ProcessName } from "./processes.ts";

const single = ({ shape, data }: NdArray): NdArray => ({
  shape,
  dtype: "float32",
  data: Float32Array.from(data as Float64Array),
});

const double = ({ shape, data }: NdArray): NdArray => ({
  shape,
  dtype: "float64",
  data: Float64Array.from(data as Float32Array),
});

/** f of one array, once. */
async function once(f: (x: Tensor) => Tensor, x: NdArray): Promise<NdArray> {
  const graph = compile(f, [x.shape], engine);
  const value = await graph(x);
  await graph.dispose();
  return value;
}

/** States at times of rows, from their u₀. */
interface Noiser {
  readonly at: (start: NdArray, t: NdArray, own: Key) => Promise<NdArray>;
  readonly dispose: () => Promise<void>;
}

export function noiserOf({ noised, inputs, outputs }: Arm, rows: number): Noiser {
  if (noised.kind === "host")
    return { at: async (start, t, own) => noised.of(start, t, own), dispose: async () => {} };
  const graph = compile(noised.of, [[rows, outputs], [rows], [rows, inputs]], engine);
  return {
    at: (start, t, own) => graph(start, t, normal(own, [rows, inputs], { dtype: "float64" })),
    dispose: () => graph.dispose(),
  };
}

/** The process that runs an arm backwards, with its score after training. */
async function trained(
  arm: Arm,
  points: NdArray,
  root: Key,
  context: TaskContext,
): Promise<ReverseProcess> {
  const { sde, inputs, outputs, timeAt, read, form, target, full } = arm;
  const network = networkFor(inputs, outputs);
  const starts = await once(arm.start, double(points));
  const noiser = noiserOf(arm, BATCH);
  // In float64: float32 does not hold the covariances of Langevin diffusion near time 0.
  const example = compile(
    (start: Tensor, state: Tensor, t: Tensor) => {
      const { base, size, sigma, level } = form(state, t);
      const weighed = (v: Tensor): Tensor => mul(v, expandDims(sigma, -1));
      return [read(state), level, weighed(size), weighed(sub(base, target(state, start, t)))];
    },
    [[BATCH, outputs], [BATCH, inputs], [BATCH]],
    engine,
  );
  const batch = async (i: number): Promise<NdArray[]> => {
    const start = rowsOf(starts, (i * BATCH) % TRAINING_POINTS, BATCH);
    const shares = uniform(fold(fold(root, "times"), i), [BATCH], { dtype: "float64" });
    const t = { ...shares, data: Float64Array.from(shares.data, timeAt) };
    const state = await noiser.at(start, t, fold(fold(root, "noise"), i));
    return (await example(start, state, t)).map(single);
  };
  const parameters = await trainSmall<readonly [Tensor, Tensor, Tensor, Tensor]>(
    {
      init: network.init(fold(root, "parameters")),
      loss: (p, seen, level, size, rest) => {
        const error = sub(rest, mul(size, network.apply(p, seen, level)));
        return mul(sum(square(error)), 1 / BATCH);
      },
      shapes: [[BATCH, inputs], [BATCH], [BATCH, outputs], [BATCH, outputs]],
      batch,
      steps: TRAINING_STEPS,
    },
    context,
  );
  await Promise.all([example.dispose(), noiser.dispose()]);
  const score: MarginalScore = (state, times) => {
    // A sampler gives all rows one time, written out a row each: what follows from it is made once.
    const shared = unexpanded(times);
    const t = shared?.shape.length === 0 ? shared : times;
    const { base, size, level } = form(state, t);
    return full(sub(base, mul(size, network.apply(parameters, read(state), level))));
  };
  return reverse(sde, score);
}

/** Nats lost at held-out states of the earliest time. */
async function nats(arm: Arm, problem: Problem, process: ReverseProcess, root: Key) {
  const own = fold(root, "held out");
  const first = arm.timeAt(0);
  const x0 = sampleFrom(threeGaussians(), own, HELD_OUT, "float64");
  const noiser = noiserOf(arm, HELD_OUT);
  const t: NdArray = {
    shape: [HELD_OUT],
    dtype: "float64",
    data: new Float64Array(HELD_OUT).fill(first),
  };
  const states = await noiser.at(await once(arm.start, x0), t, fold(own, "noise"));
  await noiser.dispose();
  return lostNats(process, states, await logDensityAt(arm, problem, states, first), first);
}

/** Samples y of the process after training, and the nats that it loses where x₀ has a density. */
export async function runProcess(
  name: ProcessName,
  problem: Problem,
  points: NdArray,
  root: Key,
  context: TaskContext,
): Promise<{ readonly y: NdArray; readonly nats: number | null }> {
  const arm = armOf(name, problem);
  const process = await trained(arm, points, root, context);
  const { samples } = await sample(process, {
    ...{ shape: [arm.inputs], count: SAMPLES, grid: arm.grid(STEPS), key: fold(root, "draw") },
    ...{ signal: context.signal, ...engine },
  });
  const y = await once(arm.toY, samples);
  return { y, nats: problem.codes ? null : await nats(arm, problem, process, root) };
}
