/**
 * The score of a process, s(x, t) = ∇ₓ log p_t(x), with one vector and one time per event.
 *
 * t always has the shape of x's batch: in training, where every sample has its own time, and in
 * samplers, where all times are equal. So a trained network can be used in a sampler without
 * changes.
 */
import { batchOf } from "../bijector/event.ts";
import { expand, type FloatType, fail, type Shape, Tensor } from "../graph/index.ts";
import { describe, sameShape, showShape } from "../graph/ndarray.ts";
import { dependsOn } from "./diffusion.ts";
import { fewEvents, requireOwnEvents } from "./independent-events.ts";

/** The score ∇ₓ log p_t(x) of a process: one vector per event. t has the shape of x's batch. */
export type MarginalScore = (x: Tensor, t: Tensor) => Tensor;

/** Broadcasts the time to one time per event. */
export const timesOf = (x: Tensor, t: Tensor, eventRank: number): Tensor => {
  const batch = batchOf(x, eventRank);
  return sameShape(t.shape, batch) ? t : expand(t, batch);
};

/** s(x, t), for t of shape [] or of the batch. */
export function scoreAt(score: MarginalScore, x: Tensor, t: Tensor, eventRank: number): Tensor {
  const s: unknown = score(x, timesOf(x, t, eventRank));
  if (s instanceof Promise) {
    s.catch(() => undefined);
    fail(
      "type",
      "the score returned a promise, not a tensor",
      "use external(async (x, t) => …) of diffeo/outside",
    );
  }
  if (!(s instanceof Tensor))
    fail(
      "type",
      `the score returned ${describe(s)}, not a tensor`,
      "build it from x and t with the operations of diffeo/graph; plain numbers would be the " +
        "same at every step",
    );
  if (!sameShape(s.shape, x.shape))
    fail(
      "shape",
      `the score of points ${showShape(x.shape)} has shape ${showShape(s.shape)}`,
      "return one vector per event; t has the shape of the batch, and alignToEvent of " +
        "diffeo/bijector makes it broadcast against x",
    );
  return s;
}

/**
 * A score that computes more numbers for three events is a network. Checking it would take longer
 * than opening a sampler.
 */
const WRITTEN = 50_000;

/** Throws if a score does not depend on x, or if it mixes events. */
export function requireScoreOfState(
  score: MarginalScore,
  event: Shape,
  dtype: FloatType,
  name: string,
): void {
  const [x, t] = fewEvents(event, dtype);
  const value = scoreAt(score, x, t, event.length);
  if (!dependsOn(value, x))
    fail(
      "usage",
      `${name}: the score does not depend on x`,
      "compute it from its argument x; other values are constants of the graph",
    );
  requireOwnEvents(value, x, event, `${name}: the score`, WRITTEN);
}
