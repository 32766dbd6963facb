/**
 * Integrators of the SDE dY = f̂ dt + G̃ dW̄, with ΔW = √|dt| z:
 *
 *   Euler–Maruyama     y + f̂ dt + G̃ ΔW                               strong order ½, weak 1
 *   Milstein           … + ½ Σⱼₖ (D G̃ₖ)G̃ⱼ (ΔWⱼ ΔWₖ − δⱼₖ|dt|)         strong order 1
 *   domain-preserving  Euler–Maruyama in x, then y = φ(x, t)
 *
 * The order of Milstein's method holds for commutative noise. The last solver, the default, samples
 * the same process of y, but steps in x, where there is no boundary. So it cannot leave the domain,
 * and it is not biased near the boundary like steps in y.
 */
import { eventOf } from "../bijector/event.ts";
import { itoTrace, pushVector } from "../bijector/index.ts";
import {
  add,
  expand,
  eye,
  jvp,
  mul,
  reshape,
  type Shape,
  sqrt,
  sub,
  sum,
  type Tensor,
} from "../graph/index.ts";
import { sizeOf } from "../graph/ndarray.ts";
import { applyDiffusion, dependsOnState, noiseShape, type ProcessDiffusion } from "../sde/index.ts";
import {
  drawnShape,
  duration,
  type Solver,
  type Stage,
  type StepInputs,
  type SteppingOptions,
} from "./solver.ts";

/** The Euler–Maruyama step, also the predictor of predictor–corrector. */
export function eulerStep(
  { process, motion }: Stage,
  { point, t, dt, noise: [z] }: StepInputs,
): Tensor {
  const dw = mul(z, sqrt(duration(process, dt)));
  const noise = applyDiffusion(motion.diffusion(point, t), dw, eventOf(point, process.eventRank));
  return add(add(point, mul(motion.drift(point, t), dt)), noise);
}

/** The Euler–Maruyama method, by default with steps in the coordinates y of the process. */
export const eulerMaruyama = ({ stepIn = "y", onExit = "fail" }: SteppingOptions = {}): Solver => ({
  name: "eulerMaruyama",
  stepIn,
  onExit,
  grid: "uniform",
  evaluations: 1,
  draws: (stage, event, dtype) => [drawnShape(stage, event, dtype)],
  step: (stage, step) => ({ next: eulerStep(stage, step) }),
});

/**
 * The domain-preserving method, the default: Euler–Maruyama steps in x, mapped by φ. Samples never
 * leave the domain, and have the distribution of the process of y for every map and every
 * `driftScale`.
 */
export const domainPreserving = (): Solver => ({
  ...eulerMaruyama({ stepIn: "x" }),
  name: "domainPreserving",
});

/**
 * Milstein's method, of strong order 1 if (D G̃ₖ)G̃ⱼ is symmetric in j and k. This holds if G
 * depends on t alone, for any map, because then (D G̃ₖ)G̃ⱼ = H(Gⱼ, Gₖ), and for a diagonal G whose
 * entries depend on their own coordinate only. In other cases the order is that of Euler–Maruyama,
 * because Lévy areas are not sampled.
 */
export const milstein = (options: SteppingOptions = {}): Solver => ({
  ...eulerMaruyama(options),
  name: "milstein",
  step: (stage, step) => {
    const next = eulerStep(stage, step);
    const correction = milsteinTerm(stage, step);
    return { next: correction ? add(next, correction) : next };
  },
});

/**
 * ½ Σⱼₖ (D G̃ₖ)G̃ⱼ (ΔWⱼ ΔWₖ − δⱼₖ|dt|), for symmetric (D G̃ₖ)G̃ⱼ: the derivative of y ↦ G̃(y)ΔW
 * along G̃ΔW, minus |dt| times that of each column along itself. Derivatives along G̃ in y are
 * derivatives along G in x, since D_yφ⁻¹ G̃ = G; so for an image J G
 *
 *   (D G̃ₖ)G̃ⱼ = D_x[J Gₖ][Gⱼ],   and if G does not depend on x,   Σⱼ D_x[J Gⱼ][Gⱼ] = Tr[GᵀHG].
 */
function milsteinTerm(
  { process, motion }: Stage,
  { point, t, dt, noise: [z] }: StepInputs,
): Tensor | undefined {
  const span = duration(process, dt);
  const dw = mul(z, sqrt(span));
  const g = motion.diffusion(point, t);
  if (g.kind !== "pushed") {
    const diffusion = (p: Tensor): ProcessDiffusion => motion.diffusion(p, t);
    if (!dependsOnState(diffusion, point)) return undefined;
    const spread = (p: Tensor, w: Tensor): Tensor =>
      applyDiffusion(diffusion(p), w, eventOf(p, process.eventRank));
    return correctionOf(
      spread,
      spread,
      point,
      dw,
      span,
      noiseShape(g, eventOf(point, process.eventRank)),
    );
  }
  const { phi, x, inner } = g;
  const along = (p: Tensor, w: Tensor): Tensor =>
    applyDiffusion(inner(p), w, eventOf(p, phi.eventRank));
  const spread = (p: Tensor, w: Tensor): Tensor => pushVector(phi, p, along(p, w), t);
  const shape = noiseShape(g, eventOf(x, phi.eventRank));
  const self = dependsOnState(inner, x) ? undefined : itoTrace(phi, x, inner(x), t);
  return correctionOf(spread, along, x, dw, span, shape, self);
}

type Spread = (p: Tensor, w: Tensor) => Tensor;

/** ½ (D[spread ΔW][along ΔW] − |dt| Σⱼ D[spread eⱼ][along eⱼ]) at x. */
function correctionOf(
  spread: Spread,
  along: Spread,
  x: Tensor,
  dw: Tensor,
  span: Tensor,
  shape: Shape,
  self: Tensor = selfTerm(spread, along, x, shape),
): Tensor {
  const cross = jvp((p: Tensor) => spread(p, dw), x, along(x, dw))[1];
  return mul(sub(cross, mul(self, span)), 0.5);
}

/** Σⱼ D[spread eⱼ][along eⱼ]: all columns at once, along a new leading axis. */
function selfTerm(spread: Spread, along: Spread, x: Tensor, shape: Shape): Tensor {
  const batch = x.shape.slice(0, 1);
  const k = sizeOf(shape);
  const units = expand(reshape(eye(k, x.dtype), [k, ...batch.map(() => 1), ...shape]), [
    k,
    ...batch,
    ...shape,
  ]);
  const points = expand(x, [k, ...x.shape]);
  return sum(jvp((p: Tensor) => spread(p, units), points, along(points, units))[1], 0);
}
