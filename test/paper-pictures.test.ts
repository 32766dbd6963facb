/** The pictures of the tutorial are those that its program draws. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { picture } from "../examples/paper/pictures.ts";

const folder = new URL("../docs/tutorials/pictures/", import.meta.url);

it.each(["map", "score", "norm", "reversal"])("%s.svg, byte for byte", async (name) => {
  expect(await picture(name)).toBe(readFileSync(new URL(`${name}.svg`, folder), "utf8"));
});
