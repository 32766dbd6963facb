/**
 * log-likelihood of rows by the probability flow. With the network's v and the level λ = log m²/σ²
 * as time it is
 *
 *   dx/dλ = −½ m σ v̂(x, λ)         log p(x) = log N(x_T) + ∫ ∇·(dx/dλ) dλ + n log m     from x_s = m x at λ_s to λ_T,
 *
 * for (log σ)′ x + ½ m x̂₀ = −½ m² x + ½ m (m x − σ v̂): what is linear in x cancels, and nothing
 * is left that is stiff. In the units of the cells log q = log p(φ⁻¹(y)) − log|det J_φ|.
 *
 * A row with missing values lives in the range of its pattern's P (`pattern.ts`): its velocity is
 * v̂P, and with an orthonormal basis q_k of that range its divergence is Σₖ q_k·J q_k. The bases
 * are inputs of the graph, so that one graph is that of all patterns. The divergence is exact, one
 * derivative per direction; or it is estimated by K random signs ξ per row (M. Hutchinson, 1989),
 *
 *   ∇·f = E ξᵀJξ         log p then has an error of mean 0, √(2 Σ_{i≠j} J̄_ij²/K) of the integrated J̄
 *
 * Steps are even in u, λ = 1 + 9 asinh(tan u), a little denser where the flow moves, by the rule of
 * Adams and Bashforth of order 4: one evaluation per step, the first three by Runge and Kutta. How
 * many it takes depends on the model, so it is measured: a few rows are followed twice, and
 * evaluations are doubled until twice as many change log p by less than the tolerance on average.
 */

import { type CompileOptions, compile } from "diffeo/engine";
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
import { key, rademacher, sampleKeys } from "diffeo/random";
import { logSnr, pauses } from "diffeo/sampler";
import { addFree, freedomOf, type Pattern, writeBasis } from "../encode/index.ts";
import { type Graphs, LAST_LEVEL, type Predictor, scalesAt, tableSde } from "../network/index.ts";
import { ADAMS, integrated, type Slope, STARTING } from "./flow-steps.ts";
import type { Field, FieldRows, FlowOptions } from "./likelihood-types.ts";

/** Rows that run at once, times the coordinates that each is differentiated by. */
const BATCH = 20_000;

const [CENTRE, WIDTH] = [1, 9];

const levelAt = (u: number): number => CENTRE + WIDTH * Math.asinh(Math.tan(u));

const placeOf = (level: number): number => Math.atan(Math.sinh((level - CENTRE) / WIDTH));

/**
 * dx/dλ and its divergence, for rows [count, n]; along directions [k, count, n], by default those
 * of all coordinates.
 */
function flowOf(predict: Predictor, directions?: Tensor) {
  return (x: Tensor, lambda: Tensor) => {
    const [count, n] = x.shape;
    const slope = mul(sqrt(mul(sigmoid(lambda), sigmoid(neg(lambda)))), -0.5);
    const f = (p: Tensor): Tensor => mul(predict(p, lambda), slope);
    const e = directions ?? expand(expandDims(eye(n, x.dtype), 1), [n, count, n]);
    const [, along] = jvp(f, expand(expandDims(x, 0), e.shape), e);
    return { velocity: f(x), divergence: sum(mul(e, along), [0, 2]) };
  };
}

/** What is the same at all levels, for some rows: patterns, and inputs of the graph. */
interface Held {
  readonly patterns?: readonly Pattern[];
  readonly inputs: readonly NdArray[];
}

/** How a field is followed. */
interface Course {
  readonly field: Field;
  /** Directions per row that are inputs, none where they are those of all coordinates. */
  readonly directions: number;
  readonly isEstimate: boolean;
}

function courseOf(field: Field, isTorn: boolean, probes: number | undefined): Course {
  const isEstimate = probes !== undefined && probes < field.n;
  return { field, isEstimate, directions: isEstimate ? probes : isTorn ? field.n : 0 };
}

const compiledFlow = ({ field, directions }: Course, engine: CompileOptions) => {
  const { n, side = 0, predict } = field;
  const wide = directions > 0;
  return compile(
    (x: Tensor, lambda: Tensor, ...held: Tensor[]) => {
      const beside = side > 0 ? held.at(-1) : undefined;
      const around = beside && ((p: Tensor) => expand(beside, [...p.shape.slice(0, -1), side]));
      return flowOf((p, l) => predict(p, l, around?.(p)), wide ? held[0] : undefined)(x, lambda);
    },
    [[null, n], [], ...(wide ? [[directions, null, n]] : []), ...(side > 0 ? [[null, side]] : [])],
    engine,
  );
};

/** What rows number `first` … have at all levels. */
function heldBy(
  { field: { n, side = 0 }, directions, isEstimate }: Course,
  count: number,
  first: number,
  patterns: readonly Pattern[] | undefined,
): Held {
  const inputs: NdArray[] = [];
  if (directions > 0) {
    const data = new Float32Array(directions * count * n);
    const own = new Float32Array(directions * n);
    const signs = isEstimate
      ? rademacher(sampleKeys(key("probes"), count, first), directions * n).data
      : [];
    const scale = 1 / Math.sqrt(directions);
    for (let i = 0; i < count; i++) {
      own.fill(0);
      if (!isEstimate) writeBasis((patterns as Pattern[])[i], n, own, 0);
      else
        for (let k = 0; k < directions; k++) {
          const sign = signs.slice((i * directions + k) * n, (i * directions + k + 1) * n);
          const row = own.subarray(k * n, (k + 1) * n);
          const scaled = Float64Array.from(sign as ArrayLike<number>, (v) => v * scale);
          if (patterns) addFree(row, scaled, patterns[i]);
          else row.set(scaled);
        }
      for (let k = 0; k < directions; k++)
        data.set(own.subarray(k * n, (k + 1) * n), (k * count + i) * n);
    }
    inputs.push({ shape: [directions, count, n], dtype: "float32", data });
  }
  if (side > 0) {
    const data = new Float32Array(count * side);
    patterns?.forEach(({ flags }, i) => {
      data.set(flags, i * side + side - flags.length);
    });
    inputs.push({ shape: [count, side], dtype: "float32", data });
  }
  return { patterns, inputs };
}

