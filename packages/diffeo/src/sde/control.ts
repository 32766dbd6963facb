/**
 * Modified processes: a scaled drift, a faster clock, a tilted distribution. Each has two forms: a
 * motion of y, and the motion of x that φ maps to it.
 *
 *   scaleDrift   dY = w f̂ dt + G̃ dW           a = w f̄ + (w − 1) J⁻¹(∂ₜφ ∓ ½ Tr[GᵀHG])
 *   dilateTime   dY = c f̂ dt + √c G̃ dW        a = c f̄ + (c − 1) J⁻¹∂ₜφ,   √c G
 *   tilt         score s + δ instead of s      a = f̄ − G Gᵀ δ
 *
 * where a is the drift in x; the upper sign is for reverse processes, where f̂ = ∂ₜφ + J f̄ − ½
 * Tr[GᵀHG]; for forward processes, f̂ and f̄ are f̃ and f. Proof of the first: by Itô's lemma φ of
 * dX = a dt + G dW has the drift ∂ₜφ + J a ∓ ½ Tr[GᵀHG]; set it equal to w f̂ and solve for a. So
 * scaling the drift of *y* (sec:chess_diffusion) differs from scaling that of x. The second is the
 * same with c f̂ and the Itô term of √c G, which is c times that of G. The probability flow changes
 * like the drift, without the Itô term. For an embedding, J⁻¹ is J⁺: only the part of the drift
 * along the image is scaled.
 */
import { eventOf } from "../bijector/event.ts";
import {
  type Diffusion,
  pullItoTrace,
  pullVector,
  pushVector,
  timeDerivative,
} from "../bijector/index.ts";
import { add, fail, mul, type Operand, sub, type Tensor } from "../graph/index.ts";
import { applyCovariance, multipliedOut, scaledDiffusion } from "./diffusion.ts";
import { inChart, type Process, type ReverseProcess, withMotion } from "./process.ts";
import { timesOf } from "./score.ts";

/**
 * A factor w in a graph, with w − 1 as a separate input, because in float32 the difference would
 * have only five digits.
 */
export interface Factor {
  readonly value: Tensor;
  readonly excess: Tensor;
}

const factorOf = (w: number | Factor): { readonly value: Operand; readonly excess: Operand } =>
  typeof w === "number" ? { value: w, excess: w - 1 } : w;

export type Field = (x: Tensor, t: Tensor) => Tensor;

/** The drift and the flow of a motion times `by`, plus `more`. */
const scaledField = (field: Field, by: Operand, more: readonly Field[] = []): Field =>
  more.length === 0
    ? (x, t) => mul(field(x, t), by)
    : (x, t) => more.reduce((sum, term) => add(sum, term(x, t)), mul(field(x, t), by));

/** Multiplies the drift and the probability flow of a process, in its own coordinates y, by w. */
export function scaleDrift<P extends Process>(process: P, w: number | Factor): P {
  if (typeof w === "number" && !Number.isFinite(w))
    fail("usage", `driftScale is ${w}`, "give a finite number; 1 leaves the process as it is");
  if (w === 1) return process;
  const { value, excess } = factorOf(w);
  const { drift, velocity, diffusion, chart, reversed } = process;
  const x = inChart(process);
  const phi = chart?.phi;
  const moving: Field[] = phi?.timeDependent
    ? [(p, t) => pullVector(phi, p, mul(timeDerivative(phi, p, t), excess), t)]
    : [];
  const half = mulOperand(excess, reversed ? -0.5 : 0.5);
  const ito: Field[] = phi
    ? [(p, t) => mul(pullItoTrace(phi, p, multipliedOut(x.diffusion(p, t)), t), half)]
    : [];
  return withMotion(
    process,
    {
      drift: scaledField(drift, value),
      diffusion,
      ...(velocity && { velocity: scaledField(velocity, value) }),
    },
    {
      drift: scaledField(x.drift, value, [...moving, ...ito]),
      diffusion: (p, t) => multipliedOut(x.diffusion(p, t)),
      ...(x.velocity && { velocity: scaledField(x.velocity, value, moving) }),
    },
  );
}

const mulOperand = (a: Operand, by: number): Operand =>
  typeof a === "number" ? a * by : mul(a, by);

/**
 * Multiplies the drift of a process by c and its noise by √c: a clock that is c times as fast,
 * while the time of the score is unchanged.
 */
export function dilateTime<P extends Process>(
  process: P,
  c: number | (Factor & { readonly root: Tensor }),
): P {
  if (typeof c === "number" && !(c > 0 && c < Infinity))
    fail("usage", `timeDilation is ${c}`, "give a positive number; 1 leaves the process as it is");
  if (c === 1) return process;
  const { value, excess } = factorOf(c);
  const root = typeof c === "number" ? Math.sqrt(c) : c.root;
  const { drift, velocity, diffusion, chart } = process;
  const x = inChart(process);
  const phi = chart?.phi;
  const moving: Field[] = phi?.timeDependent
    ? [(p, t) => pullVector(phi, p, mul(timeDerivative(phi, p, t), excess), t)]
    : [];
  return withMotion(
    process,
    {
      drift: scaledField(drift, value),
      diffusion: (y, t) => scaledDiffusion(diffusion(y, t), root),
      ...(velocity && { velocity: scaledField(velocity, value) }),
    },
    {
      drift: scaledField(x.drift, value, moving),
      diffusion: (p, t) => scaledDiffusion(multipliedOut(x.diffusion(p, t)), root) as Diffusion,
      ...(x.velocity && { velocity: scaledField(x.velocity, value, moving) }),
    },
  );
}

/**
 * The process with the score s + δ, for a δ(x, t) in x: G Gᵀδ is subtracted from its drift, and
 * half of it from its flow.
 */
export function tilt(process: ReverseProcess, delta: Field): ReverseProcess {
  const { score, drift, diffusion, velocity, chart, eventRank } = process;
  const x = inChart(process);
  const spread: Field = (p, t) =>
    applyCovariance(x.diffusion(p, t), delta(p, timesOf(p, t, eventRank)), eventOf(p, eventRank));
  const less =
    (field: Field, by: number): Field =>
    (p, t) =>
      sub(field(p, t), by === 1 ? spread(p, t) : mul(spread(p, t), by));
  const lessInY =
    (field: Field, by: number): Field =>
    (y, t) => {
      const phi = chart?.phi;
      if (!phi) return less(field, by)(y, t);
      const p = phi.inverse(y, t);
      const moved = pushVector(phi, p, spread(p, t), t);
      return sub(field(y, t), by === 1 ? moved : mul(moved, by));
    };
  const motion = { drift: lessInY(drift, 1), diffusion, velocity: lessInY(velocity, 0.5) };
  return withMotion({ ...process, score: (p, t) => add(score(p, t), delta(p, t)) }, motion, {
    drift: less(x.drift, 1),
    diffusion: (p, t) => multipliedOut(x.diffusion(p, t)),
    ...(x.velocity && { velocity: less(x.velocity, 0.5) }),
  });
}
