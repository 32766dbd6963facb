/**
 * Fitting a deep kernel exponential family: the protocol of Song, Garg, Shi and Ermon (2019) with any of the losses.
 *
 * Every random number is a function of the seed, the purpose and the step, and all but the slices are the same for every
 * loss: two losses of one seed see the same data, start, inducing points and batches, so that they can be compared in pairs.
 */
import { fail, isNdArray, mapTree, type NdArray } from "diffeo/graph";
import { partsOf, rightSvd } from "diffeo/host";
import { drawArrays, type Objective, type ObjectiveName, objectives } from "diffeo/matching";
import { type Dkef, type DkefOptions, dkefInit } from "diffeo/model";
import { choice, fold, type Key, key, permutation } from "diffeo/random";
import type { AdamState } from "diffeo/train";
import { flatten } from "diffeo/train";
import type { Prepared } from "../table/prepare.ts";
import { type FitSteps, fitSteps } from "./steps.ts";

export interface FitOptions {
  /** One of the five by name, or an objective of one's own. */
  readonly loss: ObjectiveName | Objective;
  readonly seed: number;
  /** L. Default 200. */
  readonly inducing?: number;
  readonly model?: DkefOptions;
  /** Points a step, half of them for α. Default 200. */
  readonly batch?: number;
  /** Training points that give α for validation. Default 1,000. */
  readonly points?: number;
  /** Default 500 epochs of ⌊N/batch⌋ steps. */
  readonly epochs?: number;
  /** Stop after so many steps without a better validation loss. Default 200. */
  readonly patience?: number;
  /** Go on for so many steps even after stopping, for the curves alone. Default 0. */
  readonly leastSteps?: number;
  /** Default 1e-2, with gradients clipped at a norm of 100. */
  readonly rate?: number;
  readonly clip?: number;
  /** The last adjustment of λ alone: 1,000 steps of 1e-3. */
  readonly ridgeSteps?: number;
  readonly ridgeRate?: number;
  readonly onStep?: (progress: FitProgress) => void;
  readonly signal?: AbortSignal;
}

export interface FitProgress {
  readonly step: number;
  readonly most: number;
  readonly validation: number;
  readonly best: number;
}

/** A fitted density: parameters and α. */
export interface Fitted {
  /** The step whose state it is. */
  readonly step: number;
  readonly parameters: Dkef<NdArray>;
  readonly theta: Float32Array;
  readonly alpha: Float64Array;
}

export interface Fit {
  readonly steps: number;
  /** The step at which patience ended, or the limit was reached. */
  readonly stopped: number;
  /** Chosen by the loss itself on the validation set, as the protocol does. */
  readonly chosen: Fitted;
  /** Chosen by exact score matching on the validation set, seen every fifth step; before the fifth it is `chosen`. */
  readonly chosenByExact: Fitted;
  /** By step the validation loss, and by every fifth step exact score matching on the validation set. */
  readonly curve: { readonly loss: readonly number[]; readonly exact: readonly number[] };
  /** Why training ended early, if it did. Where not even α can be found it is 0. */
  readonly failure?: string;
}

/** What a fit is unless told otherwise. */
export const protocol = {
  inducing: 200,
  batch: 200,
  points: 1000,
  epochs: 500,
  patience: 200,
  leastSteps: 0,
  rate: 1e-2,
  clip: 100,
  ridgeSteps: 1000,
  ridgeRate: 1e-3,
} as const satisfies Partial<FitOptions>;

type Settings = FitOptions & { readonly [name in keyof typeof protocol]: number };

const LEAST: Partial<Record<keyof typeof protocol, number>> = { inducing: 1, batch: 2, points: 1 };

/** Validation points a step of the ridge. */
export const RIDGE_BATCH = 100;

/** Rows of a matrix. */
function rowsOf({ shape: [, n], data }: NdArray, indices: ArrayLike<number>): NdArray {
  const out = new Float32Array(indices.length * n);
  for (let i = 0; i < indices.length; i++)
    out.set((data as Float32Array).subarray(indices[i] * n, (indices[i] + 1) * n), i * n);
  return { shape: [indices.length, n], dtype: "float32", data: out };
}

/** Steps between looks at exact score matching, which costs as much as a tenth of a step each. */
export const EXACT_EVERY = 5;

interface Best {
  readonly step: number;
  readonly value: number;
  readonly theta: Float32Array;
}

const zeros = (theta: Float32Array): AdamState<Float32Array> => ({
  theta,
  m: new Float32Array(theta.length),
  v: new Float32Array(theta.length),
});

