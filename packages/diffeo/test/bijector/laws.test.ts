import { describe, expect, it } from "vitest";
import * as bijectors from "../../src/bijector/index.ts";
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
  expect(mapNamed("additiveLogistic").event).toEqual([4]);
  expect(() => mapNamed("simplex")).toThrow(/there is no map "simplex".*identity, affine.*additiveLogistic/);
});

it("names maps on the command line as code does: by the function that makes them", () => {
  const functions = Object.keys(bijectors).map((name) => name.toLowerCase());
  for (const { name } of catalogue)
    expect(
      functions.some((made) => name.toLowerCase().startsWith(made)),
      name,
    ).toBe(true);
});
