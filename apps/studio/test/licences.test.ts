/**
 * The studio ships code of other packages, so it ships their licences. The build writes
 * `licences.txt`; the file next to the sources is compared with it. After a change of dependencies,
 * `npx vitest run --project studio licences -u` updates it.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, it } from "vitest";

it("lists the packages in the build, with the text of their licences", async () => {
  const text = readFileSync(join(inject("studio").folder, "licences.txt"), "utf8");
  await expect(text).toMatchFileSnapshot("../licences.txt");
});

it("has the full text for packages that are certainly in the build", () => {
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
