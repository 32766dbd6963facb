/** The pictures of the tutorial and of the first page are those that their program draws. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { picture } from "../examples/paper/pictures.ts";

it.each([
  "tutorials/pictures/map",
  "tutorials/pictures/score",
  "tutorials/pictures/norm",
  "tutorials/pictures/reversal",
  "public/home",
])("%s.svg, byte for byte", async (path) => {
  const file = new URL(`../docs/${path}.svg`, import.meta.url);
  expect(await picture(path.split("/").at(-1)!)).toBe(readFileSync(file, "utf8"));
});
