/**
 * The public symbols of the packages: their list, their documentation, and examples that compile.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { hiddenNeeds } from "./surface/declarations.ts";
import { examplesOf, faultsOfExamples } from "./surface/examples.ts";
import { readSurface, surfaceList, undocumented, unmentioned } from "./surface/symbols.ts";

const root = join(import.meta.dirname, "..");
const surface = readSurface(root);

it("exports the symbols of test/surface/public-symbols.txt, which `npm run symbols` renews", () => {
  const list = readFileSync(join(root, "test", "surface", "public-symbols.txt"), "utf8");
  expect(surfaceList(surface)).toBe(list);
});

it("documents every public symbol", () => {
  expect(undocumented(root, surface)).toEqual([]);
});

it("names every public function and value in a document or an example", () => {
  expect(unmentioned(root, surface)).toEqual([]);
});

it("publishes every name that public types need", () => {
  expect(hiddenNeeds(root, surface)).toEqual([]);
});

it("has examples that compile", () => {
  const examples = examplesOf(surface);
  expect(examples.length).toBeGreaterThan(5);
  expect(faultsOfExamples(root, surface, examples)).toEqual([]);
});
