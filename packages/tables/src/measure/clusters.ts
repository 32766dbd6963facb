/**
 * Mass by cluster: k-means divides the rows of a table into K clusters (S. Lloyd, 1982; seeds by D.
 * Arthur and S. Vassilvitskii, 2007), and the share of samples in each is compared with the share
 * of rows. K, from 2 to 8, has the largest mean silhouette (b − a)/max(a, b), where a is the
 * distance to the row's own centre and b the distance to the next.
 */
import type { NdArray } from "diffeo/graph";
import { choice, fold, type Key } from "diffeo/random";

interface ClusterMass {
  /** Share of the rows and of the samples. */
  readonly data: number;
  readonly samples: number;
  /** Standard error of their difference. */
  readonly error: number;
}

/** Shares of the data and of samples in each cluster of the data. */
export interface Clusters {
  /** Largest first. */
  readonly masses: readonly ClusterMass[];
  /**
   * Mean silhouette: above about 0.5 the clusters are separate; below, they are parts of one cloud.
   */
  readonly silhouette: number;
}

const LEAST_CLUSTERS = 2;
const MOST_CLUSTERS = 8;
const STARTS = 3;
const ROUNDS = 40;
/** Number of rows from which centres are computed. */
const MOST_ROWS = 4000;

interface Points {
  readonly data: Float64Array;
  readonly n: number;
}

const squareTo = ({ data, n }: Points, row: number, centres: Float64Array, k: number): number => {
  let total = 0;
  for (let j = 0; j < n; j++) total += (data[row * n + j] - centres[k * n + j]) ** 2;
  return total;
};

/** The nearest centre of a row, with the squared distances to it and to the next. */
function nearest(
  points: Points,
  row: number,
  centres: Float64Array,
): readonly [at: number, own: number, next: number] {
  let [at, own, next] = [0, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let k = 0; k < centres.length / points.n; k++) {
    const square = squareTo(points, row, centres, k);
    if (square < own) [at, own, next] = [k, square, own];
    else if (square < next) next = square;
  }
  return [at, own, next];
}

/** Initial centres: rows sampled with the squared distance to the previous centres as weight. */
function seeded(points: Points, count: number, k: number, key: Key): Float64Array {
  const { data, n } = points;
  const centres = new Float64Array(k * n);
  const squares = new Float64Array(count).fill(1);
  for (let c = 0; c < k; c++) {
    const weights = squares.some((v) => v > 0) ? squares : squares.map(() => 1);
    const row = choice(fold(key, c), count, 1, { weights }).data[0];
    centres.set(data.subarray(row * n, (row + 1) * n), c * n);
    for (let i = 0; i < count; i++) {
      const square = squareTo(points, i, centres, c);
      squares[i] = c === 0 ? square : Math.min(squares[i], square);
    }
  }
  return centres;
}

/** Lloyd's iterations until no row moves. */
function settled(
  points: Points,
  count: number,
  start: Float64Array,
): { centres: Float64Array; loss: number } {
  const { data, n } = points;
  const k = start.length / n;
  let centres = start;
  let loss = Number.POSITIVE_INFINITY;
  const own = new Int32Array(count).fill(-1);
  for (let round = 0; round < ROUNDS; round++) {
    let moved = false;
    loss = 0;
    const sums = new Float64Array(k * n);
    const sizes = new Float64Array(k);
    for (let i = 0; i < count; i++) {
      const [at, square] = nearest(points, i, centres);
      moved ||= own[i] !== at;
      own[i] = at;
      loss += square;
      sizes[at]++;
      for (let j = 0; j < n; j++) sums[at * n + j] += data[i * n + j];
    }
    if (!moved) break;
    // A centre without rows keeps its place.
    centres = sums.map((v, at) => {
      const size = sizes[Math.floor(at / n)];
      return size > 0 ? v / size : centres[at];
    });
  }
  return { centres, loss };
}

function silhouetteOf(points: Points, count: number, centres: Float64Array): number {
  let total = 0;
  for (let i = 0; i < count; i++) {
    const [, own, next] = nearest(points, i, centres);
    total += next > 0 ? 1 - Math.sqrt(own / next) : 0;
  }
  return total / count;
}

/** Shares of points per centre. */
function sharesOf(points: Points, centres: Float64Array): Float64Array {
  const count = points.data.length / points.n;
  const shares = new Float64Array(centres.length / points.n);
  for (let i = 0; i < count; i++) shares[nearest(points, i, centres)[0]] += 1 / count;
  return shares;
}

const pointsOf = ({ shape, data }: NdArray): Points => ({
  data: data as Float64Array,
  n: shape[1],
});

/** At most this many points, chosen at random. */
function someOf(points: Points, most: number, key: Key): Points {
  const count = points.data.length / points.n;
  if (count <= most) return points;
  const rows = choice(key, count, most, { replace: false }).data;
  const data = new Float64Array(most * points.n);
  rows.forEach((row, i) => {
    data.set(points.data.subarray(row * points.n, (row + 1) * points.n), i * points.n);
  });
  return { ...points, data };
}

/** Masses of clusters of rows, and of samples in them; both are features [count, n]. */
export function clusterMasses(samples: NdArray, real: NdArray, key: Key): Clusters {
  const all = pointsOf(real);
  const points = someOf(all, MOST_ROWS, fold(key, "some"));
  const count = points.data.length / points.n;
  let best: { centres: Float64Array; silhouette: number } | undefined;
  for (let k = LEAST_CLUSTERS; k <= Math.min(MOST_CLUSTERS, Math.floor(count / 5)); k++) {
    const runs = Array.from({ length: STARTS }, (_, i) =>
      settled(points, count, seeded(points, count, k, fold(fold(key, k), i))),
    );
    const { centres } = runs.reduce((a, b) => (b.loss < a.loss ? b : a));
    const silhouette = silhouetteOf(points, count, centres);
    if (silhouette > (best?.silhouette ?? Number.NEGATIVE_INFINITY)) best = { centres, silhouette };
  }
  if (!best) return { masses: [], silhouette: 0 };
  const [drawn, known] = [sharesOf(pointsOf(samples), best.centres), sharesOf(all, best.centres)];
  const counts = [samples.shape[0], real.shape[0]];
  const masses = Array.from(known, (data, k): ClusterMass => {
    const pooled = (data * counts[1] + drawn[k] * counts[0]) / (counts[0] + counts[1]);
    return {
      data,
      samples: drawn[k],
      error: Math.sqrt(pooled * (1 - pooled) * (1 / counts[0] + 1 / counts[1])),
    };
  });
  return { masses: masses.sort((a, b) => b.data - a.data), silhouette: best.silhouette };
}
