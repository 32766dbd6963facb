/**
 * All quantities that the properties need of y = f(x), as one graph over x, a cotangent u and a
 * direction v:
 *   value y,   along J·v,   gradient Jᵀ·u,   second the change of Jᵀ·u along v
 */
import { input, isFloat, jvp, type NdArray, type Tensor, vjp } from "../../src/graph/index.ts";
import { key, uniform } from "../../src/random/index.ts";
import type { Draw } from "./draw.ts";

export interface Probed<T> {
  readonly value: T;
  readonly along: T;
  readonly gradient: readonly T[];
  readonly second: readonly T[];
}

/** Entries of both signs between ½ and 1. */
function direction(name: string, shape: readonly number[]): NdArray {
  const r = uniform(key(name), shape, { dtype: "float64", low: -0.5, high: 0.5 });
  return { ...r, data: r.data.map((x) => x + Math.sign(x) / 2) };
}

/** The function of x, u and v, and arrays for them. */
export function probe({ f, args }: Pick<Draw, "f" | "args">) {
  const floats = args.filter((a) => isFloat(a.dtype));
  const { shape } = f(...args.map((a, i) => input(`x${i}`, a.shape, a.dtype)));
  const u = direction("u", shape);
  const v = floats.map((a, i) => direction(`v${i}`, a.shape));
  const graph = (...given: Tensor[]): Probed<Tensor> => {
    const x = given.slice(0, args.length);
    const [cotangent, ...directions] = given.slice(args.length);
    const at = x.filter((t) => isFloat(t.dtype));
    const on = (some: readonly Tensor[]): Tensor =>
      f(...x.map((t) => (isFloat(t.dtype) ? some[at.indexOf(t)] : t)));
    const [value, along] = jvp(on, at, directions);
    const [gradient, second] = jvp(
      (some: readonly Tensor[]) => vjp(on, some)[1](cotangent),
      at,
      directions,
    );
    return { value, along, gradient, second };
  };
  return { graph, arrays: [...args, u, ...v], u, v };
}
