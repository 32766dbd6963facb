/**
 * Several fits that differ by their seed alone, of which the one with the least loss on rows held
 * out is kept. Those rows and their noise are the same for all fits, except for the values that
 * each samples for missing ones, so the losses can be compared.
 */
import { product } from "diffeo/domain";
import { fail } from "diffeo/graph";
import type { RunStore } from "diffeo/train";
import { atomsOf, cellsOf, partCells, type Row } from "../encode/index.ts";
import type { TableModel } from "../query/index.ts";
import { fitTable } from "./fit.ts";
import type { FitTableOptions, TableProgress } from "./fit-table-options.ts";

/** How several seeds are fitted. */
export interface FitSeedsOptions
  extends Omit<FitTableOptions, "store" | "givenStore" | "flowStore"> {
  /** How many seeds there are, from `seed` on. They share `minutes`. */
  readonly seeds: number;
  /**
   * Where the runs of a seed's networks are kept, and continued from if something is there.
   * Default: memory.
   */
  readonly storeOf?: (seed: number, network: TableProgress["network"]) => Promise<RunStore>;
  /** Called when a seed begins. */
  readonly onSeed?: (seed: number) => void;
}

/** The best of several seeds, and the loss of each. */
export interface SeedsFit {
  readonly model: TableModel;
  /** The loss of each on rows held out. */
  readonly tried: readonly { readonly seed: number; readonly validation: number }[];
}

/**
 * Whether points of rows depend on a fit's seed: missing values do, and places of integers within
 * their intervals. A flow of such points belongs to the seed that it was learned with, and fits of
 * other seeds that share it wait for it.
 */
export function isDrawnBySeed(rows: readonly Row[], columns: FitTableOptions["columns"]): boolean {
  const domain = product(columns);
  const cells = rows.map((row, i) => cellsOf(row, domain.columns, i, "refused"));
  const atoms = atomsOf(cells, domain);
  return domain.parts.some(
    (part) =>
      (part.domain.noise > 0 && !Object.hasOwn(atoms, part.name)) ||
      cells.some((row) => !partCells(part, row)),
  );
}

/** Models that differ by their seed, as one: that of the least loss on rows held out. */
export function bestOfSeeds(models: readonly TableModel[]): SeedsFit {
  return {
    model: models.reduce((best, one) =>
      one.training.validation < best.training.validation ? one : best,
    ),
    tried: models.map(({ training: { seed, validation } }) => ({ seed, validation })),
  };
}

/** Fits once per seed, and keeps the best. */
export async function fitSeeds(rows: readonly Row[], options: FitSeedsOptions): Promise<SeedsFit> {
  const { seeds, seed: first = 0, minutes, storeOf, onSeed, ...rest } = options;
  if (!(Number.isInteger(seeds) && seeds >= 1))
    fail("usage", `seeds is ${seeds}`, "give an integer, at least 1");
  const models: TableModel[] = [];
  for (let seed = first; seed < first + seeds; seed++) {
    rest.signal?.throwIfAborted();
    onSeed?.(seed);
    const model = await fitTable(rows, {
      ...rest,
      seed,
      minutes: minutes === undefined ? undefined : minutes / seeds,
      // All seeds share the flow of the first, so that they are compared in the same x.
      flow: models[0]?.flow ?? rest.flow,
      store: await storeOf?.(seed, "whole"),
      givenStore: await storeOf?.(seed, "given"),
      flowStore: rest.flow && (await storeOf?.(first, "flow")),
    });
    models.push(model);
  }
  return bestOfSeeds(models);
}
