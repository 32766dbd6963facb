/** Expressions that readers type: read as mathematics is, refused with the place. */
import { evaluate } from "diffeo/engine";
import type { Tensor } from "diffeo/graph";
import { describe, expect, it } from "vitest";
import { isMisread, parseExpression } from "../src/pages/scores/expression.ts";
import { numericInverse, ownMap } from "../src/pages/scores/own-map.ts";

const names = ["x1", "x2"];
function parsed(text: string) {
  const found = parseExpression(text, names);
  if (isMisread(found)) throw new Error(found.message);
  return found;
}

describe("an expression", () => {
  const [x1, x2] = [0.7, -1.3];
  const table: readonly (readonly [string, number])[] = [
    ["1 + 2*3", 7],
    ["-x1^2", -(x1 ** 2)],
    ["2^3^2", 512],
    ["2^-1", 0.5],
    ["8/4/2", 1],
    ["1 - 2 - 3", -4],
    ["2 x1 x2", 2 * x1 * x2],
    ["3(x1 + x2)", 3 * (x1 + x2)],
    ["x2^3", x2 ** 3],
    ["x2^-2", x2 ** -2],
    ["x1^0", 1],
    ["x1^1.5", x1 ** 1.5],
    ["x1^x2", x1 ** x2],
    ["−x₁ · x₂ ÷ 2", (-x1 * x2) / 2],
    ["exp(-x1) + log(x1) + sqrt(x1)", Math.exp(-x1) + Math.log(x1) + Math.sqrt(x1)],
    ["sin(x1) cos(x2) tan(x1)", Math.sin(x1) * Math.cos(x2) * Math.tan(x1)],
    [
      "tanh(x2) + sinh(x1) - cosh(x2) + asinh(x2)",
      Math.tanh(x2) + Math.sinh(x1) - Math.cosh(x2) + Math.asinh(x2),
    ],
    ["softplus(x2) + sigmoid(x1)", Math.log(1 + Math.exp(x2)) + 1 / (1 + Math.exp(-x1))],
    ["abs(x2) + log1p(x1)", -x2 + Math.log1p(x1)],
    ["2 pi + e", 2 * Math.PI + Math.E],
    ["1.5e-2 + .5", 0.515],
    ["+x1 - -x2", x1 + x2],
  ];
  it("is the number and the tensor that it says", async () => {
    const built = await evaluate(
      (a: Tensor, b: Tensor) => table.map(([text]) => parsed(text).build({ x1: a, x2: b })),
      [x1],
      [x2],
    );
    table.forEach(([text, value], i) => {
      expect([text, parsed(text).value({ x1, x2 })]).toEqual([text, expect.closeTo(value, 12)]);
      expect([text, built[i].shape, built[i].data[0]]).toEqual([
        text,
        [1],
        expect.closeTo(value, 12),
      ]);
    });
  });

  it("is refused with the place and a reason", () => {
    const wrong: readonly (readonly [string, number, string])[] = [
      ["x1 + * 2", 6, "a number, a name or a bracket belongs here, but there is “*”"],
      ["sin(x1", 7, "a closing bracket is missing for the one at character 4: it ends"],
      ["x1)", 3, "the expression was whole, but there is “)”"],
      ["x1 + foo", 6, "there is no “foo”; use x1, x2, pi, e and exp,"],
      ["exp x1", 5, "exp needs brackets, as in exp(x1)"],
      ["x1 $ 2", 4, "“$” is no part of an expression"],
      ["constructor", 1, "there is no “constructor”"],
      ["x1 = 2", 4, "“=” is no part of an expression"],
    ];
    for (const [text, character, reason] of wrong) {
      const found = parseExpression(text, names);
      expect([
        text,
        isMisread(found) && found.message.startsWith(`Character ${character}: ${reason}`),
      ]).toEqual([text, true]);
    }
    expect(parseExpression(" ", names)).toEqual({
      message: "An expression in x1 and x2 belongs here.",
      at: 0,
    });
    expect(isMisread(parseExpression("(".repeat(300), names))).toBe(true);
    expect(isMisread(parseExpression("-".repeat(300), names))).toBe(true);
    expect(isMisread(parseExpression("1+".repeat(400), names))).toBe(true);
  });
});

describe("a typed map", () => {
  const pair = [parsed("x1 + 0.5 sin(1.5 x2)"), parsed("x2 + x2^3/6")] as const;

  it("has an inverse that is found, and undefined where there is none", () => {
    const inverse = numericInverse(pair);
    for (const [a, b] of [
      [0.3, -0.9],
      [-4, 2.5],
      [20, -20],
    ]) {
      const y = pair.map((f) => f.value({ x1: a, x2: b }));
      const x = inverse(y[0], y[1]);
      expect(x).toEqual([expect.closeTo(a, 9), expect.closeTo(b, 9)]);
    }
    expect(numericInverse([parsed("tanh(x1)"), parsed("x2")])(2, 0)).toBeUndefined();
  });

  it("has an inverse with the right first and second derivatives", async () => {
    const { jvp, sum } = await import("diffeo/graph");
    const phi = ownMap(pair, undefined);
    const typed = ownMap([parsed("x1^3 + x1"), parsed("2 x2")], undefined);
    const second = (y: Tensor, v: Tensor): Tensor =>
      jvp((z: Tensor) => jvp((u: Tensor) => typed.inverse(u), z, v)[1], y, v)[1];
    // y = x³ + x: x′ = 1/(3x² + 1), x″ = −6x/(3x² + 1)³.
    const x = 0.8;
    const [at, along] = [[[x ** 3 + x, 1]], [[1, 0]]];
    const found = await evaluate(second, at, along);
    expect(found.data[0]).toBeCloseTo((-6 * x) / (3 * x * x + 1) ** 3, 10);
    const total = await evaluate(
      (p: Tensor) => sum(phi.inverse(phi.forward(p)), -1),
      [[1.2, -0.4]],
    );
    expect(total.data[0]).toBeCloseTo(0.8, 12);
  });
});
