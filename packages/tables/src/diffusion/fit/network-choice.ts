/**
 * Which network a table is fitted by where none is set.
 *
 * Of mixed tables, synthetic rows of masked cells are harder to tell from real ones than those of
 * diffusion: detection by trees on Adult, Shoppers and Magic scores 1.000, .963 and .895 instead of
 * .633, .805 and .775, after less training, and cells can be given without a second network
 * (docs/results/tables-trials.md). Diffusion is better where columns of numbers determine each
 * other closely, and only diffusion has a score.
 */
import type { Domain } from "diffeo/domain";
import { relatedColumns } from "../encode/index.ts";
import type { NetworkKind } from "../network/index.ts";

/** The network of a fit, with the reason for it. */
export interface NetworkChoice {
  readonly network: NetworkKind;
  readonly reason: string;
}

/** Rows from which masked cells are better than diffusion, as far as was measured. */
const MANY_ROWS = 1000;
/**
 * Labels and bins of all columns, at most: the network has a weight for each of them in its first
 * and last layers, and rows are sampled column after column.
 */
const MOST_VALUES = 4096;
/** Bins of a column of numbers, at most (`encode/bins.ts`). */
const BINS = 64;

/** Labels and bins of a domain, at most. */
const valuesOf = ({ codes, dimension }: Domain): number =>
  (codes?.length ?? 0) + BINS * (dimension - (codes?.[0].length ?? 0));

/**
 * The network that suits a table: one of masked cells where a table of 1,000 rows or more has
 * columns of labels or numbers with point masses, else diffusion.
 *
 * @param rows - how many rows there are
 * @param columns - the domains of the columns, by name
 * @example
 * import { category, real } from "diffeo/domain";
 * const columns = { height: real(), species: category(["oak", "fir"]) };
 * const { network, reason } = chooseNetwork(5000, columns);
 */
export function chooseNetwork(
  rows: number,
  columns: Readonly<Record<string, Domain>>,
): NetworkChoice {
  const diffusion = (reason: string): NetworkChoice => ({ network: "diffusion", reason });
  const own = relatedColumns(columns).domain.parts.map(({ domain }) => domain);
  if (rows < MANY_ROWS) return diffusion(`fewer than ${MANY_ROWS.toLocaleString("en")} rows`);
  if (!own.some(({ codes }) => codes !== undefined)) return diffusion("no column has labels");
  if (own.some(({ cells }) => cells > 1)) return diffusion("some columns form a group");
  if (own.reduce((sum, one) => sum + valuesOf(one), 0) > MOST_VALUES)
    return diffusion("the table has many columns or labels");
  return {
    network: "masked",
    reason: `labels, and ${MANY_ROWS.toLocaleString("en")} rows or more`,
  };
}
