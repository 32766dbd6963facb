/** Baselines with marginals: independent columns, and a Gaussian copula. */
import type { Cell, Product } from "diffeo/domain";
import { lowerSolve, normalPoint, normalShare } from "diffeo/host";
import { fold, key, normal, uniform } from "diffeo/random";
import { isHole } from "../../diffusion/encode/index.ts";
import type { OpenCells, TableDistribution } from "../table-distribution.ts";
import {
  type Counted,
  countedDistribution,
  countedLogs,
  DRAWS,
  drawnRows,
  isCounted,
  logMean,
} from "./counted-columns.ts";
import { factorOf, factorsOf, gaussianOf, logDiagonal, timesLower } from "./gaussian.ts";
import { kernelMarginal, type Marginal } from "./marginal.ts";
import { type Parts, partsWhere } from "./parts.ts";

/**
 * The common part of copula and independence: distributions of the coordinates and of the counted
 * columns, and the scores of rows.
 */
interface Marginals {
  readonly parts: Parts;
  readonly distributions: readonly Marginal[];
  readonly counted: readonly Counted[];
  /** Number of scores per row. */
  readonly size: number;
}

export function marginalsOf(domain: Product, rows: readonly OpenCells[]): Marginals {
  const parts = partsWhere(domain, (part) => !isCounted(part));
  const { z } = parts.pointsOf(rows, 0);
  const distributions = Array.from({ length: parts.size }, (_, j) =>
    kernelMarginal(
      Float64Array.from({ length: rows.length }, (_, i) => z[i * parts.size + j]).filter(
        (v) => !Number.isNaN(v),
      ),
    ),
  );
  const counted = domain.parts.filter(isCounted).map((part) => countedDistribution(part, rows));
  return { parts, distributions, counted, size: distributions.length + counted.length };
}

type Points = ReturnType<Parts["pointsOf"]>;

/** Σ log f of each row, with the shift to cells. */
const smoothLogs = ({ distributions }: Marginals, { z, shift }: Points): Float64Array =>
  shift.map((v, i) =>
    distributions.reduce((s, distribution, j) => {
      const value = z[i * distributions.length + j];
      return Number.isNaN(value) ? s : s + distribution.logDensity(value);
    }, v),
  );

/** The normal scores of coordinates. */
const smoothScores = ({ distributions }: Marginals, { z }: Points): Float64Array =>
  z.map((v, at) =>
    Number.isNaN(v) ? v : normalPoint(...distributions[at % distributions.length].tails(v)),
  );

/** The probability below a counted cell, above it, and of the cell itself. */
type Interval = readonly [below: number, above: number, own: number];

const intervalsOf = (
  { counted }: Marginals,
  rows: readonly OpenCells[],
): (Interval | undefined)[][] =>
  rows.map((row) =>
    counted.map(({ at, distribution }) => {
      const cell = row[at];
      if (isHole(cell)) return undefined;
      return [
        ...distribution.tails(cell as Cell),
        Math.exp(distribution.logProbability(cell as Cell)),
      ] as const;
    }),
  );

/**
 * The scores of all columns: those of the coordinates are given; u within the interval of a counted
 * cell is random, by a seed.
 */
function normalScores(
  { distributions, counted, size }: Marginals,
  smooth: Float64Array,
  rows: readonly (readonly (Interval | undefined)[])[],
  seed: number,
) {
  const u = uniform(fold(key(seed), "within"), [rows.length, counted.length], {
    dtype: "float64",
  }).data;
  const out = new Float64Array(rows.length * size);
  rows.forEach((row, i) => {
    out.set(smooth.subarray(i * distributions.length, (i + 1) * distributions.length), i * size);
    row.forEach((interval, j) => {
      const v = u[i * counted.length + j];
      const [below, above, own] = interval ?? [];
      out[i * size + distributions.length + j] =
        below === undefined || above === undefined || own === undefined
          ? Number.NaN
          : normalPoint(below + v * own, above + (1 - v) * own);
    });
  });
  return out;
}

