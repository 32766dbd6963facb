/** Where chains start: points at which the log-density is finite. */
import type { ParameterFault } from "../distribution/index.ts";
import { fail } from "../graph/index.ts";
import { fold, type Key, uniform } from "../random/index.ts";
import type { OpenChains } from "./chains.ts";
import type { BoundModel } from "./model.ts";

/** Where chains begin: an approximation is one. */
export interface Start {
  /** Free coordinates drawn for a key. */
  readonly point: (key: Key) => Float64Array;
}

/** Tries for a point where log p and its slope are finite. */
const TRIES = 100;

/** How starting points are found. */
interface Search {
  readonly key: Key;
  readonly start?: Start;
  /** Coordinates of a point. */
  readonly n: number;
  /** The number of the first chain, and how many there are. */
  readonly first: number;
  readonly count: number;
  readonly inputs?: BoundModel["inputs"];
  /** Says where a point is. */
  readonly where: (x: Float64Array) => Promise<string>;
  /** What is wrong there, as far as the model knows. */
  readonly faultAt?: (x: Float64Array) => Promise<ParameterFault | undefined>;
}

/**
 * A point for every chain where log p and its slope are finite, a function of the key and of the
 * chain's number.
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

/** Raises the error of a chain without a point to begin from. */
async function failToBegin(
  { where, faultAt }: Search,
  chain: number,
  x: Float64Array,
  value: number,
): Promise<never> {
  const what = Number.isFinite(value) ? `${value}, but its slope is not finite,` : String(value);
  const fault = await faultAt?.(x);
  return fail(
    "numerical",
    `chain ${chain + 1} has no point to begin from after ${TRIES} tries: the log-density is ${what} at ${await where(x)}${fault ? `, where ${fault.problem}` : ""}`,
    fault?.remedy ??
      "make the log-density finite inside the parameters' domains, and compute with logarithms",
  );
}
