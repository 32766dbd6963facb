/**
 * Pathfinder (L. Zhang, B. Carpenter, A. Gelman, A. Vehtari, 2022): Gaussians along the path of an
 * optimiser. From a random point, BFGS climbs log p and learns H ≈ (−∇²log p)⁻¹ on the way,
 *
 *   H ← (I − ρ s yᵀ) H (I − ρ y sᵀ) + ρ s sᵀ,   s = x′ − x,   y = g − g′,   ρ = 1/(sᵀy)
 *
 * so at each point x with gradient g, N(x + Hg, H) is a local approximation of the posterior. Each
 * path keeps the one with the largest evidence bound. Draws of several paths are combined with
 * Pareto-smoothed weights p/q, so that a path that ended in a minor mode gets a small weight.
 */
import { cholesky } from "../host/index.ts";
import { fold, type Key, normal, uniform } from "../random/index.ts";
import { type Gaussian, pointFrom, timesVector } from "./gaussian-fit.ts";
import { smoothedTail } from "./pareto.ts";

type Look = (x: readonly Float64Array[]) => Promise<{ value: Float64Array; slope: Float64Array[] }>;

interface Point {
  readonly x: Float64Array;
  readonly value: number;
  readonly slope: Float64Array;
}

/** The result of all paths: the best Gaussian, and weighted draws of all. */
export interface Paths {
  readonly best: Gaussian;
  readonly points: readonly Float64Array[];
  /** log p − log q of each point, where q is the Gaussian of its path. */
  readonly logRatios: Float64Array;
  readonly logWeights: Float64Array;
  readonly khat: number;
  /** The evidence bound of the best path and its standard error. */
  readonly evidence: number;
  readonly evidenceError: number;
}

/** Options of `pathfinder`. */
export interface PathOptions {
  readonly key: Key;
  readonly paths: number;
  /** The most steps of a path. */
  readonly iterations: number;
  /** Number of draws of all paths together. */
  readonly draws: number;
  readonly signal?: AbortSignal;
}

/** Draws that estimate the evidence bound of a Gaussian of a path. */
const JUDGES = 24;
/** The most tries for a starting point, and the most halvings of a step. */
const [TRIES, HALVINGS] = [50, 25];

const dot = (a: Float64Array, b: Float64Array): number =>
  a.reduce((total, v, i) => total + v * b[i], 0);
const along = (x: Float64Array, t: number, d: Float64Array): Float64Array =>
  x.map((v, i) => v + t * d[i]);

const finite = ({ value, slope }: Point): boolean =>
  Number.isFinite(value) && slope.every(Number.isFinite);

async function pointAt(look: Look, x: Float64Array): Promise<Point> {
  const { value, slope } = await look([x]);
  return { x, value: value[0], slope: slope[0] };
}

async function beginning(look: Look, n: number, key: Key): Promise<Point | undefined> {
  for (let tried = 0; tried < TRIES; tried++) {
    const box = uniform(fold(key, tried), [n], { low: -2, high: 2, dtype: "float64" }).data;
    const point = await pointAt(look, box);
    if (finite(point)) return point;
  }
  return undefined;
}

/**
 * The next point along d: the better one of a first try and of the maximum of the parabola through
 * the known values, which is exact if log p is quadratic.
 */
async function step(look: Look, from: Point, d: Float64Array): Promise<Point | undefined> {
  const rise = dot(from.slope, d);
  if (!(rise > 0)) return undefined;
  let t = Math.min(1, 10 / Math.sqrt(dot(d, d)));
  for (let halved = 0; halved < HALVINGS; halved++, t /= 2) {
    const tried = await pointAt(look, along(from.x, t, d));
    if (!finite(tried)) continue;
    // The derivative along d falls from `rise` to that of the try, so it is 0 at t rise/(rise −
    // there).
    const there = dot(tried.slope, d);
    const peak = there < rise ? Math.min(4 * t, (t * rise) / (rise - there)) : 4 * t;
    const second = await pointAt(look, along(from.x, peak, d));
    const best = finite(second) && second.value > tried.value ? second : tried;
    if (best.value >= from.value + 1e-4 * t * rise * 0.1) return best;
  }
  return undefined;
}

/** H after a step, row by row. */
function updated(h: Float64Array, from: Point, to: Point): Float64Array {
  const n = to.x.length;
  const s = to.x.map((v, i) => v - from.x[i]);
  const y = from.slope.map((v, i) => v - to.slope[i]);
  const sy = dot(s, y);
  // If log p is not concave along the step, there is no information about the covariance.
  if (!(sy > 1e-12 * Math.sqrt(dot(s, s) * dot(y, y)))) return h;
  const hy = timesVector(h, y);
  const scale = (1 + dot(y, hy) / sy) / sy;
  return h.map((v, at) => {
    const [i, j] = [Math.floor(at / n), at % n];
    return v + scale * s[i] * s[j] - (hy[i] * s[j] + s[i] * hy[j]) / sy;
  });
}

