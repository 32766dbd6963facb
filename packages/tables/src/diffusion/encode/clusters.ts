/**
 * The standard that the network of given parts works in where there are many numbers:
 * coordinates are whitened within clusters of at most `TOGETHER` of them, so that the directions of
 * known parts of a row take O(n) and not O(n³) (`pattern.ts`). Clusters grow along the largest
 * correlations |r_ij| first, and only along those that are more than chance, |r| > 2/√rows. The
 * network learns the dependence between clusters.
 */
import type { Product } from "diffeo/domain";
import type { Standard } from "./standard.ts";
import { standardOf } from "./standard.ts";

/** Most coordinates that are whitened together, unless one part has more. */
const TOGETHER = 24;
/** Rows that correlations are taken from. */
const MOST_ROWS = 2000;
/** Correlations below which columns count as independent, in 1/√rows. */
const CHANCE = 2;

/** Coordinates with mean 0 and length 1, one after the other, 0 where missing. */
function unitColumns(z: Float64Array, n: number, chosen: readonly number[]): Float64Array[] {
  const rows = Math.min(MOST_ROWS, z.length / n);
  return chosen.map((j) => {
    const column = Float64Array.from({ length: rows }, (_, i) => z[i * n + j]);
    const there = column.filter((v) => !Number.isNaN(v));
    const mean = there.reduce((s, v) => s + v, 0) / Math.max(1, there.length);
    const centred = column.map((v) => (Number.isNaN(v) ? 0 : v - mean));
    const length = Math.sqrt(centred.reduce((s, v) => s + v * v, 0));
    return length > 0 ? centred.map((v) => v / length) : centred;
  });
}

/** The groups of parts that grow along their largest correlations, as lists of coordinates. */
function clustersOf(
  z: Float64Array,
  n: number,
  parts: readonly (readonly number[])[],
): readonly (readonly number[])[] {
  const columns = parts.map((own) => unitColumns(z, n, own));
  const rows = columns[0][0].length;
  const pairs: [size: number, a: number, b: number][] = [];
  for (let a = 0; a < parts.length; a++)
    for (let b = 0; b < a; b++) {
      let most = 0;
      for (const u of columns[a])
        for (const v of columns[b]) {
          let r = 0;
          for (let i = 0; i < rows; i++) r += u[i] * v[i];
          most = Math.max(most, Math.abs(r));
        }
      if (most > CHANCE / Math.sqrt(rows)) pairs.push([most, a, b]);
    }
  pairs.sort((p, q) => q[0] - p[0] || p[1] - q[1] || p[2] - q[2]);
  const clusters = parts.map((own) => [...own]);
  const clusterAt = parts.map((_, k) => k);
  for (const [, a, b] of pairs) {
    const [into, from] = [clusterAt[a], clusterAt[b]];
    if (into === from || clusters[into].length + clusters[from].length > TOGETHER) continue;
    clusters[into].push(...clusters[from]);
    clusters[from] = [];
    clusterAt.forEach((at, k) => {
      if (at === from) clusterAt[k] = into;
    });
  }
  return clusters.filter(({ length }) => length > 0).map((own) => own.toSorted((i, j) => i - j));
}

/**
 * The standard of clusters of coordinates z [rows, n], NaN where they are missing; undefined where
 * there are so few that all are whitened together. Coordinates in a range of `apart` are whitened
 * among themselves, as in `standardOf`.
 */
export function clusteredStandard(
  z: Float64Array,
  { dimension: n, parts }: Product,
  nameOf: (i: number) => string,
  apart: readonly (readonly [from: number, to: number])[],
): Standard | undefined {
  const all = parts.map(({ domain, at }) =>
    Array.from({ length: domain.dimension }, (_, j) => at.x + j),
  );
  const isApart = (i: number): boolean => apart.some(([from, to]) => i >= from && i < to);
  const free = all.filter(([first]) => !isApart(first));
  if (free.flat().length <= TOGETHER) return undefined;
  const ranges = apart.map(([from, to]) => Array.from({ length: to - from }, (_, j) => from + j));
  const groups = [...ranges, ...clustersOf(z, n, free)];
  const mean = new Array<number>(n).fill(0);
  const matrix = new Array<number>(n * n).fill(0);
  const rows = z.length / n;
  for (const group of groups) {
    const s = group.length;
    const own = Float64Array.from(
      { length: rows * s },
      (_, at) => z[Math.floor(at / s) * n + group[at % s]],
    );
    const standard = standardOf(own, s, (i) => nameOf(group[i]));
    group.forEach((i, a) => {
      mean[i] = standard.mean[a];
      group.forEach((j, b) => {
        matrix[i * n + j] = standard.matrix[a * s + b];
      });
    });
  }
  return { mean, matrix };
}
