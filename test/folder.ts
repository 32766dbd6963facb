/** A folder of temporary files for a file of tests, removed after them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** Makes the folder; `at` gives the path of a file in it. */
export function testFolder(name: string): { folder: string; at: (file: string) => string } {
  const folder = mkdtempSync(join(tmpdir(), `diffeo-${name}-`));
  afterAll(() => rmSync(folder, { recursive: true }));
  return { folder, at: (file) => join(folder, file) };
}
