/** Parsers on a thousand almost valid inputs each; `npm run fuzz` uses a hundred thousand. */
import { expect, it } from "vitest";
import { feed } from "./fuzz/fuzz.ts";
import { parsers } from "./fuzz/parsers.ts";

it.each(Object.keys(await parsers()))("%s reads or refuses every input", async (name) => {
  const { read, refused } = await feed(name, 1000, Number(process.env.FC_SEED ?? 2024));
  // The test is meaningless if all inputs are refused, or none.
  expect(read).toBeGreaterThan(20);
  expect(refused).toBeGreaterThan(20);
});