/** Rows with given scores. */
function rowsAt(
  { parts, distributions, counted, size }: Marginals,
  scores: Float64Array,
  columns: number,
): Cell[][] {
  const count = scores.length / size;
  const drawn = drawnRows(count, columns);
  const shares = scores.map(normalShare);
  parts.decode(
    Float64Array.from({ length: count * distributions.length }, (_, at) => {
      const [i, j] = [Math.floor(at / distributions.length), at % distributions.length];
      return distributions[j].quantile(shares[i * size + j]);
    }),
    drawn,
  );
  drawn.forEach((row, i) => {
    counted.forEach(({ at, distribution }, j) => {
      row[at] = distribution.quantile(shares[i * size + distributions.length + j]);
    });
  });
  return drawn;
}

export function independentBaseline(domain: Product, marginals: Marginals): TableDistribution {
  return {
    name: "independent columns",
    logLikelihood: (rows) => {
      const logs = countedLogs(marginals.counted, rows);
      const { parts } = marginals;
      const draws = Array.from({ length: parts.noisy ? DRAWS : 1 }, (_, i) =>
        smoothLogs(marginals, parts.pointsOf(rows, i + 1)),
      );
      return logMean(draws).map((v, i) => v + logs[i]);
    },
    draw: (count, seed) => {
      const noise = normal(fold(key(seed), "independent"), [count, marginals.size], {
        dtype: "float64",
      }).data;
      return rowsAt(marginals, noise, domain.columns.length);
    },
  };
}

/** L of the correlations of scores, with mean 0 and variance 1. */
function copulaFactor(scores: Float64Array, n: number): Float64Array {
  const { factor } = gaussianOf(scores, n, (i) => `coordinate ${i + 1}`);
  const covariance = factor.map((_, at) => {
    const [i, j] = [Math.floor(at / n), at % n];
    let total = 0;
    for (let k = 0; k < n; k++) total += factor[i * n + k] * factor[j * n + k];
    return total;
  });
  const correlation = covariance.map(
    (v, at) =>
      v / Math.sqrt(covariance[Math.floor(at / n) * (n + 1)] * covariance[(at % n) * (n + 1)]),
  );
  return factorOf(correlation, n);
}

export function copulaBaseline(
  domain: Product,
  rows: readonly OpenCells[],
  marginals: Marginals,
): TableDistribution {
  const n = marginals.size;
  const { parts } = marginals;
  const fitted = smoothScores(marginals, parts.pointsOf(rows, 0));
  const factor = copulaFactor(normalScores(marginals, fitted, intervalsOf(marginals, rows), 0), n);
  const draws = parts.noisy || marginals.counted.length > 0 ? DRAWS : 1;
  const factors = factorsOf(factor, n);
  const logCopula = (scores: Float64Array): Float64Array =>
    Float64Array.from({ length: scores.length / n }, (_, i) => {
      const row = scores.subarray(i * n, (i + 1) * n);
      const { places, factor: own } = factors(row);
      const s = Float64Array.from(places, (j) => row[j]);
      const solved = lowerSolve(own, s);
      return s.reduce(
        (total, v, j) => total + (v * v - solved[j] * solved[j]) / 2,
        -logDiagonal(own, places.length),
      );
    });
  return {
    name: "Gaussian copula",
    logLikelihood: (some) => {
      const logs = countedLogs(marginals.counted, some);
      const intervals = intervalsOf(marginals, some);
      const smoothBy = (seed: number) => {
        const points = parts.pointsOf(some, seed);
        return { logs: smoothLogs(marginals, points), scores: smoothScores(marginals, points) };
      };
      let smooth = smoothBy(1);
      const found = Array.from({ length: draws }, (_, i) => {
        if (i > 0 && parts.noisy) smooth = smoothBy(i + 1);
        const joint = logCopula(normalScores(marginals, smooth.scores, intervals, i + 1));
        return joint.map((v, row) => v + smooth.logs[row] + logs[row]);
      });
      return logMean(found);
    },
    draw: (count, seed) => {
      const noise = normal(fold(key(seed), "copula"), [count, n], { dtype: "float64" }).data;
      return rowsAt(marginals, timesLower(factor, noise, n), domain.columns.length);
    },
  };
}
