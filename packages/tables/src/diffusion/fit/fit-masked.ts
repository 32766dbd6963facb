/** A fit by one network of masked cells. */

import { openTable, type TableModel } from "../query/index.ts";
import { byDistance, reportsOf, trainingOf } from "./fit-parts.ts";
import type { FitTableOptions, Plans } from "./fit-table-options.ts";
import { binsOf, trainMasked } from "./masked.ts";
import type { PreparedRows } from "./prepare.ts";

/**
 * Trains a network of masked cells, and opens the model: one network, whatever is given or missing.
 */
export async function fitMasked(
  prepared: PreparedRows,
  rows: number,
  options: FitTableOptions,
  plans: Plans,
): Promise<TableModel> {
  const { coordinates, seen, unseen } = prepared;
  const { seed = 0, layout } = options;
  const training = trainingOf(options);
  const own = { ...coordinates, bins: binsOf(coordinates, seen) };
  const { network, parameters, best, validation } = await trainMasked(own, seen, unseen, {
    ...{ ...training, ...reportsOf(options, own, "whole") },
    ...(options.choose === "distance" &&
      byDistance({ ...prepared, coordinates: own }, undefined, options)),
    ...plans.whole,
  });
  return openTable(
    {
      ...{ ...own, related: prepared.wide?.related, network, parameters, layout },
      training: { seed, rows, step: best, validation },
    },
    training,
  );
}
