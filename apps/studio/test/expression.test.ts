/** Typed expressions: parsed like mathematical notation, errors with their place. */
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
  it("evaluates to the same number as a tensor and as a number", async () => {
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

  it("is rejected with the place and a reason", () => {
    const wrong: readonly (readonly [string, number, string])[] = [
      ["x1 + * 2", 6, "expected a number, a name or a bracket, but found “*”"],
      ["sin(x1", 7, "the bracket at character 4 is not closed: the expression ends"],
      ["x1)", 3, "expected the end of the expression, but found “)”"],
      ["x1 + foo", 6, "unknown name “foo”; use x1, x2, pi, e and exp,"],
      ["exp x1", 5, "exp needs brackets, as in exp(x1)"],
      ["x1 $ 2", 4, "“$” cannot be used in an expression"],
      ["constructor", 1, "unknown name “constructor”"],
      ["x1 = 2", 4, "“=” cannot be used in an expression"],
    ];
    for (const [text, character, reason] of wrong) {
      const found = parseExpression(text, names);
      expect([
        text,
        isMisread(found) && found.message.startsWith(`Character ${character}: ${reason}`),
      ]).toEqual([text, true]);
    }
    expect(parseExpression(" ", names)).toEqual({
      message: "Type an expression in x1 and x2.",
      at: 0,
    });
    expect(isMisread(parseExpression("(".repeat(300), names))).toBe(true);
    expect(isMisread(parseExpression("-".repeat(300), names))).toBe(true);
    expect(isMisread(parseExpression("1+".repeat(400), names))).toBe(true);
  });
});

describe("a typed map", () => {
  const pair = [parsed("x1 + 0.5 sin(1.5 x2)"), parsed("x2 + x2^3/6")] as const;

  it("has a numeric inverse, which is undefined outside the image", () => {
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

  it("has an inverse with correct first and second derivatives", async () => {
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
