/**
 * Evaluates completion: cells of rows that the model was not trained on are hidden and sampled K
 * times, given the rest of the row.
 *
 * The rank of a number among its draws, randomised among equal ones, is
 *
 *   F = (#{draws < y} + U (1 + #{draws = y})) / (K + 1),      U uniform
 *
 * If the true value and the draws have one distribution, all K + 1 orders are equally likely. F is
 * then uniform for any K, and lies in the central intervals of 50 % and 90 % with these
 * probabilities. For a label k sampled c_k times the estimate is p_k = c_k/K. It is calibrated if
 * the true label has, on average, the share that another draw would have: E p_true = E Σ_k p_k², of
 * which Σ_k c_k (c_k − 1)/(K (K − 1)) is an unbiased estimate.
 */
import type { Cell, ProductPart } from "diffeo/domain";
import { fail } from "diffeo/graph";
import { fold, key as keyOf, permutation, uniform } from "diffeo/random";
import { strangers } from "../diffusion/encode/index.ts";
import { type FittedTable, requireTakesGiven } from "../diffusion/network/index.ts";
import { allCells, knownDomain, type TableModel } from "../diffusion/query/index.ts";
import { type Mean, meanOf } from "./mean.ts";
import type { Cells } from "./table-distribution.ts";

/** How often true numbers lie within the central intervals of their draws. */
export interface Coverage {
  readonly half: Mean;
  readonly ninety: Mean;
}

/** The results for hidden labels. */
export interface LabelCompletion {
  /** The share of draws with the true label, and the share of pairs of draws that agree. */
  readonly truth: Mean;
  readonly agreement: Mean;
  /** The first minus the second, row by row: 0 if the model is right. */
  readonly gap: Mean;
}

/** The results for one hidden column. */
export interface ColumnCompletion {
  readonly column: string;
  readonly cells: number;
  /** For numbers, and for labels. */
  readonly numbers?: Coverage;
  readonly labels?: LabelCompletion;
}

/** Results for cells that were hidden in one way. */
export interface HiddenCells {
  readonly columns: readonly ColumnCompletion[];
  /**
   * For all numbers together; errors allow for the dependence of cells in one row. Absent if all
   * columns are labels.
   */
  readonly numbers?: Coverage & { readonly cells: number };
}

/** How well a model completes each column from the others. */
export interface TableCompletion {
  readonly rows: number;
  readonly draws: number;
  /**
   * With one column, or group of columns, hidden at a time; and with several, chosen at random for
   * each row.
   */
  readonly alone: HiddenCells;
  readonly several: HiddenCells;
}

/** Options for the evaluation of completion. */
export interface CompletionOptions {
  /** Rows that were not used in training. */
  readonly rows: readonly Cells[];
  /** Maximum number of rows whose cells are hidden. Default 300. */
  readonly most?: number;
  /** Draws per row. Default 40. */
  readonly draws?: number;
  /**
   * The probability with which a column, or group of columns, is hidden among several. Default 0.3.
   */
  readonly chance?: number;
  readonly seed?: number;
  readonly signal?: AbortSignal;
}

/** A row with some parts hidden. */
interface Asked {
  readonly row: number;
  readonly hidden: readonly ProductPart[];
}

/** The result for one cell. */
interface CellFound {
  readonly row: number;
  readonly place?: number;
  readonly truth?: number;
  readonly agreement?: number;
}

/**
 * The columns that may be hidden, and rows without some of them. What was made for a rule is never
 * shown, and a sum is hidden with its parts where it would settle them. A column that follows from
 * others of the table alone is not hidden by itself.
 */
function hidingOf(model: TableModel) {
  const { parts: all } = model.related?.domain ?? model.domain;
  const { parts: known } = knownDomain(model);
  const made = all.filter((part) => !known.includes(part));
  const helpers = (model.related?.helpers ?? []).map(({ part, from, derivation }) => ({
    part: all[part],
    from: from.map((k) => all[k]),
    isSum: derivation.by === "sum",
    isSettled: !from.some((k) => made.includes(all[k])),
  }));
  const isFree = (part: ProductPart): boolean =>
    !helpers.some((helper) => helper.part === part && helper.isSettled);
  return {
    parts: known.filter(isFree),
    without: (cells: Cells, hidden: readonly ProductPart[]): (Cell | null)[] => {
      const sums = helpers.filter(
        ({ isSum, isSettled, from }) =>
          isSum && isSettled && from.some((part) => hidden.includes(part)),
      );
      const out: (Cell | null)[] = [...cells];
      for (const { at, domain } of [...hidden, ...made, ...sums.map(({ part }) => part)])
        out.fill(null, at.cells, at.cells + domain.cells);
      return out;
    },
  };
}

/** F of a number among its draws. */
export function placeAmong(value: number, draws: readonly number[], u: number): number {
  let [below, equal] = [0, 0];
  for (const v of draws) {
    if (v < value) below++;
    else if (v === value) equal++;
  }
  return (below + u * (equal + 1)) / (draws.length + 1);
}

/** p of the true label among draws, and the share of pairs of draws that agree. */
export function labelAmong(
  label: Cell,
  draws: readonly Cell[],
): Required<Pick<CellFound, "truth" | "agreement">> {
  const counts = new Map<Cell, number>();
  for (const v of draws) counts.set(v, (counts.get(v) ?? 0) + 1);
  const k = draws.length;
  const pairs = [...counts.values()].reduce((s, c) => s + c * (c - 1), 0);
  return { truth: (counts.get(label) ?? 0) / k, agreement: pairs / (k * (k - 1)) };
}

