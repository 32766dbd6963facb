/** Where a NaN or infinity came from: every float value of the graph is looked at, in order of computation. */
import { DiffeoError, isFloat, type NdArray, showShape, type Trace, topological } from "../graph/index.ts";
import { KeptArray } from "./kept.ts";
import type { Session } from "./session.ts";

/** Flat position of the first NaN or infinity. */
export function nonFinite(array: NdArray): number | undefined {
  if (!isFloat(array.dtype) || array instanceof KeptArray) return undefined;
  const values = array.data as Float64Array;
  for (let i = 0; i < values.length; i++) if (!Number.isFinite(values[i])) return i;
  return undefined;
}

/** The error to raise for a result that is not finite. `open` makes a session whose outputs are all values of the graph. */
export async function firstBadOperation<Y>(
  traced: Trace<Y>,
  feeds: Readonly<Record<string, NdArray>>,
  open: (traced: Trace<Y>) => Promise<Session>,
): Promise<DiffeoError> {
  for (const [name, array] of Object.entries(feeds)) {
    const at = nonFinite(array);
    if (at !== undefined)
      return new DiffeoError(
        "numerical",
        `input ${name} holds ${array.data[at]} at flat position ${at}`,
        "give finite numbers",
      );
  }
  const nodes = topological(traced.outputs.map((o) => o.tensor)).filter((t) => isFloat(t.dtype) && t.inputs.length > 0);
  const session = await open({ ...traced, outputs: nodes.map((tensor, i) => ({ name: `probe${i}`, tensor })) });
  try {
    const values = await session.run(feeds);
    for (let i = 0; i < nodes.length; i++) {
      const at = nonFinite(values[`probe${i}`]);
      if (at === undefined) continue;
      const node = nodes[i];
      const from = node.inputs.map((t) => `${t.op.name} ${showShape(t.shape)}`).join(" and ");
      return new DiffeoError(
        "numerical",
        `${node.op.name} made the first value that is not finite: ${values[`probe${i}`].data[at]} at flat position ${at} of shape ${showShape(node.shape)}, from ${from}`,
        "look at the inputs of that operation; in a logarithm, a quotient or an exponential, a form in log space may help",
      );
    }
  } finally {
    await session.dispose();
  }
  return new DiffeoError(
    "numerical",
    "a result is not finite, though every value of the graph is when it is looked at",
    "run in float64 to compare",
  );
}
