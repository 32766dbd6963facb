/** Matrices spread over numbers: the entries of the lower triangle, row by row, without the diagonal where that is all ones. */
import { correlationMap, logCholesky } from "../bijector/index.ts";
import { cholesky } from "../host/index.ts";
import { type Domain, domain, requireCount } from "./domain.ts";

/** Whether a symmetric matrix, given by its entries i ≥ j, is positive definite. */
const isPositive = (order: number, entry: (i: number, j: number) => number): boolean =>
  cholesky(
    Float64Array.from({ length: order * order }, (_, at) => {
      const [i, j] = [Math.floor(at / order), at % order];
      return i >= j ? entry(i, j) : entry(j, i);
    }),
    order,
  ) !== undefined;

/** k×k correlation matrices, as k(k − 1)/2 numbers: (2,1), (3,1), (3,2), … */
export function correlation(order: number): Domain {
  requireCount(order, 2, "correlation: order");
  return domain({
    kind: "correlation",
    spec: { kind: "correlation", order },
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

/** k×k positive-definite matrices, as k(k + 1)/2 numbers: (1,1), (2,1), (2,2), (3,1), … */
export function covariance(order: number): Domain {
  requireCount(order, 1, "covariance: order");
  return domain({
    kind: "covariance",
    spec: { kind: "covariance", order },
    map: logCholesky(),
    dimension: (order * (order + 1)) / 2,
    fault: (y) =>
      isPositive(order, (i, j) => y[(i * (i + 1)) / 2 + j])
        ? undefined
        : "the numbers are of no positive-definite matrix",
  });
}
