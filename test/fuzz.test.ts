/**
 * Parsers on inputs that are almost right, a thousand each; `npm run fuzz` gives them a hundred
 * thousand.
 */
import { expect, it } from "vitest";
import { feed } from "./fuzz/fuzz.ts";
import { parsers } from "./fuzz/parsers.ts";

it.each(Object.keys(await parsers()))("%s reads or refuses whatever it is given", async (name) => {
  const { read, refused } = await feed(name, 1000, Number(process.env.FC_SEED ?? 2024));
  // Inputs that all fail at once, or never, would test nothing.
  expect(read).toBeGreaterThan(20);
  expect(refused).toBeGreaterThan(20);
});
