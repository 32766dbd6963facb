import { key } from "diffeo/random";
import { expect, it } from "vitest";
import { EMPTY, SQUARES, UNKNOWN } from "../src/board/position.ts";
import { completeBoards } from "../src/diffusion/complete.ts";
import { openBoards, sampleBoards } from "../src/diffusion/sample.ts";
import { countedModel, tinyModel } from "./tiny.ts";

it("clamps a step that left the simplex to 10⁻⁶ from the face it crossed, and counts it", async () => {
  const seen = new Set<number>();
  const { exits } = await sampleBoards(tinyModel(), {
    count: 2,
    key: key(1),
    solver: "eulerMaruyama",
    steps: 6,
    threads: 1,
    onStep: async ({ points }) => {
      for (const v of (await points()).data as Float32Array) seen.add(v);
    },
  });
  expect(exits).toBeGreaterThan(0);
  expect(seen).toContain(Math.fround(1e-6));
});

it("opens once: rounds, scales, frames and completions need no further tracing, and equal those of a fresh sampler", async () => {
  const model = tinyModel();
  const { counted, traced } = countedModel(model);
  const partial = new Uint8Array(3 * SQUARES).fill(UNKNOWN).fill(EMPTY, 0, 100);
  const calls = [
    { count: 3, key: key(1), steps: 5 },
    { count: 3, key: key(1), steps: 5, first: 3 },
    { count: 3, key: key(2), steps: 4, driftScale: 1.03 },
    { count: 3, key: key(2), steps: 6, driftScale: 0.95, grid: "quadratic" },
    { key: key(3), steps: 4, partial, known: { strength: 3, resample: 1 } },
    { key: key(4), steps: 3, partial, known: { strength: 1, resample: 2 }, frames: 3 },
  ] as const;
  const draw = await openBoards(counted, { threads: 1 });
  const first = [];
  for (const call of calls) first.push(await draw(call));
  const compiled = traced();
  const again = [];
  for (const call of calls) again.push(await draw({ ...call }));
  expect(traced()).toBe(compiled);
  await draw.dispose();
  expect(again).toEqual(first);
  // The other way round, so that graphs are compiled for other calls than before.
  const fresh = await openBoards(model, { threads: 1 });
  for (const [i, call] of [...calls.entries()].reverse())
    expect(await fresh(call)).toEqual(first[i]);
  await fresh.dispose();
});

it("accepts only the names of its spaces, solvers and completions", async () => {
  const options = { count: 1, key: key(1), steps: 1, threads: 1 };
  const odd = "toString" as never;
  await expect(sampleBoards(tinyModel(), { ...options, space: odd })).rejects.toThrow(
    'unknown space "toString"',
  );
  await expect(sampleBoards(tinyModel(), { ...options, solver: odd })).rejects.toThrow(/toString/);
  const draw = await openBoards(tinyModel(), { threads: 1 });
  const partial = new Uint8Array(SQUARES).fill(UNKNOWN);
  await expect(
    completeBoards(draw, partial, { key: key(1), steps: 1, completion: odd }),
  ).rejects.toThrow('unknown completion "toString"');
  await draw.dispose();
});
