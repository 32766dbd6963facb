import { describe, expect, it } from "vitest";
import {
  denoiserBatch,
  denoiserOf,
  type Focus,
  gridsOf,
  standardise,
} from "../../src/categorical/index.ts";
import { key } from "../../src/random/index.ts";

const [ROWS, COLUMNS, CLASSES] = [2, 3, 4];
const model = denoiserOf({
  encoding: standardise([0.1, 0.2, 0.3, 0.4], { grid: [ROWS, COLUMNS] }),
  parameterisation: "noise",
  network: {
    kind: "unet",
    channels: CLASSES - 1,
    width: 8,
    multipliers: [1],
    blocks: 1,
    groups: 4,
  },
});
const COUNT = 5;
/** Grid i begins with class i mod 4, then counts on. */
const classes = Uint8Array.from(
  { length: COUNT * 6 },
  (_, i) => (Math.floor(i / 6) + (i % 6) + (i >= 24 ? 1 : 0)) % CLASSES,
);
const grids = gridsOf(model.encoding, classes);
const SIZE = 400;
const batch = (step: number, size = SIZE, focus?: Focus) =>
  denoiserBatch(model, grids, { size, key: key(3), step, focus });
const timesOf = (step: number, size = SIZE, focus?: Focus): number[] => [
  ...(batch(step, size, focus)[1].data as Float32Array),
];
const { horizon } = model.denoiser.sde;

describe("the batch of a step", () => {
  it("holds whole grids of the data, all of them in turn, and different ones per step", () => {
    const [{ shape, data }] = batch(1);
    expect(shape).toEqual([SIZE, ROWS, COLUMNS]);
    const known = Array.from({ length: COUNT }, (_, i) => classes.slice(6 * i, 6 * i + 6).join());
    const drawn = Array.from({ length: SIZE }, (_, i) =>
      (data as Int32Array).slice(6 * i, 6 * i + 6).join(),
    );
    expect(new Set(drawn)).toEqual(new Set(known));
    expect(batch(1)).toEqual(batch(1));
    for (const part of [0, 1, 2]) expect(batch(2)[part].data).not.toEqual(batch(1)[part].data);
  });

  it("has times spread evenly over [0.001, T], different for the two of a pair", () => {
    for (const step of [1, 2, 3]) {
      const t = timesOf(step);
      const sorted = t.toSorted((a, b) => a - b);
      expect(sorted[0]).toBeGreaterThanOrEqual(Math.fround(0.001));
      expect(sorted.at(-1)).toBeLessThanOrEqual(horizon);
      // Multiples of the golden ratio leave no gap much above the mean one.
      const ends = [0.001, ...sorted, horizon];
      const gaps = ends.slice(1).map((v, i) => v - ends[i]);
      expect(Math.max(...gaps)).toBeLessThan((2.7 * horizon) / SIZE);
      for (let i = 0; i < SIZE / 2; i++)
        expect(Math.abs(t[i] - t[i + SIZE / 2])).toBeGreaterThan(1e-3);
    }
  });

  it("has times of at least 0.001, and some near it", () => {
    const least = Math.min(...Array.from({ length: 100 }, (_, step) => Math.min(...timesOf(step))));
    expect(least).toBeGreaterThanOrEqual(Math.fround(0.001));
    expect(least).toBeLessThan(0.0011);
  });

  it("samples the given share from the focus, uniformly, and the rest from everywhere", () => {
    const focus = { from: 0.2, to: 0.5, share: 0.85 };
    const t = timesOf(1, 4000, focus);
    const within = (from: number, to: number): number =>
      t.filter((v) => v >= from && v < to).length / t.length;
    const rest = (from: number, to: number): number => (0.15 * (to - from)) / (horizon - 0.001);
    expect(within(0.2, 0.5)).toBeCloseTo(0.85 + rest(0.2, 0.5), 2);
    expect(within(0.2, 0.3)).toBeCloseTo(0.85 / 3 + rest(0.2, 0.3), 2);
    expect(within(0, 0.2)).toBeCloseTo(rest(0.001, 0.2), 2);
    expect(within(0.5, 0.75)).toBeCloseTo(rest(0.5, 0.75), 2);
  });

  it.each([8, 7])("has noise in pairs ε, −ε, in a batch of %d", (size) => {
    const { shape, data } = batch(1, size)[2];
    expect(shape).toEqual([size, ROWS, COLUMNS, CLASSES - 1]);
    const [half, event] = [Math.ceil(size / 2), 18];
    const noise = data as Float32Array;
    for (let i = half * event; i < noise.length; i++)
      expect(noise[i]).toBe(-noise[i - half * event]);
    const first = noise.subarray(0, half * event);
    expect(new Set(first.map(Math.abs)).size).toBe(first.length);
  });
});

it("refuses classes that are not whole grids", () => {
  expect(() => gridsOf(model.encoding, classes.subarray(1))).toThrow(
    "29 numbers are not complete grids [2, 3]",
  );
});
