/**
 * Domains of matrices, given by the entries of the lower triangle, row by row, without the diagonal
 * if it is all ones; or as whole matrices, for models.
 */
import { correlationMap, logCholesky } from "../bijector/index.ts";
import { fail, symmetric } from "../graph/index.ts";
import { cholesky } from "../host/index.ts";
import {
  type Cell,
  type Domain,
  type DomainDefinition,
  domain,
  partCount,
  requireCount,
} from "./domain.ts";

/** Whether a symmetric matrix, given by its entries i ≥ j, is positive definite. */
const isPositive = (order: number, entry: (i: number, j: number) => number): boolean =>
  cholesky(
    Float64Array.from({ length: order * order }, (_, at) => {
      const [i, j] = [Math.floor(at / order), at % order];
      return i >= j ? entry(i, j) : entry(j, i);
    }),
    order,
  ) !== undefined;

/** The order k of a matrix, given by number or by the names of its k(k ± 1)/2 entries. */
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
      `${what}: ${count} names are not the entries of a lower triangle`,
      `give ${diagonal ? "1, 3, 6, 10, …" : "1, 3, 6, …"} names, row by row`,
    );
  return rows + 1 - diagonal;
}

/**
 * The domain of k × k correlation matrices, as the k(k − 1)/2 numbers (2,1), (3,1), (3,2), ….
 *
 * @param entries k, or the names of the numbers
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
      if (beyond !== undefined) return `${beyond} is not a correlation between −1 and 1`;
      return isPositive(order, (i, j) => (i === j ? 1 : y[(i * (i - 1)) / 2 + j]))
        ? undefined
        : "the correlation matrix is not positive definite";
    },
  });
}

/**
 * The domain of k × k positive-definite matrices, as the k(k + 1)/2 numbers (1,1), (2,1), (2,2),
 * (3,1), ….
 *
 * @param entries k, or the names of the numbers
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
        : "the matrix is not positive definite",
  });
}

/** A domain of whole symmetric matrices, from one of their lower triangles. */
const asMatrices = (
  order: number,
  diagonal: 0 | 1,
  definition: Pick<DomainDefinition, "kind" | "map" | "dimension">,
  entries: Domain,
): Domain => {
  const lower = (cells: readonly Cell[]): number[] =>
    (cells as readonly number[]).filter((_, at) => at % order < Math.floor(at / order) + diagonal);
  const place = (i: number, j: number): number =>
    diagonal ? (i * (i + 1)) / 2 + j : (i * (i - 1)) / 2 + j;
  const fault = (cells: readonly number[]): string | undefined => {
    for (let i = 0; i < order; i++) {
      if (!diagonal && cells[i * order + i] !== 1)
        return `the diagonal has ${cells[i * order + i]}`;
      for (let j = 0; j < i; j++)
        if (cells[i * order + j] !== cells[j * order + i])
          return `${cells[i * order + j]} and ${cells[j * order + i]} are not symmetric`;
    }
    return entries.fault(lower(cells));
  };
  return domain({
    ...definition,
    cells: order * order,
    fault,
    encode: lower,
    decode: (y) =>
      Array.from({ length: order * order }, (_, at) => {
        const [i, j] = [Math.floor(at / order), at % order];
        if (i === j && !diagonal) return 1;
        return y[place(Math.max(i, j), Math.min(i, j))];
      }),
    values: (y) => symmetric(y, diagonal ? {} : { diagonal: 1 }),
  });
};

/** The domain of k × k correlation matrices, as whole matrices. */
export function correlationMatrix(order: number): Domain {
  const entries = correlation(order);
  const { map, dimension } = entries;
  return asMatrices(order, 0, { kind: "correlation matrix", map, dimension }, entries);
}

/** The domain of k × k positive-definite matrices, as whole matrices. */
export function covarianceMatrix(order: number): Domain {
  const entries = covariance(order);
  const { map, dimension } = entries;
  return asMatrices(order, 1, { kind: "covariance matrix", map, dimension }, entries);
}
