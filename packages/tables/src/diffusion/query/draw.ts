/** Rows sampled from a model: the probability flow from noise to x, then y = φ(x), then cells. */
import type { Cell, Product } from "diffeo/domain";
import { fail } from "diffeo/graph";
import { batches } from "diffeo/host";
import { fold, key as keyOf } from "diffeo/random";
import { openSampler } from "diffeo/sampler";
import { reverse } from "diffeo/sde";
import { mapRows, type Related, resolvedCells } from "../encode/index.ts";
import { type OpenedTable, outOfFlow, tableMap, tableScore, tableSde } from "../network/index.ts";
import { filledWords } from "./words.ts";

/** Which rows are sampled, and by how many evaluations. */
export interface DrawRows {
  readonly count: number;
  /**
   * The number of the first row: rows 100 … of a call are those of a call with `first` 100. Default
   * 0.
   */
  readonly first?: number;
  readonly seed?: number;
  /** Evaluations of the network a row. Default 50. */
  readonly evaluations?: number;
  readonly signal?: AbortSignal;
  readonly onStep?: () => void;
}

/** Sampled rows with the names of their columns. */
export interface DrawnRows {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  readonly evaluations: number;
}

/** Raises an error where rows cannot be drawn as asked. */
export function requireDraw({
  count,
  evaluations = 50,
}: Pick<DrawRows, "count" | "evaluations">): void {
  if (!(Number.isSafeInteger(count) && count >= 1))
    fail("usage", `count is ${count}`, "give an integer, at least 1");
  if (!(Number.isSafeInteger(evaluations) && evaluations >= 2))
    fail("usage", `evaluations is ${evaluations}`, "give an integer, at least 2");
}

/** The cells of points y, one after the other, by the rules of columns that follow from them. */
export const decodedRows = (
  domain: Product,
  y: Float64Array,
  related?: Related,
): (readonly Cell[])[] => {
  const none = related ? Array<null>(related.domain.cells).fill(null) : [];
  return Array.from({ length: y.length / domain.size }, (_, i) => {
    const own = y.subarray(i * domain.size, (i + 1) * domain.size);
    const cells = domain.decode(own);
    return related ? resolvedCells(related, none, cells, own).slice(0, domain.cells) : cells;
  });
};

/**
 * Rows that are drawn at once: their activations fit into a cache, and memory does not grow beyond
 * them.
 */
const BATCH = 2000;

/** Rows of a model of masked cells: all of a row is filled. */
async function drawWords(
  model: OpenedTable,
  { count, evaluations = 50, ...options }: DrawRows,
): Promise<DrawnRows> {
  const { domain } = model;
  const n = domain.dimension;
  const z = await filledWords(model, new Float64Array(count * n).fill(Number.NaN), options);
  const rows = decodedRows(domain, mapRows(z, n, domain.map.forward), model.related);
  return { columns: domain.columns, rows, evaluations };
}

/**
 * Draws rows: the probability flow by exponential steps, even in λ, and the mean of x₀ at the end.
 * Steps are those of `reversePush` in its chart; φ itself is applied in float64, where parts of
 * 10⁻³⁰⁰ are still parts.
 */
export async function drawRows(model: OpenedTable, options: DrawRows): Promise<DrawnRows> {
  requireDraw(options);
  if (model.bins) return drawWords(model, options);
  const { count, first = 0, seed = 0, evaluations = 50, signal, onStep } = options;
  const { domain, standard, flow, graphs, timesOf } = model;
  const n = domain.dimension;
  const [key, grid] = [fold(keyOf(seed), "rows"), timesOf(evaluations)];
  const x = new Float64Array(count * n);
  for (const [from, some] of batches(count, Math.min(count, BATCH))) {
    const { samples } = await graphs.take(
      "rows",
      some,
      (engine) =>
        openSampler(reverse(tableSde, tableScore(model)), {
          ...{ shape: [n], solver: "dpmSolver2M", denoise: true },
          ...engine,
        }),
      (draw) =>
        draw({
          key,
          grid,
          count: some,
          first: first + from,
          ...(signal && { signal }),
          ...(onStep && { onStep }),
        }),
    );
    x.set(samples.data, from * n);
  }
  const w = flow ? await outOfFlow(flow, x, graphs) : x;
  const y = mapRows(w, n, tableMap({ domain, standard }).forward);
  return { columns: domain.columns, rows: decodedRows(domain, y, model.related), evaluations };
}
