/**
 * The compiler on the catalogues: every map with its inverse, log-determinant and their
 * derivatives, and every objective with its derivative, compared with the float64 reference. SDEs
 * and samplers are in `test/sampler/steps-module.test.ts`.
 */
import { describe, expect, it } from "vitest";
import { catalogue } from "../../src/bijector/index.ts";
import { compile } from "../../src/engine/index.ts";
import { lowered } from "../../src/engine/wasm/index.ts";
import {
  type FloatType,
  flip,
  grad,
  gradEach,
  mul,
  type NdArray,
  ndarray,
  sin,
  sub,
  sum,
  type Tensor,
  trace,
} from "../../src/graph/index.ts";
import { lossOf, type ObjectiveName, objectives } from "../../src/matching/index.ts";
import { key, normal } from "../../src/random/index.ts";
import { drawn } from "../matching/support.ts";
import { relativeError } from "../sde/table.ts";

/** In float32 the digits of an inverse are those that the map left, far out few. */
const bounds: Readonly<Record<FloatType, number>> = { float64: 1e-9, float32: 2e-3 };
const types = ["float64", "float32"] as const;

/** Results by the compiler, which must have all of the graph, and by the reference. */
async function compareOn(
  f: (...x: Tensor[]) => Readonly<Record<string, Tensor>>,
  args: readonly NdArray[],
  type: FloatType,
): Promise<void> {
  const shapes = args.map(({ shape }) => shape);
  expect(lowered(trace(f as never, shapes, type))).toBeDefined();
  const [own, other] = await Promise.all(
    ["wasm", "reference"].map(async (device) => {
      const compiled = compile(f as (...x: Tensor[]) => Record<string, Tensor>, shapes as never, {
        device,
        type,
      });
      return (compiled as (...a: NdArray[]) => Promise<Record<string, NdArray>>)(...args);
    }),
  );
  for (const [name, { data }] of Object.entries(own)) {
    const expected = Float64Array.from(other[name].data as Float64Array);
    expect(relativeError(data as Float64Array, expected), name).toBeLessThan(bounds[type]);
  }
}

describe.each(catalogue)("$name", ({ map, event, from }) => {
  it.each(types)("in %s", async (type) => {
    const { data } = normal(key(7), [5, ...event], { dtype: "float64" });
    const x = { ...ndarray([...data], type), shape: [5, ...event] };
    const t = ndarray([0.3, 0.7, 0, 1, 0.5], type);
    const inside = (z: Tensor, s: Tensor): Tensor => (from ? from.forward(z, s) : z);
    await compareOn(
      (z, s) => {
        const p = inside(z, s);
        const y = map.forward(p, s);
        return { y, back: map.inverse(y, s), logDet: map.logDet(p, s) };
      },
      [x, t],
      type,
    );
    if (type === "float64")
      await compareOn(
        (z, s) => ({
          forward: gradEach((v: Tensor) => {
            const y = map.forward(inside(v, s), s);
            return sum(
              mul(y, y),
              Array.from({ length: y.shape.length - 1 }, (_, i) => i + 1),
            );
          })(z),
          logDet: gradEach((v: Tensor) => map.logDet(inside(v, s), s))(z),
        }),
        [x, t],
        type,
      );
  });
});

describe.each(Object.keys(objectives) as ObjectiveName[])("the objective %s", (name) => {
  it.each(types)("in %s", async (type) => {
    const objective = objectives[name]();
    const draws = drawn(objective.draws(3), [6]);
    const names = Object.keys(draws);
    const { data } = normal(key(9), [6, 3], { dtype: "float64" });
    const x = { ...ndarray([...data], type), shape: [6, 3] };
    const own = Object.values(draws).map(({ shape, data: d }) => ({
      ...ndarray([...(d as Float64Array)], type),
      shape,
    }));
    const loss = (a: Tensor, y: Tensor, given: readonly Tensor[]): Tensor =>
      lossOf(objective)(
        (p) => mul(sub(sin(mul(flip(p, -1), 1.3)), p), a),
        y,
        Object.fromEntries(names.map((n, i) => [n, given[i]])) as never,
      );
    await compareOn(
      (a, y, ...given) => ({
        loss: loss(a, y, given),
        slope: grad((b: Tensor) => sum(loss(b, y, given)))(a),
      }),
      [ndarray(0.8, type), x, ...own],
      type,
    );
  });
});
