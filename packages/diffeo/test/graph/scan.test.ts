/** Running combinations compared with loops, with derivatives, for any length. */
import { describe, expect, it } from "vitest";
import { evaluate } from "../../src/engine/index.ts";
import {
  add,
  at,
  combineAll,
  cumsum,
  gradEach,
  matmul,
  mul,
  scan,
  square,
  stack,
  sum,
  type Tensor,
} from "../../src/graph/index.ts";
import { key, normal } from "../../src/random/index.ts";

const rows = (name: string, shape: readonly number[]) =>
  normal(key(name), shape, { dtype: "float64" });

interface Step {
  readonly factor: Tensor;
  readonly value: Tensor;
}

/** x_t = a_t x_{t−1} + b_t, all t at once. */
const recurrence = (factor: Tensor, value: Tensor): Tensor =>
  scan<Step>(
    (before, after) => ({
      factor: mul(before.factor, after.factor),
      value: add(mul(before.value, after.factor), after.value),
    }),
    { factor, value },
    -1,
  ).value;

/** The same, one after another. */
function looped(a: Tensor, b: Tensor): Tensor {
  const all: Tensor[] = [at(b, 0, 1)];
  for (let t = 1; t < b.shape[1]; t++) all.push(add(mul(all[t - 1], at(a, t, 1)), at(b, t, 1)));
  return stack(all, 1);
}

describe("combineAll", () => {
  it.each([1, 2, 3, 7, 8, 13])(
    "is a product of %s matrices in order, and so is its derivative",
    async (length) => {
      const product = (x: Tensor): Tensor =>
        combineAll((a: Tensor, b: Tensor) => matmul(a, b), x, 1);
      const one = (x: Tensor): Tensor => {
        let p = at(x, 0, 1);
        for (let t = 1; t < length; t++) p = matmul(p, at(x, t, 1));
        return p;
      };
      const slope = (f: typeof one) => gradEach((x: Tensor) => sum(square(f(x)), [1, 2]));
      const found = await evaluate(
        (x: Tensor) => ({
          paired: product(x),
          looped: one(x),
          pairedSlope: slope(product)(x),
          loopedSlope: slope(one)(x),
        }),
        rows("matrices", [2, length, 3, 3]),
      );
      for (const [a, b] of [
        [found.paired, found.looped],
        [found.pairedSlope, found.loopedSlope],
      ]) {
        const size = Math.max(...Array.from(b.data as Float64Array, Math.abs));
        expect(a.shape).toEqual(b.shape);
        a.data.forEach((v, i) => {
          expect(Math.abs((v as number) - (b.data[i] as number))).toBeLessThanOrEqual(1e-13 * size);
        });
      }
    },
  );
});

describe("scan", () => {
  it.each([1, 2, 3, 7, 8, 13])(
    "is a linear recurrence of %s steps, and so are its derivatives",
    async (length) => {
      const found = await evaluate(
        (a: Tensor, b: Tensor) => {
          const loss = (f: typeof recurrence) => (x: Tensor) => sum(square(f(x, b)), -1);
          return {
            scanned: recurrence(a, b),
            looped: looped(a, b),
            slope: gradEach(loss(recurrence))(a),
            loopedSlope: gradEach(loss(looped))(a),
          };
        },
        rows("a", [3, length]),
        rows("b", [3, length]),
      );
      for (const [one, other] of [
        [found.scanned, found.looped],
        [found.slope, found.loopedSlope],
      ])
        one.data.forEach((v, i) => {
          expect(Math.abs(Number(v) - Number(other.data[i]))).toBeLessThan(
            1e-12 * (1 + Math.abs(Number(v))),
          );
        });
    },
  );

  it("keeps the order of non-commuting operands", async () => {
    const { product, loop } = await evaluate(
      (m: Tensor) => {
        let total = at(m, 0, 0);
        for (let t = 1; t < 6; t++) total = matmul(total, at(m, t, 0));
        return { product: at(scan(matmul, m, 0), -1, 0), loop: total };
      },
      rows("m", [6, 2, 2]),
    );
    product.data.forEach((v, i) => {
      expect(Number(v)).toBeCloseTo(Number(loop.data[i]), 11);
    });
  });

  it("of sums is cumsum", async () => {
    const { a, b } = await evaluate(
      (x: Tensor) => ({ a: scan(add, x, 1), b: cumsum(x, 1) }),
      rows("x", [2, 9, 2]),
    );
    a.data.forEach((v, i) => {
      expect(Number(v)).toBeCloseTo(Number(b.data[i]), 12);
    });
  });
});