const stateOf = ({ theta, m, v }: AdamState<NdArray>): AdamState<Float32Array> => ({
  theta: theta.data as Float32Array,
  m: m.data as Float32Array,
  v: v.data as Float32Array,
});

function requireSettings(rows: number, settings: Settings): void {
  for (const name of Object.keys(protocol) as (keyof typeof protocol)[]) {
    const least = LEAST[name] ?? 0;
    if (!(settings[name] >= least)) fail("usage", `fitDensity: ${name} is ${settings[name]}`, `give at least ${least}`);
  }
  const { inducing, batch } = settings;
  if (batch % 2 !== 0)
    fail("usage", `a batch of ${batch} has no halves, one for α and one for the loss`, "give an even --batch");
  if (rows < inducing)
    fail(
      "data",
      `${rows} training rows are fewer than the ${inducing} inducing points`,
      "give more rows, or fewer inducing points with --inducing",
    );
  if (rows < batch)
    fail("data", `${rows} training rows are fewer than a batch of ${batch}`, "give more rows, or a smaller --batch");
}

/** The parameters a flat vector holds. */
function parameterArrays(theta: Float32Array, like: Dkef<NdArray>): Dkef<NdArray> {
  let at = 0;
  const cut = ({ shape, data }: NdArray): NdArray => {
    at += data.length;
    return { shape, dtype: "float32", data: theta.slice(at - data.length, at) };
  };
  return mapTree(like, cut, isNdArray) as unknown as Dkef<NdArray>;
}

function objectiveOf(loss: ObjectiveName | Objective): Objective {
  if (typeof loss !== "string") return loss;
  if (!Object.hasOwn(objectives, loss))
    fail("usage", `there is no loss "${loss}"`, `use one of ${Object.keys(objectives).join(", ")}, or an objective`);
  return objectives[loss]();
}

export async function fitDensity(data: Prepared, options: FitOptions): Promise<Fit> {
  const { train, validation, n } = data;
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const settings = { ...protocol, ...given } as Settings;
  const { inducing, batch, epochs, patience, leastSteps, rate, clip, ridgeRate, signal } = settings;
  const rows = train.shape[0];
  requireSettings(rows, settings);
  const root = key(options.seed);
  const objective = objectiveOf(options.loss);
  const start = dkefInit(
    fold(root, "parameters"),
    rowsOf(train, choice(fold(root, "inducing"), rows, inducing, { replace: false }).data),
    options.model,
  );
  const points = Math.min(settings.points, rows);
  const ridgeBatch = Math.min(RIDGE_BATCH, validation.shape[0]);
  const steps = fitSteps(
    objective,
    start,
    { n, batch, points, validation: validation.shape[0], ridgeBatch },
    { rate, clip, ridgeRate },
  );
  const spec = objective.draws(n);
  const draws = (purpose: string, step: number, count: number) =>
    drawArrays(spec, [count], fold(fold(root, purpose), step));

  try {
    const perEpoch = Math.floor(rows / batch);
    const most = epochs * perEpoch;
    const curve = { loss: [] as number[], exact: [] as number[] };
    let state = zeros(flatten(start));
    let best: Best = { step: 0, value: Number.POSITIVE_INFINITY, theta: state.theta };
    let bestExact: Best | undefined;
    let stopped: number | undefined;
    let failure: string | undefined;
    let order: Int32Array = new Int32Array(0);
    let step = 0;
    while (step < most && (stopped === undefined || step < leastSteps)) {
      signal?.throwIfAborted();
      const at = step % perEpoch;
      if (at === 0) order = permutation(fold(fold(root, "epoch"), step / perEpoch), rows).data;
      step++;
      const x = rowsOf(train, order.subarray(at * batch, (at + 1) * batch));
      const result = await steps.train(state, x, draws("alpha", step, batch / 2), draws("loss", step, batch / 2), step);
      const loss = result.loss.data[0] as number;
      const next = stateOf(result.state);
      if (!Number.isFinite(loss) || !next.theta.every(Number.isFinite)) {
        failure = `the training loss became ${loss} at step ${step}${Number.isFinite(loss) ? " and its gradient is not finite" : ""}`;
        step--;
        break;
      }
      state = next;

      const chosen = choice(fold(fold(root, "points"), step), rows, points, { replace: false }).data;
      const found = await steps.validate(
        state.theta,
        rowsOf(train, chosen),
        draws("validation alpha", step, points),
        validation,
        draws("validation loss", step, validation.shape[0]),
      );
      const value = found.loss.data[0] as number;
      if (!Number.isFinite(value)) {
        failure = `the validation loss became ${value} at step ${step}`;
        break;
      }
      curve.loss.push(value);
      const open = stopped === undefined;
      if (open && value < best.value) best = { step, value, theta: state.theta };
      if (step % EXACT_EVERY === 0) {
        const exact = (await steps.exact(state.theta, found.alpha, validation)).data[0] as number;
        if (!Number.isFinite(exact)) {
          failure = `exact score matching on the validation set became ${exact} at step ${step}`;
          break;
        }
        curve.exact.push(exact);
        if (open && exact < (bestExact?.value ?? Number.POSITIVE_INFINITY))
          bestExact = { step, value: exact, theta: state.theta };
      }
      if (open && step - best.step >= patience) stopped = step;
      options.onStep?.({ step, most, validation: value, best: best.value });
    }
    const finished = async ({ theta, step: at }: Best): Promise<Fitted> => {
      const alpha = await finish(steps, theta, start, data, root, draws, settings);
      if (!alpha)
        failure = `${failure === undefined ? "" : `${failure}; `}the equations for α are not finite at step ${at}, so it is 0`;
      return { step: at, theta, alpha: alpha ?? new Float64Array(inducing), parameters: parameterArrays(theta, start) };
    };
    const chosen = await finished(best);
    const chosenByExact = !bestExact || bestExact.step === best.step ? chosen : await finished(bestExact);
    return {
      steps: step,
      stopped: stopped ?? step,
      chosen,
      chosenByExact,
      curve,
      ...(failure !== undefined && { failure }),
    };
  } finally {
    await steps.dispose();
  }
}

