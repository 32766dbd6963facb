/** Training a model on classes and sampling classes in one call each. */
import { describe, expect, it } from "vitest";
import {
  gridSpec,
  sampleGrids,
  suggestedNetwork,
  type TrainGridOptions,
  trainGrid,
} from "../../src/categorical/index.ts";
import { key } from "../../src/random/index.ts";
import { flatten, memoryStore } from "../../src/train/index.ts";

const LENGTH = 4;
/** Sequences of one class each. */
const data = Uint8Array.from({ length: 60 * LENGTH }, (_, i) => Math.floor(i / LENGTH) % 3);
const options: TrainGridOptions = {
  classes: 3,
  grid: [LENGTH],
  network: {
    kind: "transformer",
    channels: 2,
    outputs: 3,
    grid: [LENGTH],
    width: 16,
    layers: 1,
    heads: 2,
  },
  steps: 30,
  batch: 16,
};

describe("training", () => {
  it("resumes from a store with the numbers of an uninterrupted run", async () => {
    const whole = await trainGrid(data, options);
    const store = memoryStore();
    const stop = new AbortController();
    await trainGrid(data, {
      ...options,
      store,
      signal: stop.signal,
      onReport: ({ step }) => {
        if (step >= 10) stop.abort();
      },
    });
    const reached = await store.reached();
    expect(reached).toBeLessThan(30);
    const resumed = await trainGrid(data, { ...options, store });
    expect(await store.reached()).toBe(30);
    expect(flatten(resumed.parameters)).toEqual(flatten(whole.parameters));
    await expect(trainGrid(data, { ...options, seed: 1, store })).rejects.toThrow(
      "the store contains another run",
    );
    // As many grids, of the same shares.
    await expect(trainGrid(data.toReversed(), { ...options, store })).rejects.toThrow(
      "the store contains another run",
    );
  });

  it("reports a loss that falls", async () => {
    const losses: number[] = [];
    await trainGrid(data, {
      ...options,
      steps: 60,
      rate: 0.01,
      onReport: ({ loss }) => void losses.push(loss),
    });
    expect(losses.length).toBe(20);
    expect(losses.at(-1)).toBeLessThan(0.8 * losses[0]);
  });

  it("chooses unset options by the data", () => {
    const { network, encoding } = gridSpec(data, { classes: 3, grid: [LENGTH] });
    expect(network).toEqual({
      kind: "transformer",
      channels: 2,
      outputs: 3,
      grid: [4],
      width: 32,
      layers: 3,
      heads: 4,
    });
    expect(encoding.classes).toBe(3);
    const many = gridSpec(
      Uint8Array.from({ length: 256 }, (_, k) => k),
      { classes: 256, grid: [2] },
    );
    expect([encoding.epsilon, many.encoding.epsilon]).toEqual([0.01, 1 / 512]);
    expect([[16], [8, 8], [28, 28]].map(suggestedNetwork)).toEqual(["small", "medium", "large"]);
  });

  it.each<[string, Uint8Array, Partial<TrainGridOptions>, string]>([
    ["a class that is none", Uint8Array.of(0, 1, 2, 3, 0, 1, 2, 0), {}, "site 3 has class 3 of 3"],
    ["half a grid", data.subarray(0, 6), {}, "6 numbers are not complete grids [4]"],
    ["one grid", data.subarray(0, 4), {}, "4 sites, less than two grids [4]"],
    ["numbers in a list", [...data] as never, {}, "the data are not a Uint8Array"],
    ["half a class", data, { classes: 2.5 }, "`classes` is 2.5. Give the number of classes"],
    ["no classes", data, { classes: undefined as never }, "`classes` is undefined"],
    ["no grid", data, { grid: undefined as never }, "`grid` is undefined. Give its sizes"],
    ["a grid of no axes", data, { grid: [] }, "`grid` is []"],
    ["a grid of no sites", data, { grid: [4, 0] }, "`grid` is [4,0]"],
    [
      "a size of no name",
      data,
      { network: "huge" as never },
      'unknown `network` "huge". Use one of small, medium',
    ],
    ["no steps", data, { steps: 0 }, "`steps` is 0. Give an integer"],
    ["an empty batch", data, { batch: 0 }, "`batch` is 0"],
    ["a rate that goes uphill", data, { rate: -1 }, "`rate` is -1"],
    ["no steps between checkpoints", data, { saveEvery: 0 }, "`saveEvery` is 0"],
  ])("refuses %s", async (_, classes, other, message) => {
    await expect(trainGrid(classes, { ...options, ...other })).rejects.toThrow(message);
  });
});

describe("sampling", () => {
  it("gives grids that depend on key and index only, for any batch size, and keeps known sites", async () => {
    const model = await trainGrid(data, { ...options, steps: 5 });
    const draw = (batch: number) =>
      sampleGrids(model, { count: 6, key: key(1), steps: 8, batch, threads: 1 });
    const grids = await draw(6);
    expect(grids.length).toBe(6 * LENGTH);
    expect(Math.max(...grids)).toBeLessThan(3);
    expect(await draw(2)).toEqual(grids);
    const classes = new Uint8Array(6 * LENGTH).fill(255);
    for (let i = 0; i < 6; i++) classes[i * LENGTH] = i % 3;
    const kept = await sampleGrids(model, {
      count: 6,
      key: key(1),
      steps: 8,
      threads: 1,
      known: { classes },
    });
    for (let i = 0; i < 6; i++) expect(kept[i * LENGTH]).toBe(i % 3);
  });
});
