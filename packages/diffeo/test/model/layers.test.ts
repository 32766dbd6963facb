/** Initial weights of networks: their variance by the number of inputs. */
import { describe, expect, it } from "vitest";
import { convInit, gaussianArray, initialise, linearInit } from "../../src/model/layers.ts";
import { key, normal } from "../../src/random/index.ts";

const variance = (data: ArrayLike<number>): number =>
  Array.from(data).reduce((s, v) => s + v * v, 0) / data.length;

describe("initial parameters", () => {
  it("are normal with the given variance", () => {
    const [plain, narrow] = [normal(key(1), [50]).data, gaussianArray(key(1), [50], 0.04).data];
    narrow.forEach((v, i) => {
      expect(v).toBeCloseTo(0.2 * plain[i], 6);
    });
  });

  it("have the variance gain / fan-in: inputs, times the size of a filter", () => {
    const source = initialise(key(2));
    for (const [{ w, b }, wanted] of [
      [linearInit(source, 100, 200, 3), 3 / 100],
      [convInit(source, 3, 20, 100, 2), 2 / (9 * 20)],
    ] as const) {
      // 20,000 and 18,000 numbers know a variance to 1 %.
      expect(Math.abs(variance(w.data as Float32Array) / wanted - 1)).toBeLessThan(0.05);
      expect(b.data.every((v) => v === 0)).toBe(true);
    }
  });
});
