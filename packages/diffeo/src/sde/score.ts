/**
 * The score of a process, s(x, t) = ∇ₓ log p_t(x): one vector an event, and one time an event.
 *
 * t always has the shape of x's batch, in a training step, where every sample has a time of its
 * own, and in a sampler, where all have the same. So what was trained goes into a sampler as it is.
 */
import { batchOf } from "../bijector/event.ts";
import { expand, type FloatType, fail, type Shape, Tensor } from "../graph/index.ts";
import { describe, sameShape, showShape } from "../graph/ndarray.ts";
import { dependsOn } from "./diffusion.ts";
import { fewEvents, requireOwnEvents } from "./independent-events.ts";

/** ∇ₓ log p_t(x), one vector an event; t has the shape of x's batch. */
export type MarginalScore = (x: Tensor, t: Tensor) => Tensor;

/** One time an event. */
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
      "give external(async (x, t) => …) of diffeo/outside",
    );
  }
  if (!(s instanceof Tensor))
    fail(
      "type",
      `the score returned ${describe(s)}, not a tensor`,
      "build it from x and t with the operations of diffeo/graph: numbers read off once would stay the same at every step",
    );
  if (!sameShape(s.shape, x.shape))
    fail(
      "shape",
      `the score of points ${showShape(x.shape)} has shape ${showShape(s.shape)}`,
      "return one vector an event; t has the shape of the batch, and alignToEvent of diffeo/bijector makes it multiply x",
    );
  return s;
}

/**
 * A score that computes more numbers for three events is a network, which would take longer to look
 * at than a sampler to open.
 */
const WRITTEN = 50_000;

/** Refuses a score that is the same wherever x is, and one that mixes events. */
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
      "compute it from the tensor x it is given; a value from elsewhere would be frozen into the graph",
    );
  requireOwnEvents(value, x, event, `${name}: the score`, WRITTEN);
}
