/**
 * The distribution of one coordinate, estimated from N values by kernels that are wider where
 * values are rare (I. Abramson, 1982), with a heavy tail so that no outlier has density 0:
 *
 *   p(z) = (1 − ε) Σᵢ wᵢ k((z − cᵢ)/sᵢ)/sᵢ + ε Cauchy(z)        k logistic, sᵢ = s (g/p̃(cᵢ))^½,   ε = 1/(N + 1)
 *
 * p̃ is the same with one width, g its geometric mean. If there are many values, neighbours share a
 * kernel, except the outermost ones. The width maximises the likelihood of one half of the values
 * given the other, and is at least a quarter of Silverman's: for rounded values the best width
 * would be 0. Logistic kernels have a distribution function in closed form, and so does p.
 */
import { quantiles } from "diffeo/host";
import { key, permutation } from "diffeo/random";

export interface Marginal {
  readonly logDensity: (z: number) => number;
  /** P(Z < z) and P(Z > z), each accurate to its own last digits. */
  readonly tails: (z: number) => readonly [below: number, above: number];
  /** The quantile z of a share. */
  readonly quantile: (share: number) => number;
}

/**
 * Number of kernels for the inner values, and of outermost values on each side with their own
 * kernel.
 */
const KERNELS = 300;
const OUTERMOST = 25;
/** Number of values on which a width is tried. */
const TRIED = 400;
/** Widths to try, in units of Silverman's. */
const WIDTHS = [0.25, 0.35, 0.5, 0.7, 1, 1.4, 2];

interface Kernels {
  readonly centres: Float64Array;
  readonly weights: Float64Array;
  readonly widths: Float64Array;
}

/** k(t) = e^{−|t|}/(1 + e^{−|t|})² */
const kernel = (t: number): number => {
  const e = Math.exp(-Math.abs(t));
  return e / (1 + e) ** 2;
};

/** Σ w k((z − c)/s)/s */
function kernelSum(z: number, { centres, weights, widths }: Kernels): number {
  let total = 0;
  for (let i = 0; i < centres.length; i++)
    total += (weights[i] * kernel((z - centres[i]) / widths[i])) / widths[i];
  return total;
}

/** Σ w K((z − c)/s), K the logistic distribution function; the mass above z if the sign is −1. */
function kernelShare(z: number, { centres, weights, widths }: Kernels, sign: 1 | -1): number {
  let total = 0;
  for (let i = 0; i < centres.length; i++)
    total += weights[i] / (1 + Math.exp((sign * (centres[i] - z)) / widths[i]));
  return total;
}

/** Means of groups of neighbours, and the share of values in each. */
function mergeNeighbours(sorted: Float64Array): Pick<Kernels, "centres" | "weights"> {
  const count = sorted.length;
  const size = Math.max(1, Math.ceil((count - 2 * OUTERMOST) / KERNELS));
  const [centres, weights]: number[][] = [[], []];
  for (let from = 0; from < count; ) {
    const inner = from >= OUTERMOST && from < count - OUTERMOST;
    const to = inner ? Math.min(from + size, count - OUTERMOST) : from + 1;
    let total = 0;
    for (let i = from; i < to; i++) total += sorted[i];
    centres.push(total / (to - from));
    weights.push((to - from) / count);
    from = to;
  }
  return { centres: Float64Array.from(centres), weights: Float64Array.from(weights) };
}

interface Spread {
  readonly centre: number;
  readonly scale: number;
}

/**
 * Location and scale: the smaller of the standard deviation and the one of a normal distribution
 * with the same quartiles.
 */
function spreadOf(values: Float64Array): Spread {
  const [lower, centre, upper] = quantiles(values, [0.25, 0.5, 0.75]);
  const mean = values.reduce((s, v) => s + v / values.length, 0);
  const deviation = Math.sqrt(values.reduce((s, v) => s + (v - mean) ** 2 / values.length, 0));
  const robust = (upper - lower) / 1.349;
  // Equal values up to rounding have no spread, but the distribution needs one.
  const least = Math.max(1e-12 * Math.abs(centre), Number.MIN_VALUE * 2 ** 60);
  return { centre, scale: Math.max(robust > 0 ? Math.min(deviation, robust) : deviation, least) };
}

/** Silverman's width; a logistic distribution of scale 1 has the standard deviation π/√3. */
const silverman = (scale: number, count: number): number =>
  (0.9 * scale * count ** -0.2 * Math.sqrt(3)) / Math.PI;

