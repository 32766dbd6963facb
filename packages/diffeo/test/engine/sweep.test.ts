/**
 * The elementwise end of a graph, computed by the engine, compared with the numbers of the runtime.
 */
import { describe, expect, it } from "vitest";
import { compile, release, toHost } from "../../src/engine/index.ts";
import {
  abs,
  add,
  div,
  matmul,
  mul,
  neg,
  reshape,
  slice,
  sqrt,
  sub,
  sum,
  type Tensor,
} from "../../src/graph/index.ts";
import { key, normal } from "../../src/random/index.ts";
import { compileStep, initialState } from "../../src/train/index.ts";

const numbers = (name: string, size: number): Float32Array =>
  normal(key(name), [size]).data as Float32Array;

/**
 * Every operation of the sweep, a gradient-like array made by the runtime, numbers that are given
 * and numbers that are computed.
 */
const program = (x: Tensor, y: Tensor, c: Tensor) => {
  const n = x.shape[0];
  const w = reshape(slice(x, [0, 4096]), [64, 64]);
  const g = mul(reshape(matmul(reshape(sub(x, y), [1, n]), reshape(x, [n, 1])), []), x);
  const a = add(mul(x, 0.9), mul(g, c));
  const b = div(neg(a), add(sqrt(abs(y)), 1e-3));
  return { state: { a, b, twice: a }, loss: sum(matmul(w, w)), c: mul(c, sum(g)) };
};

/** Where the bits of two arrays first differ, or −1. */
function apart(a: ArrayLike<unknown>, b: ArrayLike<unknown>): number {
  const [x, y] = [a, b].map((data) => new Int32Array((data as Float32Array).slice().buffer));
  return x.length === y.length ? x.findIndex((bits, i) => bits !== y[i]) : 0;
}

describe("the elementwise end of a graph", () => {
  // Not a multiple of four numbers, exactly a block, and several blocks with a rest.
  it.each([4097, 16_384, 40_001])("has the bits of the runtime, size %d", async (size) => {
    const shapes = [[size], [size], []] as const;
    const swept = compile(program, shapes, { threads: 1, keep: ["state"] });
    const plain = compile(program, shapes, { threads: 1, device: "onnxruntime" });
    const [x, y] = [numbers("x", size), numbers("y", size)];
    // Infinities and NaN go through as they do in the runtime.
    [x[7], y[9], y[11]] = [Number.POSITIVE_INFINITY, Number.NaN, 0];
    const pairs = [];
    // Nothing is released: the third call finds no memory of the sweep's own, and the first must
    // not lose its numbers.
    for (const [u, c] of [
      [numbers("u", size), 0.3],
      [x, -2],
      [numbers("z", size), 7],
    ] as const)
      pairs.push([await swept(u, y, c), await plain(u, y, c)]);
    for (const [mine, other] of pairs) {
      for (const name of ["a", "b", "twice"] as const)
        expect(apart(mine.state[name].data, other.state[name].data), name).toBe(-1);
      expect([mine.loss.data, mine.c.data]).toEqual([other.loss.data, other.c.data]);
    }
    await Promise.all([swept.dispose(), plain.dispose()]);
  });

  it("gives the same training steps, and reuses the memory of released state", async () => {
    const parameters = {
      w: { shape: [64, 80], dtype: "float32", data: numbers("w", 64 * 80) },
    } as const;
    const loss = (p: { w: Tensor }, x: Tensor): Tensor => sum(mul(matmul(x, p.w), matmul(x, p.w)));
    const step = compileStep(loss, parameters, [[8, 64]], { threads: 1, weightDecay: 0.1 });
    const oracle = compileStep(loss, parameters, [[8, 64]], {
      device: "reference",
      weightDecay: 0.1,
    });
    let [state, exact] = [initialState(parameters), initialState(parameters)];
    const memory = new Set<unknown>();
    for (let s = 1; s <= 4; s++) {
      const x = { shape: [8, 64], dtype: "float32", data: numbers(`x${s}`, 8 * 64) } as const;
      const next = await step(state, [x], s, 0.01);
      const kept = await toHost(next.state.theta);
      for (const old of Object.values(state)) release(old);
      if (s > 1) expect(() => state.theta.data).toThrow("this array is released");
      state = next.state;
      for (const { data } of Object.values(state)) memory.add(data.byteOffset);
      expect(apart(kept.data, state.theta.data)).toBe(-1);
      expect(kept.data.buffer).not.toBe(state.theta.data.buffer);
      const widened = Object.fromEntries(
        Object.entries(exact).map(([name, { shape, data }]) => [
          name,
          { shape, dtype: "float64", data: Float64Array.from(data as Float32Array) },
        ]),
      );
      ({ state: exact } = await oracle(
        widened as never,
        [{ ...x, dtype: "float64", data: Float64Array.from(x.data) }],
        s,
        0.01,
      ));
      for (const name of ["theta", "m", "v", "ema"] as const) {
        const right = exact[name].data as Float64Array;
        const apart = right.map(
          (r, i) => Math.abs(Number(state[name].data[i]) - r) / (0.1 + Math.abs(r)),
        );
        expect(
          apart.reduce((x, y) => Math.max(x, y)),
          `${name} after step ${s}`,
        ).toBeLessThan(1e-4);
      }
    }
    expect(memory.size).toBe(8);
    await Promise.all([step.dispose(), oracle.dispose()]);
  });
});
