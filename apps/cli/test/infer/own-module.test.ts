/** The digest of a user's module: what it covers, and what it does not depend on. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { plainScripts } from "../../../../test/scripts.ts";

const root = mkdtempSync(join(tmpdir(), "diffeo-own-"));
afterAll(() => rmSync(root, { recursive: true }));

const source = new URL("../../src/shell/own-module.ts", import.meta.url);

/** What one process imports: Vitest has a loader of its own, which Node's does not see. */
function importAll(paths: readonly string[]): { digest: string; value: unknown }[] {
  const { script } = plainScripts({ script: source });
  const code = `const { importOwn } = await import(${JSON.stringify(script.href)});
    const all = [];
    for (const path of ${JSON.stringify(paths)}) {
      const { digest, exports } = await importOwn(path);
      all.push({ digest, value: exports.default });
    }
    console.log(JSON.stringify(all));`;
  const flags = ["--no-warnings", "--input-type=module", "--eval", code];
  return JSON.parse(execFileSync(process.execPath, flags, { encoding: "utf8" }));
}

const files = {
  "model.mjs": 'import { a } from "./lib/a.mjs"; import b from "./b.cjs"; export default a + b;',
  "lib/a.mjs": 'import c from "../c.json" with { type: "json" }; export const a = c.length;',
  "c.json": "[1, 2]",
  "b.cjs": 'require("node:fs"); module.exports = require("./d.cjs");',
  "d.cjs": "module.exports = 3;",
};

/** The files in a new folder, some of them changed; the path of one. */
function copy(name: string, changes: Readonly<Record<string, string>>, file = "model.mjs"): string {
  const folder = join(root, name);
  mkdirSync(join(folder, "lib"), { recursive: true });
  for (const [path, text] of Object.entries({ ...files, ...changes }))
    writeFileSync(join(folder, path), text);
  return join(folder, file);
}

it("covers every file that a module imports or requires, and nothing else", () => {
  const model = copy("first", {});
  const link = join(root, "link.mjs");
  symlinkSync(model, link);
  cpSync(join(root, "first"), join(root, "moved"), { recursive: true });
  const other = 'export { a as default } from "./lib/a.mjs";';
  const same = [
    model,
    link,
    model,
    join(root, "moved", "model.mjs"),
    copy("more", { "unused.mjs": "" }),
  ];
  const changed = Object.entries(files).map(([name, text], i) =>
    copy(`changed-${i}`, { [name]: `${text} ` }),
  );
  // These share modules with those above, which are loaded by then.
  const others = ["first", "changed-0", "changed-1"].map((name) => join(root, name, "other.mjs"));
  for (const path of others) writeFileSync(path, other);
  const found = importAll([...same, ...changed, ...others]);

  const { digest } = found[0];
  expect(digest).toMatch(/^[0-9a-f]{16}$/);
  expect(found.slice(0, same.length)).toEqual(same.map(() => ({ digest, value: 5 })));
  const digests = found.slice(same.length, same.length + changed.length).map((one) => one.digest);
  expect(new Set([digest, ...digests]).size).toBe(1 + changed.length);
  const [first, withModel, withA] = found.slice(-3);
  expect(withModel).toEqual(first);
  expect(withA.digest).not.toBe(first.digest);
});
