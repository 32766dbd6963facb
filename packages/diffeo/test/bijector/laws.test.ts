import { describe, expect, it } from "vitest";
import { catalogue, mapNamed } from "../../src/bijector/index.ts";
import { checkMap } from "../../src/check/index.ts";
import { key } from "../../src/random/index.ts";

describe("every map of the catalogue keeps every law", () => {
  for (const { name, map, event, from } of catalogue)
    it(`${name}`, async () => {
      for (const seed of ["first points", "second points"]) {
        const report = await checkMap(map, { event, key: key(seed), ...(from && { from }) });
        expect(report.laws.filter((law) => !law.pass)).toEqual([]);
        expect(report.laws.length).toBeGreaterThan(18);
      }
    });
});

it("finds a map by its name, and lists them all when there is none", () => {
  expect(mapNamed("alr").event).toEqual([4]);
  expect(() => mapNamed("simplex")).toThrow(/there is no map "simplex".*identity, affine.*alr/);
});
