/**
 * The end of a fit: G and b over all training points, then only λ is adjusted on the validation
 * set,
 *
 *   G = V diag(e) Vᵀ,   c = Vᵀb,   α(λ) = −V (c/(e + λ))
 *
 * so that one decomposition serves every λ.
 */
import { partsOf, rightSvd } from "diffeo/host";
import { choice, fold } from "diffeo/random";
import { parameterArrays } from "./fitted.ts";
import { type Fitting, freshState, pickRows, stateOf } from "./fitting.ts";

/** Ranges of points per call: few, of equal size if possible, and of at most 1,000 points. */
function evenParts(rows: number): (readonly [number, number])[] {
  const least = Math.ceil(rows / 1000);
  const even = Array.from({ length: 8 }, (_, i) => least + i).find((k) => rows % k === 0) ?? least;
  return partsOf(rows, Math.ceil(rows / even));
}

interface System {
  readonly vectors: Float64Array;
  readonly values: Float64Array;
  /** c */
  readonly projected: Float64Array;
}

/** G and b over all training points, decomposed; undefined if they are not finite. */
async function systemOf(
  { data: { train }, steps, start, draws }: Fitting,
  theta: Float32Array,
): Promise<System | undefined> {
  const rows = train.shape[0];
  const size = start.inducing.shape[0];
  const g = new Float64Array(size * size);
  const b = new Float64Array(size);
  for (const [from, to] of evenParts(rows)) {
    const x = pickRows(
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
  return { vectors, values, projected };
}

/** log₁₀ λ after Adam's steps; the last finite value. */
async function adjusted(
  {
    data: { validation },
    steps,
    start,
    draws,
    root,
    ridgeBatch,
    settings: { ridgeSteps, signal },
  }: Fitting,
  theta: Float32Array,
  system: System,
): Promise<number> {
  let state = freshState(parameterArrays(theta, start).logLambda.data as Float32Array);
  for (let step = 1; step <= ridgeSteps; step++) {
    signal?.throwIfAborted();
    const chosen = choice(fold(fold(root, "ridge"), step), validation.shape[0], ridgeBatch, {
      replace: false,
    }).data;
    const x = pickRows(validation, chosen);
    const next = stateOf(
      (await steps.ridge(theta, system, state, x, draws("ridge", step, ridgeBatch), step)).state,
    );
    if (!Number.isFinite(next.theta[0])) break;
    state = next;
  }
  return state.theta[0];
}

/** α for the parameters of a step, if G and b are finite. */
export async function finish(
  fitting: Fitting,
  theta: Float32Array,
): Promise<Float64Array | undefined> {
  const system = await systemOf(fitting, theta);
  if (!system) return undefined;
  const { vectors, values, projected } = system;
  const lambda = 10 ** (await adjusted(fitting, theta, system));
  const size = values.length;
  return Float64Array.from({ length: size }, (_, i) => {
    let total = 0;
    for (let j = 0; j < size; j++)
      total -= (vectors[i * size + j] * projected[j]) / (values[j] + lambda);
    return total;
  });
}
