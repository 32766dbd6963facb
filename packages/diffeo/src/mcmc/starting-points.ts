/** Starting points of chains, at which the log-density is finite. */
import type { ParameterFault } from "../distribution/index.ts";
import { fail } from "../graph/index.ts";
import { fold, type Key, uniform } from "../random/index.ts";
import type { OpenChains } from "./chains.ts";
import type { BoundModel } from "./model.ts";

/** Starting points of chains. The result of `approximate` is one. */
export interface Start {
  /** Samples free coordinates for a key. */
  readonly point: (key: Key) => Float64Array;
}

/** The most tries for a point where log p and its gradient are finite. */
const TRIES = 100;

/** Options of the search for starting points. */
interface Search {
  readonly key: Key;
  readonly start?: Start;
  /** The number of coordinates of a point. */
  readonly n: number;
  /** The number of the first chain, and the number of chains. */
  readonly first: number;
  readonly count: number;
  readonly inputs?: BoundModel["inputs"];
  /** Describes a point, for errors. */
  readonly where: (x: Float64Array) => Promise<string>;
  /** Describes what is wrong at a point, if the model knows. */
  readonly faultAt?: (x: Float64Array) => Promise<ParameterFault | undefined>;
}

/**
 * Finds a point for every chain where log p and its gradient are finite, as a function of the key
 * and the chain's number.
 */
export async function startingPoints(
  chains: Pick<OpenChains, "look">,
  search: Search,
): Promise<Float64Array> {
  const { n, first, count, key, start, inputs } = search;
  const box: Start = {
    point: (own) => uniform(own, [n], { low: -2, high: 2, dtype: "float64" }).data,
  };
  const points = new Float64Array(count * n);
  const open = new Set(Array.from({ length: count }, (_, c) => c));
  for (let tried = 0; ; tried++) {
    for (const c of open)
      points.set((start ?? box).point(fold(fold(fold(key, "start"), first + c), tried)), c * n);
    const found = await chains.look(points, inputs);
    for (const c of open)
      if (Number.isFinite(found[c].value) && found[c].slope.every(Number.isFinite)) open.delete(c);
    const [stuck] = open;
    if (stuck === undefined) return points;
    if (tried + 1 === TRIES)
      await failToBegin(
        search,
        first + stuck,
        points.subarray(stuck * n, (stuck + 1) * n),
        found[stuck].value,
      );
  }
}

/** Throws the error of a chain without a starting point. */
async function failToBegin(
  { where, faultAt }: Search,
  chain: number,
  x: Float64Array,
  value: number,
): Promise<never> {
  const what = Number.isFinite(value) ? `${value}, but its gradient is not finite,` : String(value);
  const fault = await faultAt?.(x);
  return fail(
    "numerical",
    `chain ${chain + 1} has no starting point after ${TRIES} tries: the log-density is ` +
      `${what} at ${await where(x)}${fault ? `, where ${fault.problem}` : ""}`,
    fault?.remedy ??
      "make the log-density finite inside the parameters' domains; compute with logarithms " +
        "to avoid overflow",
  );
}
