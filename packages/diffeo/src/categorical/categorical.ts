/**
 * Categorical grids and sequences as points that diffuse. A site has one of n + 1 classes; the last
 * is the one that the simplex leaves out. A class is softened by ε and taken to logits by the
 * inverse additive logistic map (`sec:chess_diffusion`), which gives n + 1 code points in ℝⁿ:
 *
 *   class k < n:  y = ε everywhere but y_k = 1 − nε      ⇒  logits  c·e_k
 *   class n:      y = ε everywhere, 1 − Σy = 1 − nε      ⇒  logits −c·1        c = log((1 − nε)/ε)
 *
 * Logits of data are far from mean 0 and variance 1 where one class is frequent, so x, the space of
 * training, is standardised, and the map to the simplex is φ = additive logistic ∘ affine on each
 * site:
 *
 *   l = μ + s·x,   y = eˡ/(1 + Σeˡ)
 *
 * μ one number a channel, s one for all, from the shares p of the classes: μ_k = c(p_k − p_n) and,
 * the square of a logit being c² for the channel's own class and for class n and 0 for others, s² =
 * mean_k [c²(p_k + p_n) − μ_k²].
 */
import { additiveLogistic, affine, type Bijector, chain, each } from "../bijector/index.ts";
import { fail, type Shape, sizeOf } from "../graph/index.ts";

/** Numbers that say how classes become points; plain data, to be stored beside a model. */
export interface CategoricalSpec {
  /** The sizes of the grid: [8, 8] for a board, [length] for a sequence. */
  readonly grid: Shape;
  /** How many classes, n + 1. */
  readonly classes: number;
  /** ε, the share that a softened class leaves to each other one. */
  readonly epsilon: number;
  /** μ, one a channel. */
  readonly mean: readonly number[];
  /** s */
  readonly scale: number;
}

export interface Categorical extends CategoricalSpec {
  /** n, the numbers of a site. */
  readonly channels: number;
  /** φ: x ↦ y, from standardised logits to the simplex, on events [...grid, n]. */
  readonly phi: Bijector;
  /** φ of one site, on events [n]. */
  readonly site: Bijector;
  /** The code points in x, (n + 1) × n. */
  readonly points: Float64Array;
  /** x of classes, any number of grids one after the other. */
  encode(classes: Uint8Array): Float32Array;
  /**
   * The most probable class of each site, from x. Equal ones go to the last class, then to the
   * first of them.
   */
  decode(x: ArrayLike<number>): Uint8Array;
  /** The same from y. */
  decodeSimplex(y: ArrayLike<number>): Uint8Array;
  /** The probabilities of all n + 1 classes of each site, from x. */
  mixture(x: ArrayLike<number>): Float32Array;
  /** The same from y. */
  mixtureOfSimplex(y: ArrayLike<number>): Float32Array;
}

export interface StandardiseOptions {
  readonly grid: Shape;
  /** Default 0.01, or for more than 50 classes what leaves half to the one in front. */
  readonly epsilon?: number;
}

/** μ and s for data in which class k has the share p_k of all sites. */
export function standardise(
  shares: ArrayLike<number>,
  options: StandardiseOptions,
): CategoricalSpec {
  const { grid, epsilon = Math.min(0.01, 0.5 / shares.length) } = options;
  const n = shares.length - 1;
  const c = contrast(n, epsilon);
  const p = Array.from(shares);
  const total = p.reduce((sum, share) => sum + share, 0);
  if (!p.every((share) => share >= 0) || !(Math.abs(total - 1) < 1e-6))
    fail(
      "usage",
      `standardise: the shares of classes sum to ${total}`,
      "give shares of at least 0 that sum to 1",
    );
  const mean = p.slice(0, n).map((share) => c * (share - p[n]));
  const variance = mean.reduce((sum, mu, k) => sum + c * c * (p[k] + p[n]) - mu * mu, 0) / n;
  if (!(variance > 0))
    fail(
      "data",
      "standardise: all sites have one class, so logits have no spread",
      "give data with several classes",
    );
  return { grid, classes: n + 1, epsilon, mean, scale: Math.sqrt(variance) };
}

/** As many classes as a byte can tell apart. */
const MOST = 256;

/** c = log((1 − nε)/ε) */
function contrast(n: number, epsilon: number): number {
  if (!(n < MOST))
    fail("usage", `${n + 1} classes`, `use at most ${MOST}: a class is stored as a byte`);
  if (!(n >= 1 && epsilon > 0 && epsilon < 1 / (n + 1)))
    fail(
      "usage",
      `softening ${n + 1} classes by ε = ${epsilon} leaves no class in front`,
      `use two classes or more and 0 < ε < 1/${n + 1}`,
    );
  return Math.log((1 - n * epsilon) / epsilon);
}

