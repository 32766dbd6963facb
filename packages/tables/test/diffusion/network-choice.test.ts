/** The network that a fit takes where none is set. */
import { category, derived, empirical, mixed, positive, real, simplex } from "diffeo/domain";
import { describe, expect, it } from "vitest";
import { chooseNetwork } from "../../src/diffusion/fit/network-choice.ts";

const labels = category(["x", "y"]);
const many = category(
  Array.from({ length: 4000 }, (_, i) => `town ${i}`),
  { dimension: 24 },
);

describe("the network of a table", () => {
  it.each([
    ["masked", 1000, { a: real(), b: labels }, "labels, and 1,000 rows or more"],
    [
      "masked",
      1000,
      { a: mixed([0], empirical({ knots: [1, 2], shares: [0.1, 0.9] })) },
      "labels, and 1,000 rows or more",
    ],
    ["diffusion", 999, { a: real(), b: labels }, "fewer than 1,000 rows"],
    ["diffusion", 5000, { a: real(), b: positive() }, "no column has labels"],
    ["diffusion", 5000, { b: labels, g: simplex(["p", "q"]) }, "some columns form a group"],
    ["diffusion", 5000, { a: real(), b: many, c: real() }, "the table has many columns or labels"],
  ] as const)("is %s for %i rows of %o", (network, rows, columns, reason) => {
    expect(chooseNetwork(rows, columns)).toEqual({ network, reason });
  });

  it("does not depend on columns that follow from others", () => {
    const country = derived(category(["p", "q"]), {
      ...{ by: "label", from: "town", labels: ["x", "y"], cells: ["p", "q"] },
    });
    expect(chooseNetwork(1000, { a: real(), country, town: labels }).network).toBe("masked");
    const sum = derived(real(), { by: "sum", from: ["a"] });
    expect(chooseNetwork(1000, { a: real(), sum }).reason).toBe("no column has labels");
  });
});
