/**
 * Samples in y compared with φ of exact samples: the energy distance is zero up to sampling error,
 * for every constrained map.
 */
import { describe, expect, it } from "vitest";
import { flattenEvent } from "../../src/bijector/event.ts";
import { catalogue, type MapEntry } from "../../src/bijector/index.ts";
import { sampleFrom } from "../../src/distribution/index.ts";
import { evaluate } from "../../src/engine/index.ts";
import { constant, type NdArray, reshape, sizeOf, type Tensor } from "../../src/graph/index.ts";
import { fold, key, normal, permutation, sampleKeys } from "../../src/random/index.ts";
import { milstein, type Solver, type SolverName, sample } from "../../src/sampler/index.ts";
import { type ReverseProcess, reversePush, vp } from "../../src/sde/index.ts";
import { energyDistance } from "../../src/two-sample/index.ts";
import { clusters, exactScore } from "./tools.ts";

/**
 * The additive logistic map has enough to tell a drift scaled by 0.9, the others a score by 0.85:
 * it is 4.5 deviations away at least, where what is right is 1.3 at most. Their own distributions
 * hold to 1e-9.
 */
const countOf = ({ name }: MapEntry): number => (name === "additiveLogistic" ? 12_000 : 4000);
const FAR = 3;
/** As many steps as are needed for what they leave to be less than what so many samples tell. */
const steps = 30;
const constrained = catalogue.filter(({ domain }) => domain !== "Rⁿ");

/** The process of an entry, with the exact score of clusters in x. */
function problem({ map, event }: MapEntry): ReverseProcess {
  const flat = exactScore(vp(), clusters(sizeOf(event)));
  const score = (x: Tensor, t: Tensor): Tensor =>
    reshape(flat(flattenEvent(x, map.eventRank), t), x.shape);
  return reversePush(vp({ eventRank: map.eventRank }), map, score);
}

/** φ of exact samples. */
async function exactSamples(
  { map, event }: MapEntry,
  seed: string,
  count: number,
): Promise<NdArray> {
  const x = sampleFrom(clusters(sizeOf(event)), key(seed), count, "float64");
  return evaluate((z: Tensor) => map.forward(z, constant(0, "float64")), {
    ...x,
    shape: [count, ...event],
  });
}

/** How far samples are from exact ones, beyond chance and in its standard deviations. */
async function excess(
  entry: MapEntry,
  options: { solver: SolverName | Solver; steps: number; driftScale?: number; count?: number },
): Promise<number> {
  const { count = countOf(entry) } = options;
  const { samples, exits } = await sample(problem(entry), {
    ...options,
    count,
    shape: entry.event,
    key: key("samples"),
    grid: "quadratic",
    threads: 1,
  });
  const found = energyDistance(samples, await exactSamples(entry, "exact", count), {
    key: key("energy"),
  });
  console.log(
    `${entry.name}, ${typeof options.solver === "string" ? options.solver : options.solver.name}: energy distance ${found.value.toExponential(1)}, by chance ` +
      `${found.chance.mean.toExponential(1)} ± ${found.chance.deviation.toExponential(1)}; ${exits} exits`,
  );
  return found.excess;
}

describe("samples of a mixture, in y", () => {
  for (const entry of constrained)
    it(`have the distribution of the image of the mixture (${entry.name}: ${entry.domain})`, async () => {
      expect(await excess(entry, { solver: "domainPreserving", steps })).toBeLessThan(FAR);
    });

  for (const entry of constrained.filter(
    ({ name }) => name === "sigmoidMap" || name === "additiveLogistic",
  ))
    it(`have the distribution of the image of the mixture, also stepped in y (${entry.name})`, async () => {
      expect(
        await excess(entry, { solver: milstein({ onExit: "hold" }), steps: 60, count: 4000 }),
      ).toBeLessThan(FAR);
    });

  it("differ significantly from those of a drift scaled by 0.9", async () => {
    const entry = constrained.find(({ name }) => name === "additiveLogistic") as MapEntry;
    expect(
      await excess(entry, { solver: "domainPreserving", steps, driftScale: 0.9 }),
    ).toBeGreaterThan(8);
  });

  it("differ from exact samples as little as exact samples do", async () => {
    const entry = constrained.find(({ name }) => name === "additiveLogistic") as MapEntry;
    const count = countOf(entry);
    const [one, other] = [
      await exactSamples(entry, "exact", count),
      await exactSamples(entry, "other", count),
    ];
    const found = energyDistance(one, other, { key: key(1) });
    expect(found.excess).toBeLessThan(FAR);
  });

  it("have the Cramér distance in one dimension, and that of all pairs in several", () => {
    for (const n of [1, 2, 5]) {
      const [a, b] = ["a", "b"].map((name) =>
        normal(sampleKeys(key(name), 150), [n], { dtype: "float64" }),
      );
      const between = (u: typeof a, v: typeof a): number => {
        let total = 0;
        for (let i = 0; i < 150; i++)
          for (let j = 0; j < 150; j++) {
            let squares = 0;
            for (let k = 0; k < n; k++) squares += (u.data[i * n + k] - v.data[j * n + k]) ** 2;
            total += Math.sqrt(squares);
          }
        return total / 150 ** 2;
      };
      const pairs = 2 * between(a, b) - between(a, a) - between(b, b);
      const { value } = energyDistance(a, b, {
        key: key(2),
        directions: n === 1 ? 1 : 4000,
        permutations: 0,
      });
      expect(Math.abs(value / pairs - 1)).toBeLessThan(n === 1 ? 1e-12 : 0.05);
    }
  });

  it("are judged by a permutation test on the pooled samples", () => {
    const [a, b] = ["c", "d"].map((name) =>
      normal(sampleKeys(key(name), 20), [1], { dtype: "float64" }),
    );
    const own = { key: key(3), directions: 1 };
    const pool = [...a.data, ...b.data];
    const set = (rows: ArrayLike<number>): NdArray => ({
      shape: [rows.length, 1],
      dtype: "float64",
      data: Float64Array.from(rows, (i) => pool[i]),
    });
    const dealt = [1, 2, 3].map((deal) => {
      const { data } = permutation(fold(fold(key(3), "deal"), deal), 40);
      return energyDistance(set(data.subarray(0, 20)), set(data.subarray(20)), {
        ...own,
        permutations: 0,
      }).value;
    });
    const mean = (dealt[0] + dealt[1] + dealt[2]) / 3;
    const deviation = Math.sqrt(dealt.reduce((s, d) => s + (d - mean) ** 2, 0) / 2);
    const { value, chance, excess } = energyDistance(a, b, { ...own, permutations: 3 });
    expect(chance.mean).toBeCloseTo(mean, 14);
    expect(chance.deviation).toBeCloseTo(deviation, 14);
    expect(excess).toBeCloseTo((value - mean) / deviation, 10);
  });
});
