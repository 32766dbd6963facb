/**
 * One y-process, written twice: as a step of y, and as the step of x that φ turns into it.
 *
 *   in y   dY = w c f̂ dt + √c G̃ dW̄
 *   in x   dX = a dt + √c G dW̄,   a = w c f̄ + J⁻¹[(w c − 1) ∂ₜφ ∓ ½ c (w − 1) Tr[GᵀHG]]
 *
 * with the upper sign in reverse, where f̂ = ∂ₜφ + J f̄ − ½ Tr[GᵀHG]; forward, f̂ and f̄ are f̃ and f. Proof: by Itô's
 * lemma φ of the second has the drift ∂ₜφ + J a ∓ ½ c Tr[GᵀHG]; set it equal to w c f̂ and solve for a.
 * For c = 1 this is a = w f̄ + (1 − w) J⁻¹(½ Tr[GᵀHG] − ∂ₜφ): scaling the drift of *y* is not scaling that of x.
 *
 *   w  driftScale    scales the drift alone: more order (w > 1) or less, a different law
 *   c  timeDilation  scales drift and noise together, as a clock that runs c times as fast while the score's does not
 *
 * Where φ embeds into a space of more dimensions, J⁻¹ is J⁺: only the part of the drift along the image is scaled.
 */
import { eventOf } from "../bijector/event.ts";
import { itoTrace, pullItoTrace, pullVector, pushVector, timeDerivative } from "../bijector/index.ts";
import { add, fail, gradEach, mul, neg, sqrt, sub, type Tensor } from "../graph/index.ts";
import {
  applyDiffusion,
  flowVelocity,
  type Process,
  pushVelocity,
  type ReverseProcess,
  reverse,
  reverseDrift,
  reversePush,
} from "../sde/index.ts";

export interface Control {
  readonly driftScale: number;
  readonly timeDilation: number;
}

/** f̄ or f, by the direction of time. */
const baseDrift = ({ sde, score, reversed }: Process, x: Tensor, t: Tensor): Tensor => {
  if (!reversed) return sde.drift(x, t);
  if (!score) fail("usage", "a reverse process without a score", "make it with reverse or reversePush");
  return reverseDrift(sde, score, x, t);
};

const scaled = (x: Tensor, by: number): Tensor => (by === 1 ? x : mul(x, by));

/** a(x, t): the drift in x. */
export function driftInX(process: Process, { driftScale: w, timeDilation: c }: Control, x: Tensor, t: Tensor): Tensor {
  const { phi, sde, reversed } = process;
  const along = scaled(baseDrift(process, x, t), w * c);
  if (!phi) return along;
  const terms = [along];
  if (phi.timeDependent && w * c !== 1) terms.push(pullVector(phi, x, mul(timeDerivative(phi, x, t), w * c - 1), t));
  if (w !== 1) terms.push(mul(pullItoTrace(phi, x, sde.diffusion(x, t), t), (reversed ? -0.5 : 0.5) * c * (w - 1)));
  return terms.reduce((a, b) => add(a, b));
}

/** w c f̂ at y = φ(x, t). */
export function driftInY(process: Process, { driftScale: w, timeDilation: c }: Control, x: Tensor, t: Tensor): Tensor {
  const { phi, sde, reversed } = process;
  const base = baseDrift(process, x, t);
  if (!phi) return scaled(base, w * c);
  const half = mul(itoTrace(phi, x, sde.diffusion(x, t), t), 0.5);
  const moved = pushVelocity(phi, x, base, t);
  return scaled(reversed ? sub(moved, half) : add(moved, half), w * c);
}

/** The probability flow in x whose image is w c v̂: as above, with no Itô term. */
export function velocityInX(
  process: ReverseProcess,
  { driftScale: w, timeDilation: c }: Control,
  x: Tensor,
  t: Tensor,
): Tensor {
  const { phi, sde, score } = process;
  const along = scaled(flowVelocity(sde, score, x, t), w * c);
  if (!phi?.timeDependent || w * c === 1) return along;
  return add(along, pullVector(phi, x, mul(timeDerivative(phi, x, t), w * c - 1), t));
}

/** w c v̂ at y = φ(x, t). */
export function velocityInY(
  process: ReverseProcess,
  { driftScale: w, timeDilation: c }: Control,
  x: Tensor,
  t: Tensor,
): Tensor {
  const { phi, sde, score } = process;
  const v = flowVelocity(sde, score, x, t);
  return scaled(phi ? pushVelocity(phi, x, v, t) : v, w * c);
}

/** √c √|dt| z, the increment of the Brownian motion that drives the step. */
export const increment = ({ timeDilation: c }: Control, dt: Tensor, reversed: boolean, z: Tensor): Tensor =>
  mul(z, sqrt(mul(reversed ? neg(dt) : dt, c)));

/** G dW in x. */
export const noiseInX = ({ sde }: Process, x: Tensor, t: Tensor, dw: Tensor): Tensor =>
  applyDiffusion(sde.diffusion(x, t), dw, eventOf(x, sde.eventRank));

/** G̃ dW = J G dW at y = φ(x, t). */
export const noiseInY = (process: Process, x: Tensor, t: Tensor, dw: Tensor): Tensor => {
  const along = noiseInX(process, x, t, dw);
  return process.phi ? pushVector(process.phi, x, along, t) : along;
};

/**
 * Guidance by an energy E(y, t), one number an event: the process whose law at each t is tilted by e^{−E}.
 *
 *   ∇ᵧ log(q e^{−E}) = ∇ᵧ log q − ∇ᵧE,   and in x, by the chain rule,   s(x, t) − ∇ₓ E(φ(x, t), t)
 *
 * Log-determinants cancel in the difference, so in x guidance is the gradient of E∘φ whatever the map. For the tilted law
 * at t = 0 alone, E(·, t) must be −log E[e^{−E₀} | Y_t = y]; an energy held fixed in t is the usual approximation.
 */
export function guide(process: ReverseProcess, energy: (y: Tensor, t: Tensor) => Tensor, scale = 1): ReverseProcess {
  const { sde, score, phi } = process;
  const pull = (x: Tensor, t: Tensor): Tensor => gradEach((z) => energy(phi ? phi.forward(z, t) : z, t))(x);
  const guided = (x: Tensor, t: Tensor): Tensor => sub(score(x, t), mul(pull(x, t), scale));
  return phi ? reversePush(sde, phi, guided) : reverse(sde, guided);
}
