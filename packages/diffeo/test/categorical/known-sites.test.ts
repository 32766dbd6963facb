import { expect, it } from "vitest";
import { categorical, knownSites, siteLikelihood } from "../../src/categorical/index.ts";
import { evaluate } from "../../src/engine/index.ts";
import { constant, expand, type Tensor } from "../../src/graph/index.ts";

it("counts each known site by the log-posterior of its class, also if code points have unequal norms", async () => {
  // With these means the codes lie at very different distances from the origin.
  const encoding = categorical({ grid: [2, 2], classes: 3, epsilon: 0.1, mean: [5, -1], scale: 1 });
  const norms = [0, 1, 2].map((k) => Math.hypot(...encoding.points.subarray(2 * k, 2 * k + 2)));
  expect(Math.max(...norms) / Math.min(...norms)).toBeGreaterThan(1.5);
  const UNKNOWN = 3;
  const classes = Uint8Array.of(0, 1, 2, UNKNOWN);
  // log p of classes 0, 1, 2 at every site.
  const table = [
    [0.5, 0.25, 0.125],
    [0.0625, 0.3, 0.7],
    [0.9, 0.8, 0.6],
    [0.1, 0.2, 0.4],
  ].map((row) => row.map(Math.log));
  const logPosterior = (x: Tensor): Tensor =>
    expand(constant([[table.slice(0, 2), table.slice(2)]], x.dtype), [x.shape[0], 2, 2, 3]);
  const { mask } = knownSites(encoding, classes);
  const likelihood = siteLikelihood(encoding, logPosterior);
  const known = await evaluate(
    (x0: Tensor, m: Tensor) => likelihood(x0, constant(1, x0.dtype), { points: x0, mask: m }),
    {
      shape: [1, 2, 2, 2],
      dtype: "float64",
      data: Float64Array.from(encoding.encode(Uint8Array.of(0, 1, 2, 0))),
    },
    mask,
  );
  expect(Number(known.data[0])).toBeCloseTo(Math.log(0.5) + Math.log(0.3) + Math.log(0.6), 12);
});
