/** More classes than a byte can number: 300 and 512, from data to a file and to samples. */
import { describe, expect, it } from "vitest";
import {
  type ClassArray,
  categorical,
  groupSums,
  meets,
  parseModel,
  parseRules,
  sampleGrids,
  serializeModel,
  standardise,
  trainGrid,
} from "../../src/categorical/index.ts";
import { evaluate } from "../../src/engine/index.ts";
import type { Tensor } from "../../src/graph/index.ts";
import { key } from "../../src/random/index.ts";

const uniformShares = (classes: number): number[] => new Array<number>(classes).fill(1 / classes);

describe("an encoding", () => {
  it.each([
    ["additiveLogistic", 512],
    ["isometricLogRatio", 512],
    ["stickBreaking", 300],
    ["isometricLogRatio", 256],
  ] as const)("under %s decodes each of %i classes", (map, classes) => {
    const encoding = categorical(standardise(uniformShares(classes), { grid: [2], map }));
    const data = Uint16Array.from({ length: classes }, (_, k) => k);
    const x = encoding.encode(data);
    const decoded = encoding.decode(x);
    expect(decoded).toBeInstanceOf(classes > 256 ? Uint16Array : Uint8Array);
    expect([...decoded]).toEqual([...data]);
    const mixture = encoding.mixture(x);
    const own = [...data].map((k) => mixture[k * classes + k]);
    // The share of the own class is 1 − nε = ½ + ε.
    for (const p of own) expect(Math.abs(p - 0.5 - 0.5 / classes)).toBeLessThan(1e-5);
    const y = mixture.filter((_, i) => i % classes < classes - 1);
    expect([...encoding.decodeSimplex(y)]).toEqual([...data]);
  });
});

describe("300 classes", () => {
  const CLASSES = 300;
  /** Pairs of one class each. */
  const pairs = Uint16Array.from({ length: 2 * 200 }, (_, i) => 100 + (Math.floor(i / 2) % 200));
  const symbols = Array.from({ length: CLASSES }, (_, k) => `w${k}`);

  it.each<[string, object]>([
    ["transformer", {}],
    ["exchangeable network", { groups: [[[0, 1]]] }],
  ])(
    "make a model, a %s, whose file gives the same samples and which keeps known sites",
    async (_, more) => {
      const model = await trainGrid(pairs, {
        ...{ classes: CLASSES, symbols, grid: [2], steps: 2, batch: 16, threads: 1 },
        ...more,
      });
      const bytes = Buffer.concat(serializeModel(model, "F32"));
      const known = { classes: Uint16Array.of(299, CLASSES, 256, CLASSES, CLASSES, 43) };
      const draw = (of: typeof model): Promise<ClassArray> =>
        sampleGrids(of, {
          ...{ count: 3, key: key(3), steps: 4, solver: "dpmSolver2MSde", threads: 1, known },
        });
      const drawn = await draw(model);
      expect(drawn).toBeInstanceOf(Uint16Array);
      expect([drawn[0], drawn[2], drawn[5]]).toEqual([299, 256, 43]);
      expect(await draw(parseModel(bytes))).toEqual(drawn);
    },
  );

  it("refuse a class beyond them", async () => {
    const options = { classes: CLASSES, grid: [2], steps: 1 };
    await expect(trainGrid(Uint16Array.of(0, 1, 2, 300), options)).rejects.toThrow(
      "site 3 has class 300 of 300",
    );
  });
});

it.each([256, 300])("rules mark unknown sites among %i classes", (classes) => {
  const { known, conditions } = parseRules("(2) = 255; sum all >= 300", { grid: [3], classes });
  expect([...known]).toEqual([classes, 255, classes]);
  expect(meets([200, 255, 0], conditions[0])).toBe(true);
  expect(meets([20, 255, 0], conditions[0])).toBe(false);
});

it("meets a lower bound on a sum that is beyond ten thousand", async () => {
  const [classes, sites] = [300, 60];
  const certain = Float64Array.from({ length: sites * classes }, (_, i) =>
    i % classes === classes - 1 ? 0 : -50,
  );
  const values = Array.from({ length: classes }, (_, k) => k);
  const sum = { sites: Array.from({ length: sites }, (_, s) => s), values, least: 100 };
  const log = await evaluate((p: Tensor) => groupSums(p, [sum]), {
    ...{ shape: [1, sites, classes], dtype: "float64", data: certain },
  });
  // The sum is 60 · 299 = 17,940.
  expect(Number(log.data[0])).toBeCloseTo(0, 6);
});
