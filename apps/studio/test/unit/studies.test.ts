/** Numbers of studies that pages show are those of the records. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { BY_STEPS, CHANCE, STEPPED } from "../../src/pages/paths/stepped.ts";
import { LOST, WAYS } from "../../src/pages/scores/trained.ts";

const records = <T>(study: string): T[] =>
  JSON.parse(
    readFileSync(new URL(`../../../../studies/${study}/records.json`, import.meta.url), "utf8"),
  );

/** The middle value to three digits; null if it is not finite. */
function median(values: readonly number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  const value = (low + high) / 2;
  return Number.isFinite(value) ? Number(value.toPrecision(3)) : null;
}

interface Trained {
  readonly task: { readonly law: string; readonly map: string; readonly loss: string };
  readonly result: { readonly samples?: { readonly nats: number | null } };
}

describe.each(Object.entries(LOST))("the nats of %s", (_name, { map, ...lost }) => {
  const all = records<Trained>("where-to-train").filter(({ task }) => task.map === map);
  it.each(["inside", "boundary"] as const)("%s are those of where-to-train", (law) => {
    const medians = WAYS.map(({ way }) => {
      const own = all.filter(({ task }) => task.law === law && task.loss === way);
      expect(own.length).toBe(10);
      return median(own.map(({ result }) => result.samples?.nats ?? Number.POSITIVE_INFINITY));
    });
    expect(medians).toEqual(lost[law]);
  });
});

interface Stepped {
  readonly task: { readonly scale: number };
  readonly result: {
    readonly chance: number;
    readonly ways: readonly {
      readonly way: string;
      readonly w: number;
      readonly steps: number;
      readonly distance: number | null;
    }[];
  };
}

it("the distances by steps are those of sample-where", () => {
  const all = records<Stepped>("sample-where");
  const near = all.filter(({ task }) => task.scale === 4);
  const chance = near.map(({ result }) => 1000 * result.chance).sort((a, b) => a - b);
  expect(chance.length).toBe(50);
  expect([chance[4], chance[45]].map((c) => Number(c.toPrecision(3)))).toEqual(CHANCE);
  for (const { way, distances } of BY_STEPS)
    for (const [i, steps] of STEPPED.entries()) {
      const own = near.flatMap(({ result }) =>
        result.ways.filter((r) => r.way === way && r.w === 1 && r.steps === steps),
      );
      expect(median(own.map(({ distance }) => 1000 * (distance ?? Number.POSITIVE_INFINITY)))).toBe(
        distances[i],
      );
    }
});
