/**
 * Encodings of categorical grids and sequences as points for diffusion. A site has one of n + 1
 * classes; the simplex omits the last one. A class is softened by ε and mapped to logits by the
 * inverse additive logistic map (`sec:chess_diffusion`), which gives n + 1 code points in ℝⁿ:
 *
 *   class k < n:  y = ε everywhere but y_k = 1 − nε      ⇒  logits  c·e_k
 *   class n:      y = ε everywhere, 1 − Σy = 1 − nε      ⇒  logits −c·1        c = log((1 − nε)/ε)
 *
 * If one class is frequent, logits of data are far from mean 0 and variance 1. So x, the space of
 * training, is standardised, and the map to the simplex is φ = additive logistic ∘ affine on each
 * site:
 *
 *   l = μ + s·x,   y = eˡ/(1 + Σeˡ)
 *
 * or another map of `coordinates.ts`, with l, μ and s of that map.
 *
 * μ has one number per channel, s is one number, from the shares p of the classes: μ_k = c(p_k −
 * p_n). The square of a logit is c² for the channel's own class and for class n, and 0 for others,
 * so s² = mean_k [c²(p_k + p_n) − μ_k²].
 */
import { affine, type Bijector, chain, each } from "../bijector/index.ts";
import { fail, type Shape, sizeOf } from "../graph/index.ts";
import { type ClassArray, classArray, requireClasses } from "./class-array.ts";
import { type SimplexMap, simplexMapOf } from "./coordinates.ts";

/** An encoding of classes as points, as plain data that is stored with a model. */
export interface CategoricalSpec {
  /** The sizes of the grid: [8, 8] for a board, [length] for a sequence. */
  readonly grid: Shape;
  /** The number of classes, n + 1. */
  readonly classes: number;
  /** ε, the share of each other class in a softened class. */
  readonly epsilon: number;
  /** μ, one number per channel. */
  readonly mean: readonly number[];
  /** s */
  readonly scale: number;
  /** The map from l to the simplex. Default additiveLogistic. */
  readonly map?: SimplexMap;
  /** Names of the classes, in their order. Default 0, 1, 2, …. */
  readonly symbols?: readonly string[];
}

/** An encoding of grids of classes as points on one simplex per site. */
export interface Categorical extends CategoricalSpec {
  /** n, the number of coordinates of a site. */
  readonly channels: number;
  /** φ: x ↦ y, from standardised logits to the simplex, on events [...grid, n]. */
  readonly phi: Bijector;
  /** φ of one site, on events [n]. */
  readonly site: Bijector;
  /** The code points in x, (n + 1) × n. */
  readonly points: Float64Array;
  /** x of the classes of any number of grids, concatenated. */
  encode(classes: ClassArray): Float32Array;
  /**
   * The most probable class of each site, from x: bytes for up to 256 classes, else numbers of two
   * bytes. Ties are resolved to the last class, n, if it is among them, else to the first.
   */
  decode(x: ArrayLike<number>): ClassArray;
  /** The same from y. */
  decodeSimplex(y: ArrayLike<number>): ClassArray;
  /** The probabilities of all n + 1 classes of each site, from x. */
  mixture(x: ArrayLike<number>): Float32Array;
  /** The same from y. */
  mixtureOfSimplex(y: ArrayLike<number>): Float32Array;
}

/** Options of `standardise`. */
export interface StandardiseOptions {
  readonly grid: Shape;
  /**
   * Default 0.01; for more than 50 classes 0.5/classes, so that the class itself has a share of
   * about ½.
   */
  readonly epsilon?: number;
  /** The map from l to the simplex. Default additiveLogistic. */
  readonly map?: SimplexMap;
}

/**
 * Computes the specification of an encoding, with μ and s for data in which class k has the share
 * p_k of all sites.
 */
