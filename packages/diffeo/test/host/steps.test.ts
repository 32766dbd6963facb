import { describe, expect, it } from "vitest";
import {
  finish,
  finishInTurns,
  rightSvd,
  rightSvdSteps,
  type Steps,
} from "../../src/host/index.ts";

/** Counts to `most`, busy for some milliseconds per step. */
function* counting(most: number, milliseconds: number, counts: number[]): Steps<number> {
  for (let i = 0; i < most; i++) {
    for (const began = performance.now(); performance.now() - began < milliseconds; );
    counts.push(i);
    yield;
  }
  return most;
}

describe("a computation in steps", () => {
  it("has the same result with and without turns of the event loop", async () => {
    const n = 24;
    const matrix = Float64Array.from({ length: 40 * n }, (_, i) => Math.sin(i * i));
    const inTurns = await finishInTurns(rightSvdSteps(matrix, n));
    expect(inTurns).toEqual(rightSvd(matrix, n));
    expect(finish(counting(3, 0, []))).toBe(3);
  });

  it("lets timers run in between, and stops when one of them aborts its signal", async () => {
    const controller = new AbortController();
    const counts: number[] = [];
    setTimeout(() => controller.abort(new Error("enough")));
    const steps = counting(10_000, 1, counts);
    await expect(finishInTurns(steps, controller.signal)).rejects.toThrow("enough");
    expect(counts.length).toBeGreaterThan(0);
    expect(counts.length).toBeLessThan(10_000);
  });
});
