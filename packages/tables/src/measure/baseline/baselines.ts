/**
 * Three distributions that every model of a table should beat, on the same domains and with the
 * same base measure as the model. With z = φ⁻¹(y) the unbounded coordinates of the domains' maps:
 *
 *   Gaussian      z ~ N(μ, Σ); labels independent, by their frequencies
 *                 log q = log N(z) − log|det J_φ|
 *   copula        sⱼ = Φ⁻¹(Fⱼ(zⱼ)), s ~ N(0, R)
 *                 log q = Σⱼ log fⱼ + log c_R(s) − log|det J_φ|
 *   independent   the copula with R = I
 *
 * Fⱼ is the kernel distribution of coordinate j (`marginal.ts`), in the coordinate of the domain's
 * map: no baseline has mass outside of a domain. A label or an integer k is an interval of length
 * P(k) in (0, 1), from which u is sampled. Everything sampled in this way, and the Gaussian's
 * spread integers, are averaged over: q = E_u q(y(u)). Missing cells are left out, in fits and in
 * scores: q of a row is the density of its other cells.
 */

import type { Product } from "diffeo/domain";
import { choice, fold, key, normal, uniform } from "diffeo/random";
import type { OpenCells, TableDistribution } from "../table-distribution.ts";
import { copulaBaseline, independentBaseline, marginalsOf } from "./copula-baseline.ts";
import {
  countedDistribution,
  countedLogs,
  DRAWS,
  drawnRows,
  isCategory,
  logMean,
} from "./counted-columns.ts";
import { type Gaussian, gaussianLogDensity, gaussianOf, timesLower } from "./gaussian.ts";
import { splitMixed } from "./mixed.ts";
import { partsWhere, withoutBends } from "./parts.ts";

/** Number of rows from which correlations of a copula are estimated. */
const MOST_ROWS = 3000;

function gaussianBaseline(domain: Product, rows: readonly OpenCells[]): TableDistribution {
  const parts = partsWhere(domain, (part) => !isCategory(part));
  const counted = domain.parts.filter(isCategory).map((part) => countedDistribution(part, rows));
  const nameOf = (i: number): string => `coordinate ${i + 1}`;
  const distribution: Gaussian | undefined =
    parts.size > 0 ? gaussianOf(parts.pointsOf(rows, 0).z, parts.size, nameOf) : undefined;
  const draws = parts.noisy ? DRAWS : 1;
  return {
    name: "Gaussian",
    logLikelihood: (some) => {
      const labels = countedLogs(counted, some);
      if (!distribution) return labels;
      const found = Array.from({ length: draws }, (_, i) => {
        const { z, shift } = parts.pointsOf(some, i + 1);
        return gaussianLogDensity(distribution, z).map((v, row) => v + shift[row]);
      });
      return logMean(found).map((v, i) => v + labels[i]);
    },
    draw: (count, seed) => {
      const root = fold(key(seed), "gaussian");
      const drawn = drawnRows(count, domain.columns.length);
      if (distribution) {
        const noise = normal(fold(root, "z"), [count, parts.size], { dtype: "float64" }).data;
        const z = timesLower(distribution.factor, noise, parts.size).map(
          (v, i) => v + distribution.mean[i % parts.size],
        );
        parts.decode(z, drawn);
      }
      counted.forEach(({ at, distribution: own }) => {
        const u = uniform(fold(root, at), count, { dtype: "float64" }).data;
        drawn.forEach((row, i) => {
          row[at] = own.quantile(u[i]);
        });
      });
      return drawn;
    },
  };
}

/** At most this many rows, chosen at random. */
export function someRows<T>(rows: readonly T[], most: number): readonly T[] {
  if (rows.length <= most) return rows;
  return Array.from(
    choice(key("rows"), rows.length, most, { replace: false }).data,
    (i) => rows[i],
  );
}

/** The three baselines of a table, fitted to its rows. */
export function tableBaselines(
  table: Product,
  rows: readonly OpenCells[],
): readonly TableDistribution[] {
  const { domain, split, joined } = splitMixed(withoutBends(table));
  const own = rows.map(split);
  const marginals = marginalsOf(domain, own);
  return [
    gaussianBaseline(domain, own),
    copulaBaseline(domain, someRows(own, MOST_ROWS), marginals),
    independentBaseline(domain, marginals),
  ].map((distribution) => ({
    ...distribution,
    logLikelihood: (some) => distribution.logLikelihood(some.map(split)),
    draw: async (count, seed) => (await distribution.draw(count, seed)).map(joined),
  }));
}
