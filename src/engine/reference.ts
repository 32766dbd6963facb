/** The device `reference`: the pure TypeScript evaluator of `diffeo/graph`, in float64. Slow, independent, exact to rounding. */
import { convert, type NdArray, reference, type Tensor, toFloat64 } from "../graph/index.ts";
import type { Session } from "./session.ts";

export function referenceSession(
  inputs: readonly Tensor[],
  names: readonly string[],
  outputs: readonly { readonly name: string; readonly tensor: Tensor }[],
): Session {
  return {
    run: async (feeds) => {
      const given = new Map(inputs.map((t, i) => [t, toFloat64((feeds[names[i]] as NdArray).data)]));
      const values = reference(
        outputs.map((o) => o.tensor),
        given,
      );
      return Object.fromEntries(
        outputs.map(({ name, tensor: { shape, dtype } }, i) => [
          name,
          { shape, dtype, data: convert(values[i], dtype) },
        ]),
      );
    },
    dispose: async () => undefined,
  };
}
