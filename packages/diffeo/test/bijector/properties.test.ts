import { describe, expect, it } from "vitest";
import * as bijectors from "../../src/bijector/index.ts";
import { catalogue, mapNamed } from "../../src/bijector/index.ts";
import { checkMap } from "../../src/check/index.ts";

describe("every map of the catalogue has every property, at the default points", () => {
  for (const { name, map, event, from } of catalogue)
    it(`${name}`, async () => {
      const report = await checkMap(map, { event, from });
      expect(report.properties.filter((property) => !property.pass)).toEqual([]);
      expect(report.properties.length).toBeGreaterThan(18);
    });
});

describe("a map of another size has them, too", () => {
  // Terms cancel in the plane and on the line that do not in more dimensions: 1 − 2y where two
  // shares are equal, J⁻¹Tr[GᵀHG] on a sphere in R³, which is 0.
  it.each([
    ["additiveLogistic", [1, 2, 6]],
    ["isometricLogRatio", [1, 2]],
    ["stickBreaking", [1, 2, 6]],
    ["stickBreakingPlain", [1, 2]],
    ["ordered", [1, 2]],
    ["unitBall", [1, 2, 6]],
    ["stereographic", [1, 2, 6]],
    ["logCholesky", [1, 3, 10]],
    ["correlationMap", [1, 6, 10]],
    ["softplusMap", [1]],
    ["tanhMap", [1]],
  ] as const)("%s", async (name, sizes) => {
    for (const size of sizes) {
      const report = await checkMap(mapNamed(name).map, { event: [size] });
      expect(report.properties.filter((property) => !property.pass)).toEqual([]);
    }
  });
});

it("finds a map by its name, and lists all for an unknown name", () => {
  expect(mapNamed("additiveLogistic").event).toEqual([4]);
  expect(() => mapNamed("simplex")).toThrow(
    /unknown map "simplex".*identity, affine.*additiveLogistic/,
  );
});

it("names maps on the command line like in code, by the function that makes them", () => {
  const functions = Object.keys(bijectors).map((name) => name.toLowerCase());
  for (const { name } of catalogue)
    expect(
      functions.some((made) => name.toLowerCase().startsWith(made)),
      name,
    ).toBe(true);
});
