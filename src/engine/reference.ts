/** The device `reference`: the pure TypeScript evaluator of `diffeo/graph`, in float64. Slow, independent, exact to rounding. */
import { convert, reference, type Trace, toFloat64 } from "../graph/index.ts";
import type { Session } from "./session.ts";

export function referenceSession({ inputs, outputs }: Trace<unknown>): Session {
  return {
    run: async (feeds) => {
      const given = new Map(inputs.map((t) => [t, toFloat64(feeds[t.attributes.name as string].data)]));
      const values = reference(
        outputs.map((o) => o.tensor),
        given,
      );
      return Object.fromEntries(
        outputs.map(({ name, tensor: { shape, dtype } }, i) => [
          name,
          { shape, dtype, data: convert(values[i].slice(), dtype) },
        ]),
      );
    },
    dispose: async () => undefined,
  };
}