/** The mean of values, with its error from sums per row, because cells of one row are dependent. */
function clusteredMean(found: readonly { readonly row: number; readonly value: number }[]): Mean {
  const { mean } = meanOf(found.map(({ value }) => value));
  const sums = new Map<number, number>();
  for (const { row, value } of found) sums.set(row, (sums.get(row) ?? 0) + value - mean);
  const squares = [...sums.values()].reduce((s, v) => s + v * v, 0);
  const n = sums.size;
  return {
    mean,
    error: n > 1 ? Math.sqrt((squares * n) / (n - 1)) / found.length : Number.POSITIVE_INFINITY,
  };
}

const within = (share: number) => (place: number) => (Math.abs(place - 0.5) < share / 2 ? 1 : 0);

function coverageOf(places: readonly { readonly row: number; readonly place: number }[]): Coverage {
  const share = (size: number): Mean =>
    clusteredMean(places.map(({ row, place }) => ({ row, value: within(size)(place) })));
  return { half: share(0.5), ninety: share(0.9) };
}

const placesIn = (found: readonly CellFound[]) =>
  found.flatMap(({ row, place }) => (place === undefined ? [] : [{ row, place }]));

function columnOf(column: string, found: readonly CellFound[]): ColumnCompletion {
  const places = placesIn(found);
  if (places.length > 0) return { column, cells: found.length, numbers: coverageOf(places) };
  const values = (of: (cell: CellFound) => number): Mean => meanOf(found.map(of));
  return {
    column,
    cells: found.length,
    labels: {
      truth: values(({ truth = 0 }) => truth),
      agreement: values(({ agreement = 0 }) => agreement),
      gap: values(({ truth = 0, agreement = 0 }) => truth - agreement),
    },
  };
}

/** Completes rows, and collects the results for the cells of every column. */
async function hiddenCells(
  model: TableModel,
  rows: readonly Cells[],
  asked: readonly Asked[],
  name: string,
  { draws = 40, seed = 0, signal }: CompletionOptions,
): Promise<HiddenCells> {
  const { columns } = model.related?.domain ?? model.domain;
  const { without } = hidingOf(model);
  const { rows: filled } = await model.complete(
    asked.map(({ row, hidden }) => without(rows[row], hidden)),
    { draws, seed, signal },
  );
  const width = columns.length;
  const u = uniform(fold(fold(keyOf(seed), "places"), name), [asked.length, width], {
    dtype: "float64",
  }).data;
  const found: CellFound[][] = columns.map(() => []);
  asked.forEach(({ row, hidden }, i) => {
    const all = allCells(model, filled[i]);
    for (const { at, domain: own } of hidden)
      for (let j = at.cells; j < at.cells + own.cells; j++) {
        const [truth, drawn] = [rows[row][j], all.map((cells) => cells[j])];
        found[j].push({
          row,
          ...(own.kind === "category" || typeof truth === "string"
            ? labelAmong(truth, drawn)
            : { place: placeAmong(Number(truth), drawn.map(Number), u[i * width + j]) }),
        });
      }
  });
  const places = placesIn(found.flat());
  return {
    columns: columns.flatMap((column, j) =>
      found[j].length > 0 ? [columnOf(column, found[j])] : [],
    ),
    ...(places.length > 0 && { numbers: { ...coverageOf(places), cells: places.length } }),
  };
}

/** Throws if a model cannot complete rows. */
export const requireCompletable = (model: FittedTable): void => requireTakesGiven(model);

/**
 * Hides cells of rows, completes them and measures how often the true values are where they should
 * be.
 */
export async function completionOf(
  model: TableModel,
  options: CompletionOptions,
): Promise<TableCompletion> {
  const { most = 300, draws = 40, chance = 0.3, seed = 0 } = options;
  const { domain, atoms = {} } = model;
  const { parts, without } = hidingOf(model);
  requireCompletable(model);
  if (!(Number.isSafeInteger(draws) && draws >= 2))
    fail("usage", `draws is ${draws}`, "give an integer, at least 2");
  // An integer of likelihood zero can be hidden and missed, but no cell can be sampled given it.
  const canBeAsked = ({ row, hidden }: Asked): boolean =>
    strangers(domain, atoms, without(rows[row], hidden)).length === 0;
  if (options.rows.length === 0)
    fail("data", "there are no rows in which to hide cells", "give rows without missing values");
  const order = permutation(fold(keyOf(seed), "hidden rows"), options.rows.length).data.subarray(
    0,
    most,
  );
  const some = Array.from(order, (i) => options.rows[i]);
  const rows = some.map((row) => (row.length > domain.cells ? row : allCells(model, [row])[0]));
  const u = uniform(fold(keyOf(seed), "hidden"), [rows.length, parts.length], {
    dtype: "float64",
  }).data;
  const alone = parts.flatMap((part) => rows.map((_, row): Asked => ({ row, hidden: [part] })));
  const several = rows.map((_, row): Asked => {
    const own = u.subarray(row * parts.length, (row + 1) * parts.length);
    // At least one: the most probable one.
    const bound = Math.max(chance, Math.min(...own) + 1e-12);
    return { row, hidden: parts.filter((_, k) => own[k] < bound) };
  });
  return {
    rows: rows.length,
    draws,
    alone: await hiddenCells(model, rows, alone.filter(canBeAsked), "alone", options),
    several: await hiddenCells(model, rows, several.filter(canBeAsked), "several", options),
  };
}
