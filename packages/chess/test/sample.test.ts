import { key } from "diffeo/random";
import { expect, it } from "vitest";
import { sampleBoards } from "../src/diffusion/sample.ts";
import { tinyModel } from "./tiny.ts";

it("puts a step that left the simplex back to 10⁻⁶ from the face it crossed, and counts it", async () => {
  const seen = new Set<number>();
  const { exits } = await sampleBoards(tinyModel(), {
    count: 2,
    key: key(1),
    method: "eulerMaruyama",
    steps: 6,
    threads: 1,
    onStep: async ({ points }) => {
      for (const v of (await points()).data as Float32Array) seen.add(v);
    },
  });
  expect(exits).toBeGreaterThan(0);
  expect(seen).toContain(Math.fround(1e-6));
});
