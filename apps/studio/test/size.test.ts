/** The size of the built studio. */
import { expect, inject, it } from "vitest";
import { appFiles, homeFiles, MOST_BYTES } from "./size.ts";

it("has at most 565 kB, without weights, the runtime's binary and fonts", () => {
  const total = appFiles(inject("studio").folder).reduce((sum, { bytes }) => sum + bytes, 0);
  expect(total).toBeGreaterThan(100_000);
  expect(total).toBeLessThanOrEqual(MOST_BYTES);
});

it("loads at most 40 kB of scripts and style sheets before the home page appears", () => {
  const { folder } = inject("studio");
  const needed = homeFiles(folder);
  const files = appFiles(folder).filter(({ name }) => needed.includes(name));
  expect(files.map(({ name }) => name.replace(/-.*\./, "."))).toEqual(
    expect.arrayContaining(["assets/index.js", "assets/Home.js", "assets/Equation.css"]),
  );
  expect(files.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(40_000);
});