/** Evaluations that a row gets where that is enough, and the most it ever gets. */
const [USUAL, MOST] = [100, 3200];

/** Rows that are followed twice. */
const FOLLOWED_TWICE = 32;

type Flow = Awaited<ReturnType<typeof compiledFlow>>;

/** log p of points x, row-major, by a compiled flow. */
async function followed(
  flow: Flow,
  x: Float64Array,
  n: number,
  { patterns, inputs }: Held,
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
  const slope: Slope = async (state, u) => {
    await pause();
    signal?.throwIfAborted();
    const points: NdArray = {
      shape: [count, n],
      dtype: "float32",
      data: Float32Array.from(state.subarray(0, count * n)),
    };
    const { velocity, divergence } = await flow(points, levelAt(u), ...inputs);
    const pace = WIDTH / Math.cos(u);
    const out = new Float64Array(state.length);
    const v = velocity.data as Float32Array;
    if (!patterns) out.set(v);
    patterns?.forEach((pattern, i) => {
      addFree(out.subarray(i * n, (i + 1) * n), v.subarray(i * n, (i + 1) * n), pattern);
    });
    out.set(divergence.data as Float32Array, count * n);
    return out.map((value) => value * pace);
  };
  const last = await integrated(slope, start, placeOf(LAST_LEVEL), placeOf(end), steps);
  return Float64Array.from({ length: count }, (_, i) => {
    const square = last.subarray(i * n, (i + 1) * n).reduce((s, v) => s + v * v, 0);
    const r = patterns ? freedomOf(patterns[i]) : n;
    return last[count * n + i] - (square + r * Math.log(2 * Math.PI)) / 2 + r * Math.log(m);
  });
}

/** log p of rows by so many evaluations each. */
type Follow = (rows: FieldRows, evaluations: number) => Promise<Float64Array>;

/** Rows that are spread over all, at most so many. */
function spreadRows({ x, patterns }: FieldRows, n: number, most: number): FieldRows {
  const rows = x.length / n;
  const chosen = Array.from({ length: Math.min(rows, most) }, (_, i) =>
    Math.floor((i * rows) / Math.min(rows, most)),
  );
  const some = new Float64Array(chosen.length * n);
  chosen.forEach((row, i) => {
    some.set(x.subarray(row * n, (row + 1) * n), i * n);
  });
  return { x: some, ...(patterns && { patterns: chosen.map((row) => patterns[row]) }) };
}

/**
 * log p of rows, by as many evaluations as it takes to be within a tolerance on some of them,
 * spread over all.
 */
async function settled(
  follow: Follow,
  rows: FieldRows,
  n: number,
  tolerance: number,
): Promise<Float64Array> {
  const some = spreadRows(rows, n, FOLLOWED_TWICE);
  const isAll = some.x.length === rows.x.length;
  let found = await follow(some, USUAL);
  for (let evaluations = USUAL; evaluations <= MOST; evaluations *= 2) {
    const finer = await follow(some, 2 * evaluations);
    const error = finer.reduce((sum, v, i) => sum + Math.abs(v - found[i]), 0) / finer.length;
    if (error <= tolerance) return isAll ? found : follow(rows, evaluations);
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
  rows: FieldRows,
  options: FlowOptions = {},
) {
  const { evaluations, tolerance = 1e-3, probes, signal } = options;
  const { name, n } = field;
  if (
    evaluations !== undefined &&
    !(Number.isInteger(evaluations) && evaluations >= STARTING + ADAMS.length)
  )
    fail(
      "usage",
      `evaluations is ${evaluations}`,
      `give an integer, at least ${STARTING + ADAMS.length}`,
    );
  if (!(tolerance > 0)) fail("usage", `the tolerance is ${tolerance}`, "give a number above 0");
  if (probes !== undefined && !(Number.isInteger(probes) && probes >= 1))
    fail("usage", `probes is ${probes}`, "give an integer, at least 1");
  const course = courseOf(field, rows.patterns !== undefined, probes);
  const most = Math.max(1, Math.floor(BATCH / (course.directions || n)));
  const follow: Follow = async ({ x, patterns }, count) => {
    const out = new Float64Array(x.length / n);
    for (const [first, some] of batches(out.length, Math.min(out.length, most))) {
      const part = x.subarray(first * n, (first + some) * n);
      const held = heldBy(course, some, first, patterns?.slice(first, first + some));
      const found = await graphs.take(
        `flow of ${name}${course.directions > 0 ? `, ${course.directions} directions` : ""}`,
        some * ((course.directions || n) + 1),
        (engine) => compiledFlow(course, engine),
        (flow) => followed(flow, part, n, held, count - STARTING, signal),
      );
      out.set(found, first);
    }
    return out;
  };
  return evaluations === undefined
    ? settled(follow, rows, n, tolerance)
    : follow(rows, evaluations);
}
