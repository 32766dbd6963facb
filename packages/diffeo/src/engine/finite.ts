/**
 * Finds the origin of NaN and infinity: all float values of the graph are checked in the order of
 * computation.
 */
import { fail, isFloat, type NdArray, showShape, type Trace, topological } from "../graph/index.ts";
import { toHost } from "./device-array.ts";
import type { Session } from "./session.ts";

type Arrays = Readonly<Record<string, NdArray>>;
type Bad = "NaN" | "NaN or infinite";

/** The first bad number of an array on any device, and its flat index. */
async function find(array: NdArray, bad: Bad): Promise<{ value: number; at: number } | undefined> {
  if (!isFloat(array.dtype)) return undefined;
  const values = (await toHost(array)).data as Float64Array;
  // A loop, because `findIndex`, with a function call per number, takes seven times as long.
  for (let at = 0; at < values.length; at++) {
    const value = values[at];
    if (bad === "NaN" ? Number.isNaN(value) : !Number.isFinite(value)) return { value, at };
  }
  return undefined;
}

async function anyOf(arrays: Arrays, bad: Bad): Promise<boolean> {
  for (const array of Object.values(arrays)) if (await find(array, bad)) return true;
  return false;
}

/** Whether some number is NaN or infinite. */
export const hasNonFinite = (arrays: Arrays): Promise<boolean> => anyOf(arrays, "NaN or infinite");

/**
 * Throws for the first argument with a bad number. The inputs of a compiled function are `x0`,
 * `x1.w`, ….
 */
async function refuse(feeds: Arrays, bad: Bad): Promise<void> {
  for (const [name, array] of Object.entries(feeds)) {
    const found = await find(array, bad);
    if (found)
      fail(
        "numerical",
        `argument ${name.slice(1)} has ${found.value} at the flat index ${found.at}`,
        "give finite numbers",
      );
  }
}

/**
 * Throws for NaN in arguments, which operations may lose: comparisons with NaN are false, and a
 * runtime's maximum may ignore it.
 */
export const requireNoNaN = (feeds: Arrays): Promise<void> => refuse(feeds, "NaN");

/**
 * Throws the error for results that are not finite. If they have a NaN, it searches for NaN only,
 * because infinities may be intended, such as the logarithm of a mask. `open` makes a session whose
 * outputs are all values of the graph.
 */
export async function blame<Y>(
  traced: Trace<Y>,
  feeds: Arrays,
  results: Arrays,
  open: (traced: Trace<Y>) => Promise<Session>,
): Promise<never> {
  const bad = (await anyOf(results, "NaN")) ? "NaN" : "NaN or infinite";
  await refuse(feeds, bad);
  const nodes = topological(traced.outputs.map((o) => o.tensor)).filter(
    (t) => isFloat(t.dtype) && t.inputs.length > 0,
  );
  const session = await open({
    ...traced,
    outputs: nodes.map((tensor, i) => ({ name: `probe${i}`, tensor })),
  });
  try {
    const values = await session.run(feeds);
    for (let i = 0; i < nodes.length; i++) {
      const found = await find(values[`probe${i}`], bad);
      if (!found) continue;
      const { op, shape, inputs } = nodes[i];
      const from = inputs.map((t) => `${t.op.name} ${showShape(t.shape)}`).join(" and ");
      fail(
        "numerical",
        `${op.name} made the first ${found.value}, at the flat index ${found.at} of shape ` +
          `${showShape(shape)}, from ${from}`,
        "check the inputs of that operation; for a logarithm, a quotient or an exponential, " +
          "a form in log space may help",
      );
    }
  } finally {
    await session.dispose();
  }
  return fail(
    "numerical",
    "a result is not finite, although all values of the graph are when they are checked",
    "run in float64 to compare",
  );
}
