/** The bound on bits equals the entropy for the true posterior, and exceeds it for others. */
import { expect, it } from "vitest";
import { bitsPerGrid, freshModel, type Model, standardise } from "../../src/categorical/index.ts";
import { constant, expand, type Tensor } from "../../src/graph/index.ts";
import { mean } from "../../src/host/index.ts";
import { key, uniform } from "../../src/random/index.ts";

const LAWS = [
  [0.7, 0.2, 0.1],
  [0.1, 0.1, 0.8],
];

/**
 * The exact posterior of two independent sites with these distributions: the model adds the
 * likelihoods.
 */
function exact(distributions: number[][], map: "additiveLogistic" | "isometricLogRatio"): Model {
  const model = freshModel(
    {
      parameterisation: "posterior",
      sees: "likelihoods",
      encoding: standardise([0.4, 0.15, 0.45], { grid: [2], map }),
      network: {
        ...{
          kind: "exchangeable",
          channels: 3,
          grid: [2],
          groups: [[[0, 1]]],
          width: 1,
          layers: 1,
        },
      },
    },
    key(1),
  );
  const apply = (_: unknown, x: Tensor): Tensor =>
    expand(
      constant([distributions.map((distribution) => distribution.map(Math.log))], x.dtype),
      x.shape,
    );
  return {
    ...model,
    denoiser: { ...model.denoiser, network: { ...model.denoiser.network, apply } },
  };
}

const COUNT = 2000;
const u = uniform(key("sites"), [2 * COUNT], { dtype: "float64" }).data;
const classes = Uint8Array.from(u, (v, i) => {
  const [a, b] = LAWS[i % 2];
  return Number(v) < a ? 0 : Number(v) < a + b ? 1 : 2;
});
/** Bits of the same grids under a separate distribution for each site. */
const bitsUnder = (distributions: number[][]): number =>
  mean(
    Array.from({ length: COUNT }, (_, i) =>
      [0, 1].reduce((sum, s) => sum - Math.log2(distributions[s][classes[2 * i + s]]), 0),
    ),
  );
const options = { key: key("bits"), times: 96, batch: COUNT, threads: 1 };

it.each(["additiveLogistic", "isometricLogRatio"] as const)("under %s", async (map) => {
  const bits = async (distributions: number[][]) => {
    const each = await bitsPerGrid(exact(distributions, map), classes, options);
    const middle = mean([...each]);
    const spread = Math.sqrt(mean([...each].map((b) => (b - middle) ** 2)) / COUNT);
    return { middle, spread };
  };
  const own = await bits(LAWS);
  expect(own.spread).toBeLessThan(0.05);
  expect(Math.abs(own.middle - bitsUnder(LAWS))).toBeLessThan(4 * own.spread);
  // Under another distribution the code length is longer.
  const other = LAWS.toReversed();
  const wrong = await bits(other);
  expect(Math.abs(wrong.middle - bitsUnder(other))).toBeLessThan(4 * wrong.spread);
  expect(wrong.middle - own.middle).toBeGreaterThan(1);
});
