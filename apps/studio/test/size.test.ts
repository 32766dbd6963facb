/** The studio stays as small as it was promised, where there is no browser too. */
import { expect, inject, it } from "vitest";
import { appFiles, MOST_BYTES } from "./size.ts";

it("is fetched in at most 540 kB, without weights, the runtime's binary and fonts", () => {
  const total = appFiles(inject("studio").folder).reduce((sum, { bytes }) => sum + bytes, 0);
  expect(total).toBeGreaterThan(100_000);
  expect(total).toBeLessThanOrEqual(MOST_BYTES);
});
