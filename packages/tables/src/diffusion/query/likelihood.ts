/**
 * log-likelihood of rows by the probability flow. With the network's v and the level λ = log m²/σ²
 * as time it is
 *
 *   dx/dλ = −½ m σ v̂(x, λ)         log p(x) = log N(x_T) + ∫ ∇·(dx/dλ) dλ + n log m     from x_s = m x at λ_s to λ_T,
 *
 * for (log σ)′ x + ½ m x̂₀ = −½ m² x + ½ m (m x − σ v̂): what is linear in x cancels, and nothing
 * is left that is stiff. The divergence is exact, one derivative a coordinate. In the units of the
 * cells log q = log p(φ⁻¹(y)) − log|det J_φ|.
 *
 * Steps are even in u, λ = 1 + 9 asinh(tan u), a little denser where the flow moves, by the rule of
 * Adams and Bashforth of order 4: one evaluation a step, the first three by Runge and Kutta. How
 * many it takes depends on the model, so it is measured: a few rows are followed twice, and
 * evaluations are doubled until twice as many change log p by less than the tolerance on average.
 */
import { type Compiled, compile } from "diffeo/engine";
import {
  expand,
  expandDims,
  eye,
  fail,
  jvp,
  mul,
  type NdArray,
  neg,
  sigmoid,
  sqrt,
  sum,
  type Tensor,
} from "diffeo/graph";
import { batches } from "diffeo/host";
import { logSnr, pauses } from "diffeo/sampler";
import { type Graphs, LAST_LEVEL, type Predictor, scalesAt, tableSde } from "../network/index.ts";

/** v̂ of rows of n numbers, under a name of its own. */
export interface Field {
  readonly name: string;
  readonly n: number;
  readonly predict: Predictor;
}

export interface FlowOptions {
  /** Evaluations of the network a row. Default: 100, or as many more as the tolerance takes. */
  readonly evaluations?: number;
  /**
   * The mean error of log p in nats that is allowed where evaluations are not said. Default 10⁻³.
   */
  readonly tolerance?: number;
  readonly signal?: AbortSignal;
}

/** Rows that run at once, times the coordinates that each is differentiated by. */
const BATCH = 20_000;

const [CENTRE, WIDTH] = [1, 9];
const levelAt = (u: number): number => CENTRE + WIDTH * Math.asinh(Math.tan(u));
const placeOf = (level: number): number => Math.atan(Math.sinh((level - CENTRE) / WIDTH));

/** dx/dλ and its divergence, for rows [count, n]. */
function flowOf(predict: Predictor) {
  return (x: Tensor, lambda: Tensor) => {
    const [count, n] = x.shape;
    const slope = mul(sqrt(mul(sigmoid(lambda), sigmoid(neg(lambda)))), -0.5);
    const f = (p: Tensor): Tensor => mul(predict(p, lambda), slope);
    const wide = [n, count, n];
    const e = expand(expandDims(eye(n, x.dtype), 1), wide);
    const [, along] = jvp(f, expand(expandDims(x, 0), wide), e);
    return { velocity: f(x), divergence: sum(mul(e, along), [0, 2]) };
  };
}

/** s + Σ c k */
function moved(
  s: Float64Array,
  ...terms: readonly (readonly [Float64Array, number])[]
): Float64Array {
  const out = s.slice();
  for (const [k, c] of terms) for (let i = 0; i < out.length; i++) out[i] += c * k[i];
  return out;
}

type Slope = (state: Float64Array, u: number) => Promise<Float64Array>;

/** What the classical rule of order 4 makes of its first value and three more. */
async function rungeKutta(field: Slope, s: Float64Array, k1: Float64Array, u: number, h: number) {
  const k2 = await field(moved(s, [k1, h / 2]), u + h / 2);
  const k3 = await field(moved(s, [k2, h / 2]), u + h / 2);
  const k4 = await field(moved(s, [k3, h]), u + h);
  return moved(s, [k1, h / 6], [k2, h / 3], [k3, h / 3], [k4, h / 6]);
}

/** Of the last four values, the newest first. */
const ADAMS = [55 / 24, -59 / 24, 37 / 24, -9 / 24];
/** Evaluations of three first steps beyond one a step. */
const STARTING = 9;

/** Evaluations that a row gets where that is enough, and the most it ever gets. */
const [USUAL, MOST] = [100, 3200];
/** Rows that are followed twice. */
const FOLLOWED_TWICE = 32;