/** How many parts of the points a call takes: few, even if possible, none above 1,000. */
function evenParts(rows: number): (readonly [number, number])[] {
  const least = Math.ceil(rows / 1000);
  const even = Array.from({ length: 8 }, (_, i) => least + i).find((k) => rows % k === 0) ?? least;
  return partsOf(rows, Math.ceil(rows / even));
}

/** G and b over all training points, then λ alone adjusted on the validation set. Returns α, if G and b are finite. */
async function finish(
  steps: FitSteps,
  theta: Float32Array,
  like: Dkef<NdArray>,
  { train, validation }: Prepared,
  root: Key,
  draws: (purpose: string, step: number, count: number) => ReturnType<typeof drawArrays>,
  { ridgeSteps, signal }: Settings,
): Promise<Float64Array | undefined> {
  const rows = train.shape[0];
  const size = like.inducing.shape[0];
  const g = new Float64Array(size * size);
  const b = new Float64Array(size);
  for (const [from, to] of evenParts(rows)) {
    const x = rowsOf(
      train,
      Int32Array.from({ length: to - from }, (_, i) => from + i),
    );
    const part = await steps.equations(theta, x, draws("finish", from, to - from));
    const share = (to - from) / rows;
    for (let i = 0; i < g.length; i++) g[i] += share * (part.g.data[i] as number);
    for (let i = 0; i < size; i++) b[i] += share * (part.b.data[i] as number);
  }
  if (![g, b].every((part) => part.every(Number.isFinite))) return undefined;
  const { values, vectors } = rightSvd(g, size);
  const projected = Float64Array.from({ length: size }, (_, j) => {
    let total = 0;
    for (let i = 0; i < size; i++) total += vectors[i * size + j] * b[i];
    return total;
  });
  const system = { vectors, values, projected };
  const logLambda = parameterArrays(theta, like).logLambda.data as Float32Array;
  let state = zeros(logLambda);
  const batch = Math.min(RIDGE_BATCH, validation.shape[0]);
  for (let step = 1; step <= ridgeSteps; step++) {
    signal?.throwIfAborted();
    const chosen = choice(fold(fold(root, "ridge"), step), validation.shape[0], batch, { replace: false }).data;
    const result = await steps.ridge(
      theta,
      system,
      state,
      rowsOf(validation, chosen),
      draws("ridge", step, batch),
      step,
    );
    const next = stateOf(result.state);
    if (!Number.isFinite(next.theta[0])) break;
    state = next;
  }
  const lambda = 10 ** state.theta[0];
  return Float64Array.from({ length: size }, (_, i) => {
    let total = 0;
    for (let j = 0; j < size; j++) total -= (vectors[i * size + j] * projected[j]) / (values[j] + lambda);
    return total;
  });
}
