/**
 * Third derivatives as score matching needs them: f(x) = Σ_l α_l exp(−½‖h(x) − h(z_l)‖²) with h a
 * softplus network,
 * s = ∇f, and the gradient of mean(½‖s‖² + vᵀ∇s v) in all weights, at the size a density model has.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { data, loss, lossAndGradient } from "../../../../bench/third-order.ts";
import { compile } from "../../src/engine/index.ts";
import { leavesOf, type NdArray, toFloat64, withLeaves } from "../../src/graph/index.ts";
import { fold, key, normal } from "../../src/random/index.ts";
import { extrapolate, inner, largest, steps } from "./differences.ts";

const isArray = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "data" in value;
const arraysOf = (tree: unknown): Float64Array[] =>
  leavesOf<NdArray>(tree, isArray).map((a) => toFloat64(a.data));

const { parameters, x, v } = data("float64");
type Parameters = typeof parameters;

/** Value and gradient on ONNX Runtime in one float type. */
async function run(
  type: "float32" | "float64",
): Promise<{ value: number; gradient: Float64Array[] }> {
  const given = data(type);
  const f = compile(lossAndGradient, [given.parameters, given.x, given.v], { type, threads: 2 });
  const [value, gradient] = await f(given.parameters, given.x, given.v);
  await f.dispose();
  return { value: value.data[0] as number, gradient: arraysOf(gradient) };
}

/** θ + t·d, leaf by leaf. */
const moved = (d: readonly Float64Array[], t: number): Parameters =>
  withLeaves(
    parameters,
    leavesOf<NdArray>(parameters, isArray).map((a, i) => ({
      ...a,
      data: toFloat64(a.data).map((w, j) => w + t * d[i][j]),
    })),
    isArray,
  ) as unknown as Parameters;

describe("the third-order gradient", () => {
  let double: Awaited<ReturnType<typeof run>>;
  beforeAll(async () => {
    double = await run("float64");
  });

  it("equals differences of the loss along random directions, to 1e-7 in float64", async () => {
    const value = compile(loss, [parameters, x, v], { type: "float64", threads: 2 });
    const at = async (d: readonly Float64Array[], t: number): Promise<number> =>
      (await value(moved(d, t), x, v)).data[0] as number;
    for (let k = 0; k < 4; k++) {
      const d = leavesOf<NdArray>(parameters, isArray).map(
        (a, i) => normal(fold(fold(key("directions"), k), i), a.shape, { dtype: "float64" }).data,
      );
      const slopes: number[] = [];
      for (const h of steps(0.01)) slopes.push(((await at(d, h)) - (await at(d, -h))) / (2 * h));
      const exact = double.gradient.reduce((s, g, i) => s + inner(g, d[i]), 0);
      expect(Math.abs(extrapolate(slopes) / exact - 1)).toBeLessThan(1e-7);
    }
    await value.dispose();
  });

  it("is the same in float32 to 1e-4", async () => {
    const single = await run("float32");
    expect(Math.abs(single.value / double.value - 1)).toBeLessThan(1e-4);
    // The last bias cancels in h(x) − h(z): its gradient is 0, so errors count against the whole
    // gradient.
    const whole = largest(double.gradient.map(largest));
    double.gradient.forEach((g, i) => {
      expect(largest(g.map((w, j) => single.gradient[i][j] - w))).toBeLessThan(1e-4 * whole);
    });
  });
});
