/**
 * Matrices spread over numbers: the entries of the lower triangle, row by row, without the diagonal
 * where that is all ones.
 */
import { correlationMap, logCholesky } from "../bijector/index.ts";
import { fail } from "../graph/index.ts";
import { cholesky } from "../host/index.ts";
import { type Domain, domain, partCount, requireCount } from "./domain.ts";

/** Whether a symmetric matrix, given by its entries i ≥ j, is positive definite. */
const isPositive = (order: number, entry: (i: number, j: number) => number): boolean =>
  cholesky(
    Float64Array.from({ length: order * order }, (_, at) => {
      const [i, j] = [Math.floor(at / order), at % order];
      return i >= j ? entry(i, j) : entry(j, i);
    }),
    order,
  ) !== undefined;

/** The order k of a matrix that is said by number, or by the names of its k(k ± 1)/2 entries. */
function orderOf(
  entries: number | readonly string[],
  least: number,
  diagonal: 0 | 1,
  what: string,
): number {
  if (typeof entries === "number") {
    requireCount(entries, least, `${what}: order`);
    return entries;
  }
  const count = partCount(entries, 1, what);
  // k(k + 1)/2 entries with the diagonal, (k − 1)k/2 without.
  const rows = Math.round((Math.sqrt(8 * count + 1) - 1) / 2);
  if ((rows * (rows + 1)) / 2 !== count)
    fail(
      "usage",
      `${what}: ${count} entries are no lower triangle of a matrix`,
      `name ${diagonal ? "1, 3, 6, 10, …" : "1, 3, 6, …"} entries, row by row`,
    );
  return rows + 1 - diagonal;
}

/**
 * k×k correlation matrices, as k(k − 1)/2 numbers: (2,1), (3,1), (3,2), …; by k, or by the names of
 * the numbers.
 */
export function correlation(entries: number | readonly string[]): Domain {
  const order = orderOf(entries, 2, 0, "correlation");
  return domain({
    kind: "correlation",
    spec: { kind: "correlation", order: typeof entries === "number" ? entries : [...entries] },
    ...(typeof entries !== "number" && { names: entries }),
    map: correlationMap(),
    dimension: (order * (order - 1)) / 2,
    fault: (y) => {
      const beyond = y.find((v) => !(Math.abs(v) < 1));
      if (beyond !== undefined) return `${beyond} is no correlation between −1 and 1`;
      return isPositive(order, (i, j) => (i === j ? 1 : y[(i * (i - 1)) / 2 + j]))
        ? undefined
        : "the correlations are of no positive-definite matrix";
    },
  });
}

/**
 * k×k positive-definite matrices, as k(k + 1)/2 numbers: (1,1), (2,1), (2,2), (3,1), …; by k, or by
 * the names of the numbers.
 */
export function covariance(entries: number | readonly string[]): Domain {
  const order = orderOf(entries, 1, 1, "covariance");
  return domain({
    kind: "covariance",
    spec: { kind: "covariance", order: typeof entries === "number" ? entries : [...entries] },
    ...(typeof entries !== "number" && { names: entries }),
    map: logCholesky(),
    dimension: (order * (order + 1)) / 2,
    fault: (y) =>
      isPositive(order, (i, j) => y[(i * (i + 1)) / 2 + j])
        ? undefined
        : "the numbers are of no positive-definite matrix",
  });
}
