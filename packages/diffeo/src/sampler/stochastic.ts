/**
 * Integrators of the SDE dY = f̂ dt + G̃ dW̄, with ΔW = √|dt| z:
 *
 *   Euler–Maruyama     y + f̂ dt + G̃ ΔW                                              strong order ½, weak 1
 *   Milstein           … + ½ Σⱼₖ (D G̃ₖ)G̃ⱼ (ΔWⱼ ΔWₖ − δⱼₖ|dt|)                        strong order 1, if the noise commutes
 *   domain-preserving  Euler–Maruyama in x, then y = φ(x, t)
 *
 * The last is the same y-process, stepped where it has no boundary: it cannot leave the domain, and near the boundary, where
 * steps in y are biased, it is not. It is the default.
 */
import { batchOf } from "../bijector/event.ts";
import { itoTrace } from "../bijector/index.ts";
import {
  add,
  constant,
  expand,
  eye,
  input,
  jvp,
  mul,
  neg,
  reshape,
  type Shape,
  sub,
  sum,
  type Tensor,
} from "../graph/index.ts";
import { sizeOf } from "../graph/ndarray.ts";
import { dependsOnState, noiseShape, type Process } from "../sde/index.ts";
import type { Batch } from "./batch.ts";
import { type Control, driftInX, driftInY, increment, noiseInX, noiseInY } from "./control.ts";
import { toX } from "./domain.ts";
import { controlOf, type Sampler, type Space } from "./options.ts";
import { integrate, type Scheme } from "./run.ts";

/** Steps the process in its own space (`space: "x"` for the domain-preserving one). */
export const eulerMaruyama: Sampler = (process, options) =>
  integrate(process, options, (batch) => eulerScheme(batch, options.space ?? "y"));

/** Steps in x and maps: exact in law to the same y-process, for every map and every w. */
export const domainPreserving: Sampler = (process, options) => eulerMaruyama(process, { ...options, space: "x" });

/**
 * Strong order 1 where (D G̃ₖ)G̃ⱼ is symmetric in j and k. It is if G depends on t alone, whatever the map: then
 * (D G̃ₖ)G̃ⱼ = H(Gⱼ, Gₖ). So it is for a diagonal G whose entries depend on their own coordinate. Elsewhere the order
 * is that of Euler–Maruyama, for want of Lévy areas.
 */
export const milstein: Sampler = (process, options) =>
  integrate(process, options, (batch) => {
    const euler = eulerScheme(batch, options.space ?? "y");
    const control = controlOf(options);
    return {
      ...euler,
      step: (point, t, dt, [z]) => {
        const x = toX(batch.process, euler.space, point, t);
        const correction = milsteinTerm(batch.process, control, euler.space, x, t, dt, z);
        const next = euler.step(point, t, dt, [z]);
        return correction ? add(next, correction) : next;
      },
    };
  });

/** Euler–Maruyama's step, also the predictor of predictor–corrector. */
export function eulerScheme({ process, options, event }: Batch, space: Space): Scheme {
  const control = controlOf(options);
  return {
    space,
    evaluations: process.reversed ? 1 : 0,
    draws: [drawnShape(process, event)],
    step: (point, t, dt, [z]) => eulerStep(process, control, space, point, t, dt, z),
  };
}

function eulerStep(
  process: Process,
  control: Control,
  space: Space,
  point: Tensor,
  t: Tensor,
  dt: Tensor,
  z: Tensor,
): Tensor {
  const x = toX(process, space, point, t);
  const dw = increment(control, dt, process.reversed, z);
  const [drift, noise] =
    space === "x"
      ? [driftInX(process, control, x, t), noiseInX(process, x, t, dw)]
      : [driftInY(process, control, x, t), noiseInY(process, x, t, dw)];
  return add(add(point, mul(drift, dt)), noise);
}

/** The shape of one event's noise. */
function drawnShape({ sde }: Process, event: Shape): Shape {
  const x = input("x", [1, ...event]);
  return noiseShape(sde.diffusion(x, constant(sde.horizon, x.dtype)), event);
}

/**
 * ½ Σⱼₖ (D G̃ₖ)G̃ⱼ (ΔWⱼ ΔWₖ − δⱼₖ|dt|), for symmetric (D G̃ₖ)G̃ⱼ: the derivative of y ↦ G̃(y)ΔW along G̃ΔW, less |dt| times
 * that of each column along itself. Derivatives along G̃ in y are derivatives along G in x, since D_yφ⁻¹ G̃ = G; so
 *
 *   (D G̃ₖ)G̃ⱼ = D_x[J Gₖ][Gⱼ],   and where G does not depend on x,   Σⱼ D_x[J Gⱼ][Gⱼ] = Tr[GᵀHG].
 */
function milsteinTerm(
  process: Process,
  control: Control,
  space: Space,
  x: Tensor,
  t: Tensor,
  dt: Tensor,
  z: Tensor,
): Tensor | undefined {
  const { phi, sde, reversed } = process;
  const spread = space === "x" ? noiseInX : noiseInY;
  const dw = increment(control, dt, reversed, z);
  const along = noiseInX(process, x, t, dw);
  const varies = dependsOnState((p) => sde.diffusion(p, t), x);
  if (!varies && (space === "x" || !phi)) return undefined;
  const cross = jvp((p: Tensor) => spread(process, p, t, dw), x, along)[1];
  const self = varies || !phi ? selfTerm(process, space, x, t) : itoTrace(phi, x, sde.diffusion(x, t), t);
  const span = mul(reversed ? neg(dt) : dt, control.timeDilation);
  return mul(sub(cross, mul(self, span)), 0.5);
}

/** Σⱼ D_x[J Gⱼ][Gⱼ]: all columns at once, along a new leading axis. */
function selfTerm(process: Process, space: Space, x: Tensor, t: Tensor): Tensor {
  const { eventRank } = process;
  const spread = space === "x" ? noiseInX : noiseInY;
  const batch = batchOf(x, eventRank);
  const shape = drawnShape(process, x.shape.slice(batch.length));
  const k = sizeOf(shape);
  const units = expand(reshape(eye(k, x.dtype), [k, ...batch.map(() => 1), ...shape]), [k, ...batch, ...shape]);
  const points = expand(x, [k, ...x.shape]);
  return sum(jvp((p: Tensor) => spread(process, p, t, units), points, noiseInX(process, points, t, units))[1], 0);
}
