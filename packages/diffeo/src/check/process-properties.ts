/**
 * Properties of a process mapped by φ, for `checkMap`: those that the reverse-time Itô lemma needs.
 *   Itô        f̃ = ∂ₜφ + J f + ½ Tr[GᵀHG]         against finite differences of φ along f, G and t
 *   the lemma  Reverse(φ(X)) ≡ φ(Reverse(X))        transform then reverse, against reverse then transform
 */
import { alignToEvent, type Bijector, columnsOf } from "../bijector/index.ts";
import { add, fill, mul, sin, sub, sum, type Tensor } from "../graph/index.ts";
import { pushedScore } from "../score/index.ts";
import { push, pushedDrift } from "../sde/ito.ts";
import { type ReverseProcess, reverse, reversePush } from "../sde/process.ts";
import type { MarginalScore } from "../sde/score.ts";
import { vp } from "../sde/vp.ts";
import { difference, type Property, secondDifference } from "./property.ts";

/** A smooth field instead of a score; the properties hold for any field. */
const scoreOf =
  (eventRank: number): MarginalScore =>
  (x, t) =>
    sub(mul(sin(add(x, mul(alignToEvent(t, eventRank), 0.1))), 0.5), x);

/** The time used for a map that does not depend on time. */
const timeOf = (t: Tensor | undefined, x: Tensor): Tensor => t ?? fill([], 0.4, x.dtype);

/** ∂ₜφ + J f + ½ Σₖ ∂²φ/∂Gₖ² by finite differences. */
function generator(phi: Bijector, x: Tensor, t: Tensor): Tensor {
  const sde = vp({ eventRank: phi.eventRank });
  const at = (z: Tensor): Tensor => phi.forward(z, t);
  const columns = columnsOf(sde.diffusion(x, t), x, phi.eventRank);
  const spread = mul(sum(secondDifference(at, x, columns), 0), 0.5);
  const along = add(difference(at, x, sde.drift(x, t)), spread);
  if (!phi.timeDependent) return along;
  return add(
    along,
    difference((s) => phi.forward(x, s), t, fill(t.shape, 1, t.dtype)),
  );
}

/** Both sides of the lemma for one coefficient of the process. */
const bothWays =
  (of: (process: ReverseProcess, y: Tensor, t: Tensor) => Tensor): Property["sides"] =>
  (phi, { x, t }) => {
    const sde = vp({ eventRank: phi.eventRank });
    const score = scoreOf(phi.eventRank);
    const time = timeOf(t, x);
    const y = phi.forward(x, time);
    const inY = pushedScore(phi, (z) => score(z, time));
    return [
      of(
        reverse(push(sde, phi), (z) => inY(z, time)),
        y,
        time,
      ),
      of(reversePush(sde, phi, score), y, time),
    ];
  };

const remedy =
  "the inverse, logDet or one of the closed forms is wrong; the checks above show which";

/** The properties that processes pushed through a map must have. */
export const processProperties: readonly Property[] = [
  {
    name: "Itô drift = finite differences of φ",
    sides: (phi, { x, t }) => [
      pushedDrift(vp({ eventRank: phi.eventRank }), phi, x, timeOf(t, x)),
      generator(phi, x, timeOf(t, x)),
    ],
    // Second differences keep about half of float64's digits.
    tolerance: 1e-4,
    floor: 1,
    remedy,
  },
  {
    name: "Reverse(φ(X)) = φ(Reverse(X)), drift",
    sides: bothWays((p, y, t) => p.drift(y, t)),
    tolerance: 1e-9,
    floor: 1e-3,
    remedy,
  },
  {
    name: "the same, probability flow",
    sides: bothWays((p, y, t) => p.velocity(y, t)),
    tolerance: 1e-9,
    floor: 1e-3,
    remedy,
  },
];
