/** What a release relies on is the same in all packages. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { filesOfVersion, folders, jsrOf, readManifest, root } from "../scripts/release.ts";

const manifests = folders.map(readManifest);

it("packages have the same version, and depend on each other in that version", () => {
  const [{ version }] = manifests;
  const names = new Set(manifests.map(({ name }) => name));
  for (const manifest of manifests) {
    expect(manifest.version).toBe(version);
    for (const [field, list] of Object.entries(manifest))
      if (/ependencies$/.test(field))
        for (const [name, wanted] of Object.entries(list as Record<string, string>))
          if (names.has(name)) expect(`${manifest.name} ${name} ${wanted}`).toMatch(version);
  }
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

it("a release changes every statement of the version", () => {
  const old = readManifest("packages/diffeo").version;
  const files = filesOfVersion("9.8.7", "2030-01-31");
  const before = (path: string): string => readFileSync(join(root, path), "utf8");
  const count = (text: string, part: string): number => text.split(part).length - 1;
  for (const [path, text] of files)
    if (path !== "CHANGELOG.md") {
      expect(`${path} ${count(text, "9.8.7")}`).toBe(`${path} ${count(before(path), old)}`);
      expect(text.replaceAll("9.8.7", old)).toBe(before(path));
    }
  expect(files.get("CHANGELOG.md")).toMatch(/\n## Unreleased\n\n## 9\.8\.7 \(2030-01-31\)\n/);
  const stating = execFileSync("git", ["grep", "-lwF", old, "--", "*.md", "*.cff"], {
    ...{ cwd: root, encoding: "utf8" },
  });
  expect(
    stating
      .trim()
      .split("\n")
      .filter((path) => !files.has(path)),
  ).toEqual([]);
  expect(() => filesOfVersion("next", "2030-01-31")).toThrow(/"next" is not a version/);
});
