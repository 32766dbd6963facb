/** Matrices spread over numbers: the entries of the lower triangle, row by row, without the diagonal where that is all ones. */
import { correlationMap, logCholesky } from "../bijector/index.ts";
import { type Domain, domain, requireCount } from "./domain.ts";

/** The pivot of elimination that is not positive, of a symmetric matrix given by its entries i ≥ j; undefined where none is. */
function badPivot(order: number, entry: (i: number, j: number) => number): number | undefined {
  const l: number[][] = [];
  for (let i = 0; i < order; i++) {
    l.push([]);
    for (let j = 0; j <= i; j++) {
      let left = entry(i, j);
      for (let k = 0; k < j; k++) left -= l[i][k] * l[j][k];
      if (i === j && !(left > 0)) return left;
      l[i].push(i === j ? Math.sqrt(left) : left / l[j][j]);
    }
  }
  return undefined;
}

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
      const pivot = badPivot(order, (i, j) => (i === j ? 1 : y[(i * (i - 1)) / 2 + j]));
      return pivot === undefined ? undefined : "the correlations are of no positive-definite matrix";
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
      badPivot(order, (i, j) => y[(i * (i + 1)) / 2 + j]) === undefined
        ? undefined
        : "the numbers are of no positive-definite matrix",
  });
}