async function integrated(
  field: Slope,
  start: Float64Array,
  from: number,
  to: number,
  steps: number,
) {
  const h = (to - from) / steps;
  const past: Float64Array[] = [];
  let s = start;
  for (let k = 0; k < steps; k++) {
    const u = from + k * h;
    const slope = await field(s, u);
    past.unshift(slope);
    if (past.length < ADAMS.length) s = await rungeKutta(field, s, slope, u, h);
    else {
      s = moved(s, ...ADAMS.map((c, j) => [past[j], c * h] as const));
      past.pop();
    }
  }
  return s;
}

type Flow = Compiled<[x: Tensor, lambda: Tensor], { velocity: Tensor; divergence: Tensor }>;

/** log p of points x, row-major, by a compiled flow. */
async function followed(
  flow: Flow,
  x: Float64Array,
  n: number,
  steps: number,
  signal?: AbortSignal,
) {
  const count = x.length / n;
  const [end] = logSnr(tableSde.transition)([tableSde.horizon]);
  const { m } = scalesAt(LAST_LEVEL);
  // x and the integral of the divergence, one after the other.
  const start = new Float64Array(count * (n + 1));
  start.set(x.map((v) => m * v));
  const pause = pauses();
  const field: Slope = async (state, u) => {
    await pause();
    signal?.throwIfAborted();
    const points: NdArray = {
      shape: [count, n],
      dtype: "float32",
      data: Float32Array.from(state.subarray(0, count * n)),
    };
    const { velocity, divergence } = await flow(points, levelAt(u));
    const pace = WIDTH / Math.cos(u);
    const out = new Float64Array(state.length);
    out.set(velocity.data as Float32Array);
    out.set(divergence.data as Float32Array, count * n);
    return out.map((v) => v * pace);
  };
  const last = await integrated(field, start, placeOf(LAST_LEVEL), placeOf(end), steps);
  return Float64Array.from({ length: count }, (_, i) => {
    const square = last.subarray(i * n, (i + 1) * n).reduce((s, v) => s + v * v, 0);
    return last[count * n + i] - (square + n * Math.log(2 * Math.PI)) / 2 + n * Math.log(m);
  });
}

/** log p of rows by so many evaluations each. */
type Follow = (x: Float64Array, evaluations: number) => Promise<Float64Array>;

/**
 * log p of rows, by as many evaluations as it takes to be within a tolerance on some of them,
 * spread over all.
 */
async function settled(
  follow: Follow,
  x: Float64Array,
  n: number,
  tolerance: number,
): Promise<Float64Array> {
  const rows = x.length / n;
  const count = Math.min(rows, FOLLOWED_TWICE);
  const some = new Float64Array(count * n);
  for (let i = 0; i < count; i++) {
    const from = n * Math.floor((i * rows) / count);
    some.set(x.subarray(from, from + n), i * n);
  }
  let found = await follow(some, USUAL);
  for (let evaluations = USUAL; evaluations <= MOST; evaluations *= 2) {
    const finer = await follow(some, 2 * evaluations);
    const error = finer.reduce((sum, v, i) => sum + Math.abs(v - found[i]), 0) / count;
    if (error <= tolerance) return count === rows ? found : follow(x, evaluations);
    found = finer;
  }
  return fail(
    "numerical",
    `log p is not settled to ${tolerance} nats by ${MOST} evaluations a row`,
    "allow a larger tolerance, or say how many evaluations there shall be",
  );
}

/** log p of standardised points, rows of n numbers, under the flow of a field. */
export async function logDensityOf(
  graphs: Graphs,
  field: Field,
  x: Float64Array,
  options: FlowOptions = {},
) {
  const { evaluations, tolerance = 1e-3, signal } = options;
  const { name, n, predict } = field;
  if (
    evaluations !== undefined &&
    !(Number.isInteger(evaluations) && evaluations >= STARTING + ADAMS.length)
  )
    fail(
      "usage",
      `evaluations is ${evaluations}`,
      `give a whole number, at least ${STARTING + ADAMS.length}`,
    );
  if (!(tolerance > 0)) fail("usage", `the tolerance is ${tolerance}`, "give a number above 0");
  const most = Math.max(1, Math.floor(BATCH / n));
  const follow: Follow = async (rows, count) => {
    const out = new Float64Array(rows.length / n);
    for (const [first, some] of batches(out.length, Math.min(out.length, most))) {
      const part = rows.subarray(first * n, (first + some) * n);
      const found = await graphs.take(
        `flow of ${name}`,
        some * (n + 1),
        (engine) => compile(flowOf(predict), [[null, n], []], engine),
        (flow) => followed(flow, part, n, count - STARTING, signal),
      );
      out.set(found, first);
    }
    return out;
  };
  return evaluations === undefined ? settled(follow, x, n, tolerance) : follow(x, evaluations);
}
