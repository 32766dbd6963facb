/**
 * The device `reference`: the pure TypeScript evaluator of `diffeo/graph`, in float64. It is slow,
 * independent of any runtime, and exact to rounding.
 */
import {
  convert,
  type DType,
  fail,
  isFloat,
  reference,
  type Trace,
  type TypedArray,
  toFloat64,
} from "../graph/index.ts";
import type { Session } from "./session.ts";

/**
 * The values of a result in its type. Throws for integers that are NaN, as from an index out of
 * range.
 */
function typed(values: Float64Array, dtype: DType, name: string): TypedArray {
  const bad = isFloat(dtype) ? undefined : values.find((v) => !Number.isFinite(v));
  if (bad !== undefined)
    fail(
      "numerical",
      `result ${name} has ${bad}, which is not an ${dtype}`,
      "check for an index out of range or a division of integers by 0",
    );
  return convert(values.slice(), dtype);
}

export function referenceSession({ inputs, outputs }: Trace<unknown>): Session {
  return {
    run: async (feeds) => {
      const given = new Map(
        inputs.map((t) => [t, toFloat64(feeds[t.attributes.name as string].data)]),
      );
      const values = reference(
        outputs.map((o) => o.tensor),
        given,
      );
      return Object.fromEntries(
        outputs.map(({ name, tensor: { shape, dtype } }, i) => [
          name,
          { shape, dtype, data: typed(values[i], dtype, name) },
        ]),
      );
    },
    dispose: async () => undefined,
  };
}