/** A Gaussian of a path with its evidence bound. */
interface Judged {
  readonly q: Gaussian;
  readonly evidence: number;
}

async function judged(look: Look, q: Gaussian, key: Key): Promise<Judged> {
  const { logRatios } = await ratiosOf(look, q, key, JUDGES);
  return { q, evidence: logRatios.reduce((a, b) => a + b, 0) / JUDGES };
}

/** Draws of a Gaussian, and log p − log q of each; −∞ where p is not finite. */
async function ratiosOf(look: Look, q: Gaussian, key: Key, count: number) {
  const n = q.mean.length;
  const z = normal(key, [count, n], { dtype: "float64" }).data;
  const rows = Array.from({ length: count }, (_, i) => z.subarray(i * n, (i + 1) * n));
  const points = rows.map((row) => pointFrom(q, row));
  const { value } = await look(points);
  let volume = 0.5 * n * Math.log(2 * Math.PI);
  for (let i = 0; i < n; i++) volume += Math.log(q.factor[i * (n + 1)]);
  const logRatios = value.map((p, i) => {
    const ratio = p + volume + 0.5 * dot(rows[i], rows[i]);
    return Number.isNaN(ratio) ? Number.NEGATIVE_INFINITY : ratio;
  });
  return { points, logRatios };
}

/** The best Gaussian of one path; undefined if no starting point was found. */
async function onePath(
  look: Look,
  n: number,
  key: Key,
  { iterations, signal }: PathOptions,
): Promise<Judged | undefined> {
  let at = await beginning(look, n, fold(key, "start"));
  if (!at) return undefined;
  let h: Float64Array = new Float64Array(n * n);
  for (let i = 0; i < n; i++) h[i * (n + 1)] = 1 / Math.max(1, Math.sqrt(dot(at.slope, at.slope)));
  let best: Judged | undefined;
  for (let t = 0; t < iterations; t++) {
    signal?.throwIfAborted();
    const d = timesVector(h, at.slope);
    // Stops when half the remaining rise is below the rounding of log p.
    if (dot(at.slope, d) < 1e-12 * (1 + Math.abs(at.value))) break;
    const next = await step(look, at, d);
    if (!next) break;
    h = updated(h, at, next);
    at = next;
    const factor = cholesky(h, n);
    if (!factor) continue;
    const mean = along(at.x, 1, timesVector(h, at.slope));
    const found = await judged(look, { mean, factor }, fold(fold(key, "judge"), t));
    if (!best || found.evidence > best.evidence) best = found;
  }
  return best;
}

/** Gaussians of several paths; undefined if no path found one. */
export async function pathfinder(
  look: Look,
  n: number,
  options: PathOptions,
): Promise<Paths | undefined> {
  const { key, paths, draws } = options;
  const found: Judged[] = [];
  for (let p = 0; p < paths; p++) {
    const one = await onePath(look, n, fold(fold(key, "path"), p), options);
    if (one && Number.isFinite(one.evidence)) found.push(one);
  }
  if (found.length === 0) return undefined;
  const each = Math.ceil(draws / found.length);
  const drawn: Awaited<ReturnType<typeof ratiosOf>>[] = [];
  for (const [p, { q }] of found.entries())
    drawn.push(await ratiosOf(look, q, fold(fold(key, "pool"), p), each));
  const points = drawn.flatMap((of) => of.points);
  const logRatios = Float64Array.from(drawn.flatMap((of) => [...of.logRatios]));
  // Ratios whose logarithm is not finite have weight 0; the tail is that of the others.
  const known = [...logRatios.keys()].filter((i) => Number.isFinite(logRatios[i]));
  const { logWeights: own, k: khat } = smoothedTail(
    known.map((i) => logRatios[i]),
    1,
  );
  const logWeights = new Float64Array(points.length).fill(Number.NEGATIVE_INFINITY);
  known.forEach((i, at) => {
    logWeights[i] = own[at];
  });
  const first = found.reduce((a, b) => (b.evidence > a.evidence ? b : a));
  const ofBest = drawn[found.indexOf(first)].logRatios;
  const evidence = ofBest.reduce((a, b) => a + b, 0) / each;
  const spread = ofBest.reduce((total, r) => total + (r - evidence) ** 2, 0) / (each - 1);
  return {
    best: first.q,
    points,
    logRatios,
    logWeights,
    khat,
    evidence,
    evidenceError: Math.sqrt(spread / each),
  };
}

/** Resamples `count` of the points by their weights. */
export function resampled({ points, logWeights }: Paths, key: Key, count: number): Float64Array[] {
  const sums = new Float64Array(points.length);
  let total = 0;
  logWeights.forEach((weight, i) => {
    total += Math.exp(weight);
    sums[i] = total;
  });
  const u = uniform(key, [count], { dtype: "float64" }).data;
  return Array.from(u, (share) => {
    const wanted = share * total;
    let [low, high] = [0, sums.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sums[middle] < wanted) low = middle + 1;
      else high = middle;
    }
    return points[low];
  });
}