export function standardise(
  shares: ArrayLike<number>,
  options: StandardiseOptions,
): CategoricalSpec {
  const { grid, epsilon = Math.min(0.01, 0.5 / shares.length), map } = options;
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
  const { mean, variance } = map ? momentsOf(codesOf(map, n, c), p) : logitMoments(p, c);
  if (!(variance > 0))
    fail(
      "data",
      "standardise: all sites have one class, so logits have no spread",
      "give data with several classes",
    );
  return {
    grid,
    classes: n + 1,
    epsilon,
    mean,
    scale: Math.sqrt(variance),
    map,
  };
}

interface Moments {
  readonly mean: number[];
  /** The average over channels. */
  readonly variance: number;
}

/** The closed form of the additive logistic map, above. */
function logitMoments(p: readonly number[], c: number): Moments {
  const n = p.length - 1;
  const mean = p.slice(0, n).map((share) => c * (share - p[n]));
  return {
    mean,
    variance: mean.reduce((sum, mu, k) => sum + c * c * (p[k] + p[n]) - mu * mu, 0) / n,
  };
}

function momentsOf(codes: readonly (readonly number[])[], p: readonly number[]): Moments {
  const total = (f: (code: readonly number[]) => number): number =>
    codes.reduce((sum, code, k) => sum + p[k] * f(code), 0);
  const mean = codes[0].map((_, j) => total((code) => code[j]));
  const square = mean.reduce((sum, mu, j) => sum + total((code) => (code[j] - mu) ** 2), 0);
  return { mean, variance: square / mean.length };
}

/** l of every class's code: log-ratios c·e_k to the last class, and −c·1 of the last. */
function codesOf(map: SimplexMap, n: number, c: number): number[][] {
  const { inverse } = simplexMapOf(map).coordinates(n);
  return Array.from({ length: n + 1 }, (_, k) =>
    inverse(Array.from({ length: n }, (_, j) => (k === n ? -c : k === j ? c : 0))),
  );
}

/** c = log((1 − nε)/ε) */
function contrast(n: number, epsilon: number): number {
  requireClasses(n + 1);
  if (!(epsilon > 0 && epsilon < 1 / (n + 1)))
    fail(
      "usage",
      `\`epsilon\` is ${epsilon} for ${n + 1} classes, so the softened class does not have ` +
        "the largest share",
      `use 0 < ε < 1/${n + 1}`,
    );
  return Math.log((1 - n * epsilon) / epsilon);
}

/** The number of grids of a shape in an array of `length` numbers. */
export function gridCount(length: number, shape: Shape): number {
  if (length % sizeOf(shape) !== 0)
    fail(
      "shape",
      `${length} numbers are not complete grids [${shape.join(", ")}]`,
      "check the shape",
    );
  return length / sizeOf(shape);
}

/** The class of the greatest of n values and that of the last class, which `last` computes. */
function decodeSites(
  values: ArrayLike<number>,
  { sites, n }: { readonly sites: number; readonly n: number },
  last: (sum: number) => number,
): ClassArray {
  const out = classArray(sites, n);
  for (let site = 0; site < sites; site++) {
    let best = 0;
    let most = -Infinity;
    let sum = 0;
    for (let j = 0; j < n; j++) {
      const v = values[site * n + j];
      sum += v;
      if (v > most) {
        most = v;
        best = j;
      }
    }
    if (Number.isNaN(sum))
      fail(
        "numerical",
        `site ${site} is NaN`,
        "change the sampler, such as the number of its steps",
      );
    out[site] = most > last(sum) ? best : n;
  }
  return out;
}

/** The code points in x, class by class. */
const codePoints = (map: SimplexMap, { mean, scale }: CategoricalSpec, c: number): Float64Array =>
  Float64Array.from(
    codesOf(map, mean.length, c).flatMap((code) => code.map((l, j) => (l - mean[j]) / scale)),
  );