/** How many grids of this shape so many numbers are. */
export function gridCount(length: number, shape: Shape): number {
  if (length % sizeOf(shape) !== 0)
    fail("shape", `${length} numbers are not whole grids [${shape.join(", ")}]`, "check the shape");
  return length / sizeOf(shape);
}

/**
 * The largest of n values and of the last class's; `value` reads a channel, `last` says what it
 * competes with.
 */
function decodeSites(
  values: ArrayLike<number>,
  { sites, n }: { readonly sites: number; readonly n: number },
  value: (v: number, j: number) => number,
  last: (sum: number) => number,
): Uint8Array {
  const out = new Uint8Array(sites);
  for (let site = 0; site < sites; site++) {
    let best = 0;
    let most = -Infinity;
    let sum = 0;
    for (let j = 0; j < n; j++) {
      const v = value(values[site * n + j], j);
      sum += v;
      if (v > most) {
        most = v;
        best = j;
      }
    }
    if (Number.isNaN(sum))
      fail(
        "numerical",
        `site ${site} is not a number`,
        "look at the sampler: fewer or smaller steps",
      );
    out[site] = most > last(sum) ? best : n;
  }
  return out;
}

/** The code points in x, class by class. */
function codePoints({ classes, mean, scale }: CategoricalSpec, c: number): Float64Array {
  const n = classes - 1;
  const points = new Float64Array(classes * n);
  for (let k = 0; k < classes; k++)
    for (let j = 0; j < n; j++)
      points[k * n + j] = ((k === n ? -c : k === j ? c : 0) - mean[j]) / scale;
  return points;
}

export function categorical(spec: CategoricalSpec): Categorical {
  const { grid, classes, epsilon, mean, scale } = spec;
  const n = classes - 1;
  const c = contrast(n, epsilon);
  if (mean.length !== n || !mean.every(Number.isFinite) || !(scale > 0 && scale < Infinity))
    fail(
      "usage",
      `categorical: means ${mean.join(", ")} and scale ${scale} for ${n} channels`,
      "make them with standardise",
    );
  const points = codePoints(spec, c);
  const table = Float32Array.from(points);
  const onSite = chain(affine({ scale, shift: mean }), additiveLogistic());

  const sitesOf = ({ length }: ArrayLike<number>): number =>
    gridCount(length, [...grid, n]) * sizeOf(grid);
  const logit = (x: number, j: number): number => mean[j] + scale * x;
  const same = (y: number): number => y;

  return {
    ...spec,
    channels: n,
    phi: each(onSite, grid.length),
    site: onSite,
    points,
    encode: (data) => {
      const out = new Float32Array(gridCount(data.length, grid) * sizeOf(grid) * n);
      for (let i = 0, to = 0; i < data.length; i++) {
        if (data[i] > n)
          fail("data", `site ${i} has class ${data[i]} of ${classes}`, `use classes 0 to ${n}`);
        for (let from = data[i] * n, j = 0; j < n; j++) out[to++] = table[from + j];
      }
      return out;
    },
    // y_k > y_n where l_k > 0: in logits the last class competes with 0, on the simplex with 1 −
    // Σy.
    decode: (x) => decodeSites(x, { sites: sitesOf(x), n }, logit, () => 0),
    decodeSimplex: (y) => decodeSites(y, { sites: sitesOf(y), n }, same, (sum) => 1 - sum),
    mixture: (x) => {
      const out = new Float32Array(sitesOf(x) * classes);
      for (let site = 0; site < out.length / classes; site++) {
        let most = 0;
        for (let j = 0; j < n; j++) most = Math.max(most, logit(x[site * n + j], j));
        let sum = Math.exp(-most);
        for (let j = 0; j < n; j++) sum += Math.exp(logit(x[site * n + j], j) - most);
        for (let j = 0; j < n; j++)
          out[site * classes + j] = Math.exp(logit(x[site * n + j], j) - most) / sum;
        out[site * classes + n] = Math.exp(-most) / sum;
      }
      return out;
    },
    mixtureOfSimplex: (y) => {
      const out = new Float32Array(sitesOf(y) * classes);
      for (let site = 0; site < out.length / classes; site++) {
        let sum = 0;
        for (let j = 0; j < n; j++) sum += out[site * classes + j] = y[site * n + j];
        out[site * classes + n] = 1 - sum;
      }
      return out;
    },
  };
}
