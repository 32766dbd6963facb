/** The size of the built studio. */
import { expect, inject, it } from "vitest";
import { appFiles, MOST_BYTES } from "./size.ts";

it("has at most 540 kB, without weights, the runtime's binary and fonts", () => {
  const total = appFiles(inject("studio").folder).reduce((sum, { bytes }) => sum + bytes, 0);
  expect(total).toBeGreaterThan(100_000);
  expect(total).toBeLessThanOrEqual(MOST_BYTES);
});