/** Shares of all classes, [sites, classes], by n log-ratios per site to the last class. */
function mixtureOfRatios(r: Float64Array, n: number): Float32Array {
  const classes = n + 1;
  const out = new Float32Array((r.length / n) * classes);
  for (let site = 0; site < out.length / classes; site++) {
    let most = 0;
    for (let j = 0; j < n; j++) most = Math.max(most, r[site * n + j]);
    let sum = Math.exp(-most);
    for (let j = 0; j < n; j++) sum += Math.exp(r[site * n + j] - most);
    for (let j = 0; j < n; j++) out[site * classes + j] = Math.exp(r[site * n + j] - most) / sum;
    out[site * classes + n] = Math.exp(-most) / sum;
  }
  return out;
}

/** Shares of all classes, [sites, classes], by n shares per site. */
function mixtureOfShares(y: ArrayLike<number>, n: number): Float32Array {
  const classes = n + 1;
  const out = new Float32Array((y.length / n) * classes);
  for (let site = 0; site < out.length / classes; site++) {
    let sum = 0;
    for (let j = 0; j < n; j++) sum += out[site * classes + j] = y[site * n + j];
    out[site * classes + n] = 1 - sum;
  }
  return out;
}

/** Throws if a specification has invalid numbers or names. */
function checkSpec({ classes, mean, scale, symbols }: CategoricalSpec): void {
  const n = classes - 1;
  if (mean.length !== n || !mean.every(Number.isFinite) || !(scale > 0 && scale < Infinity))
    fail(
      "usage",
      `categorical: means ${mean.join(", ")} and scale ${scale} for ${n} channels`,
      "make them with standardise",
    );
  if (symbols && (symbols.length !== classes || new Set(symbols).size !== classes))
    fail("usage", `${symbols.length} names of ${classes} classes`, "give each class its own name");
}

/** Makes the encoding of a specification. */
export function categorical(spec: CategoricalSpec): Categorical {
  const { grid, classes, epsilon, mean, scale, map = "additiveLogistic" } = spec;
  const n = classes - 1;
  const c = contrast(n, epsilon);
  checkSpec(spec);
  const points = codePoints(map, spec, c);
  const table = Float32Array.from(points);
  const { bijector, coordinates } = simplexMapOf(map);
  const onSite = chain(affine({ scale, shift: mean }), bijector());
  const { forward } = coordinates(n);
  const sitesOf = ({ length }: ArrayLike<number>): number =>
    gridCount(length, [...grid, n]) * sizeOf(grid);
  /** r of every site, log-ratios to the last class. */
  const ratios = (x: ArrayLike<number>): Float64Array => {
    const out = Float64Array.from(x, (value, i) => mean[i % n] + scale * value);
    if (map === "additiveLogistic") return out;
    for (let at = 0; at < out.length; at += n) out.set(forward([...out.subarray(at, at + n)]), at);
    return out;
  };
  const encode = (data: ClassArray): Float32Array => {
    const out = new Float32Array(gridCount(data.length, grid) * sizeOf(grid) * n);
    for (let i = 0, to = 0; i < data.length; i++) {
      if (data[i] > n)
        fail("data", `site ${i} has class ${data[i]} of ${classes}`, `use classes 0 to ${n}`);
      for (let from = data[i] * n, j = 0; j < n; j++) out[to++] = table[from + j];
    }
    return out;
  };
  return {
    ...spec,
    channels: n,
    phi: each(onSite, grid.length),
    site: onSite,
    points,
    encode,
    // y_k > y_n where r_k > 0: in log-ratios the last class is compared by 0, on the simplex by 1 −
    // Σy.
    decode: (x) => decodeSites(ratios(x), { sites: sitesOf(x), n }, () => 0),
    decodeSimplex: (y) => decodeSites(y, { sites: sitesOf(y), n }, (sum) => 1 - sum),
    mixture: (x) => {
      sitesOf(x); // throws unless they are complete grids
      return mixtureOfRatios(ratios(x), n);
    },
    mixtureOfSimplex: (y) => {
      sitesOf(y); // as above
      return mixtureOfShares(y, n);
    },
  };
}
