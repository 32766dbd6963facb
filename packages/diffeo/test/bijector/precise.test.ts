import { describe, expect, it } from "vitest";
import { catalogue } from "../../src/bijector/index.ts";
import { directions, evaluateAt, patterns } from "../../src/check/probe.ts";
import { fromX } from "../../src/check/property.ts";
import { type NdArray, toFloat64 } from "../../src/graph/index.ts";
import { key, normal } from "../../src/random/index.ts";
import { precise, preciseMaps } from "./precise.ts";

const COUNT = 10;

const row = ({ data, shape }: NdArray, r: number): number[] => {
  const size = data.length / shape[0];
  return [...toFloat64(data).subarray(r * size, (r + 1) * size)];
};

/** The largest error of every quantity, relative to its size, against 600 binary digits. */
async function errors(name: string, points: NdArray): Promise<Record<string, number>> {
  const { map, event } = catalogue.find((e) => e.name === name) as (typeof catalogue)[number];
  const random = directions(map, event, COUNT, key("precise"));
  const [found] = await evaluateAt(
    map,
    undefined,
    random,
    { device: "cpu", type: "float64" },
    [points],
    (probe) => fromX(map, probe),
  );
  const worst: Record<string, number> = {};
  for (let r = 0; r < COUNT; r++) {
    const [, v, s, w, scalar, , matrix] = random.map((a) => row(a, r));
    const exact = precise(preciseMaps[name], row(points, r), {
      v,
      s,
      w,
      scalar: scalar[0],
      matrix,
    });
    for (const [quantity, wanted] of Object.entries(exact)) {
      const got = row(found.result[quantity], r);
      expect(got.length).toBe(wanted.length);
      // A logarithm near 0 is as good as its absolute error.
      const size = Math.max(quantity.startsWith("log") ? 1 : 0, ...wanted.map(Math.abs));
      const gap = Math.max(...got.map((g, i) => Math.abs(g - wanted[i])));
      // Differences in 600 digits leave 1e-80 of what is exactly 0.
      worst[quantity] = Math.max(worst[quantity] ?? 0, gap < 1e-80 ? 0 : gap / size);
    }
  }
  return worst;
}

describe("functions of x agree with the definition in 600 binary digits", () => {
  for (const name of Object.keys(preciseMaps)) {
    const { event } = catalogue.find((e) => e.name === name) as (typeof catalogue)[number];
    it(`${name}, at typical points to 12 digits`, async () => {
      const points = normal(key("typical"), [COUNT, ...event], { dtype: "float64" });
      for (const [quantity, error] of Object.entries(await errors(name, points)))
        expect(error, quantity).toBeLessThan(1e-12);
    });
    it(`${name}, at the corners of |x| ≤ 20 to 5 digits`, async () => {
      const points = patterns(event, COUNT, 20, key("corners"));
      for (const [quantity, error] of Object.entries(await errors(name, points)))
        expect(error, quantity).toBeLessThan(1e-5);
    });
  }
});
