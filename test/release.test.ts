/** What a release relies on is the same in all packages. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { folders, jsrOf, readManifest, root } from "../scripts/release.ts";

const manifests = folders.map(readManifest);

it("packages have one version, and need each other in that version", () => {
  const [{ version }] = manifests;
  const names = new Set(manifests.map(({ name }) => name));
  for (const manifest of manifests) {
    expect(manifest.version).toBe(version);
    for (const [field, list] of Object.entries(manifest))
      if (/ependencies$/.test(field))
        for (const [name, wanted] of Object.entries(list as Record<string, string>))
          if (names.has(name)) expect(`${manifest.name} ${name} ${wanted}`).toMatch(version);
  }
  expect(readFileSync(join(root, "CITATION.cff"), "utf8")).toContain(`\nversion: ${version}\n`);
  expect(readFileSync(join(root, "docs/start/cite.md"), "utf8")).toContain(`{${version}}`);
  expect(readFileSync(join(root, "docs/how-to/browser.md"), "utf8")).toContain(
    `diffeo@${version}/`,
  );
});

it("packages have a description, keywords, a licence and an engine", () => {
  for (const { name, description, keywords, license, engines } of manifests)
    expect({ name, description, keywords, license, engines }).toEqual({
      name,
      description: expect.stringMatching(/^.{20,}$/),
      keywords: expect.arrayContaining([expect.any(String)]),
      license: "MIT",
      engines: { node: ">=20.20" },
    });
});

it("JSR has the paths of npm", () => {
  const text = readFileSync(join(root, "packages/diffeo/jsr.json"), "utf8");
  expect(JSON.parse(text)).toEqual(jsrOf(readManifest("packages/diffeo")));
});
