/**
 * Near the boundary of the simplex: steps in y are biased however many there are, steps in x are
 * not.
 */
import { describe, expect, it } from "vitest";
import { key } from "../../src/random/index.ts";
import { clampToSimplex, eulerMaruyama, sample } from "../../src/sampler/index.ts";
import { reversePush, vp } from "../../src/sde/index.ts";
import { occupancy, occupied, pieces, simplex, squareScore } from "./squares.ts";

const sde = vp();
const process = reversePush(sde, simplex, squareScore(sde));
const standardError = (count: number): number => Math.sqrt((occupied * (1 - occupied)) / count);
const shared = { shape: [pieces], key: key("squares"), threads: 1 } as const;

describe("squares of a chess board", () => {
  it.each([100, 250])("have the right number of pieces after %i steps in x", async (steps) => {
    const { samples, exits, clamps } = await sample(process, { ...shared, count: 1500, steps });
    const found = occupancy(samples);
    console.log(
      `domain-preserving, ${steps} steps: ${found.toFixed(3)} occupied, of ${occupied.toFixed(3)}`,
    );
    expect(Math.abs(found - occupied)).toBeLessThan(3.5 * standardError(1500));
    expect([exits, clamps]).toEqual([0, 0]);
  });

  it.each([250, 1000])(
    "have a wrong number after %i steps in y, clamped or not, and exits are counted",
    async (steps) => {
      const count = 600;
      const result = await sample(process, {
        ...shared,
        count,
        steps,
        solver: eulerMaruyama({ onExit: clampToSimplex(1e-6) }),
      });
      const found = occupancy(result.samples);
      console.log(
        `Euler–Maruyama in y, ${steps} steps: ${found.toFixed(3)} occupied, ${result.exits} exits, ${result.clamps} clamps`,
      );
      expect(Math.abs(found - occupied)).toBeGreaterThan(10 * standardError(count));
      expect(result.exits).toBeGreaterThan(count);
      expect(result.clamps).toBeGreaterThanOrEqual(result.exits);
      await expect(
        sample(process, { ...shared, count, steps, solver: "eulerMaruyama" }),
      ).rejects.toThrow(/left the domain .* in step \d+, from t/);
    },
  );
});