/**
 * Kernels of sorted values: narrower where values are denser than on average, wider where they are
 * rarer.
 */
function kernelsOf(sorted: Float64Array, width: number): Kernels {
  const { centres, weights } = mergeNeighbours(sorted);
  const same = { centres, weights, widths: new Float64Array(centres.length).fill(width) };
  const pilot = centres.map((c) => Math.log(kernelSum(c, same)));
  const middle = pilot.reduce((s, v, i) => s + weights[i] * v, 0);
  return { centres, weights, widths: pilot.map((v) => Math.exp((middle - v) / 2)) };
}

const scaled = ({ widths, ...own }: Kernels, width: number): Kernels => ({
  ...own,
  widths: widths.map((w) => w * width),
});

/** The factor in WIDTHS that maximises the likelihood of one half of the values given the other. */
function chosenFactor(values: Float64Array, scale: number, tail: (z: number) => number): number {
  const order = permutation(key("halves"), values.length).data;
  const middle = values.length >> 1;
  const half = Float64Array.from(order.subarray(0, middle), (i) => values[i]).sort();
  const others = Float64Array.from(order.subarray(middle, middle + TRIED), (i) => values[i]);
  if (half.length < 2) return 1;
  const width = silverman(scale, half.length);
  const own = kernelsOf(half, width);
  const share = 1 / (half.length + 1);
  const worth = (factor: number): number => {
    const kernels = scaled(own, factor * width);
    return others.reduce(
      (s, z) => s + Math.log((1 - share) * kernelSum(z, kernels) + share * tail(z)),
      0,
    );
  };
  const found = WIDTHS.map((factor) => ({ factor, value: worth(factor) }));
  return found.reduce((best, next) => (next.value > best.value ? next : best)).factor;
}

/** The distribution of a coordinate from at least two values. */
export function kernelMarginal(values: Float64Array): Marginal {
  const { centre, scale } = spreadOf(values);
  const share = 1 / (values.length + 1);
  const tail = (z: number): number => 1 / (Math.PI * scale * (1 + ((z - centre) / scale) ** 2));
  const width = silverman(scale, values.length);
  const kernels = scaled(
    kernelsOf(values.toSorted(), width),
    width * chosenFactor(values, scale, tail),
  );
  const density = (z: number): number => (1 - share) * kernelSum(z, kernels) + share * tail(z);
  const side = (z: number, sign: 1 | -1): number =>
    (1 - share) * kernelShare(z, kernels, sign) + share * tailBelow((sign * (z - centre)) / scale);
  return {
    logDensity: (z) => Math.log(density(z)),
    tails: (z) => [side(z, 1), side(z, -1)],
    quantile: quantileOf((z) => side(z, 1), density, kernels.centres, { centre, scale }),
  };
}

/**
 * P(Cauchy < t) = ½ + atan(t)/π; far below as atan(−1/t)/π, because the sum would lose its digits.
 */
const tailBelow = (t: number): number =>
  t < -1 ? Math.atan(-1 / t) / Math.PI : 0.5 + Math.atan(t) / Math.PI;

type Curve = (z: number) => number;

/**
 * F⁻¹: between the kernels' centres, where F is tabulated, by linear interpolation and two Newton
 * steps; outside by bisection.
 */
function quantileOf(f: Curve, density: Curve, centres: Float64Array, spread: Spread): Curve {
  let table: Float64Array | undefined;
  return (p) => {
    table ??= centres.map(f);
    const last = centres.length - 1;
    if (!(p > table[0] && p < table[last])) return inverted(f, p, spread);
    let [low, high] = [0, last];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (table[middle] <= p) low = middle;
      else high = middle;
    }
    let z =
      centres[low] +
      ((p - table[low]) / (table[high] - table[low])) * (centres[high] - centres[low]);
    for (let i = 0; i < 2; i++)
      z = Math.min(centres[high], Math.max(centres[low], z - (f(z) - p) / density(z)));
    return z;
  };
}

/**
 * The point where an increasing function equals p, by bisection of an interval that grows until it
 * contains the point.
 */
function inverted(f: Curve, p: number, { centre, scale }: Spread): number {
  let reach = scale;
  while (f(centre - reach) > p || f(centre + reach) < p) reach *= 4;
  let [low, high] = [centre - reach, centre + reach];
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (f(middle) < p) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
