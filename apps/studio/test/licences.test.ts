/**
 * The studio ships code of other packages, so it ships their licences. `licences.txt` beside the
 * source is what the build writes; after a change of dependencies,
 * `npx vitest run --project studio licences -u` renews it.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, it } from "vitest";

it("are those of the packages in the build, in full", async () => {
  const text = readFileSync(join(inject("studio").folder, "licences.txt"), "utf8");
  await expect(text).toMatchFileSnapshot("../licences.txt");
});

it("has the full text for packages that are known to be in it", () => {
  const text = readFileSync(join(inject("studio").folder, "licences.txt"), "utf8");
  const known = ["@observablehq/plot", "d3-scale", "katex", "onnxruntime-web", "pbf", "svelte"];
  const texts = text.split(/^-{80}$/m);
  for (const name of known) {
    const own = texts.filter((one) => one.trim().startsWith(`${name} (`));
    expect(own).toHaveLength(1);
    expect(own[0]).toMatch(/Copyright|copyright/);
    expect(own[0]).toMatch(/AS IS/);
  }
});
