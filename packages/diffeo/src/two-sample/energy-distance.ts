/**
 * A two-sample test by the energy distance, which is 0 exactly for equal distributions,
 *
 *   D(P, Q) = 2E‖X − Y‖ − E‖X − X′‖ − E‖Y − Y′‖ = c_n E_θ[ 2∫(F_θ − G_θ)² ]
 *   c_n = √π Γ((n+1)/2)/Γ(n/2)
 *
 * with F_θ and G_θ the distribution functions of θ·X and θ·Y and θ uniform on the sphere: ‖x‖ = c_n
 * E|θ·x|, and in one dimension the energy distance is Cramér's 2∫(F − G)². All pairs of N samples
 * are included, with N log N operations per direction. The distribution of D under equality is
 * estimated by random permutations of the pooled samples.
 */
import { fail, type NdArray } from "../graph/index.ts";
import { mean, sortedWithOrder, sumOfSquares } from "../host/index.ts";
import { fold, type Key, normal, permutation } from "../random/index.ts";

/** Options of `energyDistance`. */
export interface EnergyOptions {
  /** The key of the random directions and permutations. */
  readonly key: Key;
  /** Number of random directions. Default 20. */
  readonly directions?: number;
  /** Number of random permutations. Default 20; with 0 only the distance is computed. */
  readonly permutations?: number;
}

/** The energy distance of two samples, and its distribution under equality. */
export interface EnergyDistance {
  /** D between the two sets, slightly above 0 even for equal distributions. */
  readonly value: number;
  /** The mean and the standard deviation of D for random permutations of the pooled samples. */
  readonly chance: { readonly mean: number; readonly deviation: number };
  /** (value − mean)/deviation: a few at most if the distributions are equal. */
  readonly excess: number;
}

/**
 * Computes the energy distance of two arrays of samples [count, ...event], whose counts may differ.
 */
export function energyDistance(a: NdArray, b: NdArray, options: EnergyOptions): EnergyDistance {
  const { key, directions = 20, permutations = 20 } = options;
  const n = a.data.length / a.shape[0];
  if (b.data.length / b.shape[0] !== n)
    fail(
      "shape",
      `energyDistance: the events have ${n} and ${b.data.length / b.shape[0]} numbers`,
      "give events of one shape",
    );
  const [countA, countB] = [a.shape[0], b.shape[0]];
  const deals = Array.from({ length: permutations + 1 }, (_, p) =>
    labels(countA, countA + countB, p, key),
  );
  const totals = new Float64Array(deals.length);
  for (let d = 0; d < directions; d++) {
    const { data: theta } = normal(fold(fold(key, "direction"), d), [n], { dtype: "float64" });
    const length = Math.hypot(...theta);
    const unit = theta.map((v) => v / length);
    const { sorted, order } = sortedWithOrder(projections([a, b], unit));
    deals.forEach((label, p) => {
      totals[p] += cramer(sorted, order, label, countA, countB);
    });
  }
  const [value, ...dealt] = Array.from(totals, (t) => (sphereFactor(n) * t) / directions);
  const centre = mean(dealt);
  const deviation = Math.sqrt(sumOfSquares(dealt, centre) / (permutations - 1));
  return { value, chance: { mean: centre, deviation }, excess: (value - centre) / deviation };
}

/** 1 for the samples of the first set: the original sets for deal 0, else random permutations. */
function labels(first: number, total: number, deal: number, key: Key): Uint8Array {
  const out = new Uint8Array(total);
  if (deal === 0) return out.fill(1, 0, first);
  const { data } = permutation(fold(fold(key, "deal"), deal), total);
  for (let i = 0; i < first; i++) out[data[i]] = 1;
  return out;
}

/** θ·x of the samples of all sets, concatenated. */
function projections(sets: readonly NdArray[], theta: Float64Array): Float64Array {
  const n = theta.length;
  const out = new Float64Array(sets.reduce((total, { shape }) => total + shape[0], 0));
  let at = 0;
  for (const { data } of sets)
    for (let i = 0; i < data.length; i += n) {
      let sum = 0;
      for (let k = 0; k < n; k++) sum += theta[k] * Number(data[i + k]);
      out[at++] = sum;
    }
  return out;
}

/** 2∫(F − G)², a sum over the gaps between neighbours. */
function cramer(
  sorted: Float64Array,
  order: Uint32Array,
  label: Uint8Array,
  countA: number,
  countB: number,
): number {
  let [first, total] = [0, 0];
  for (let k = 0; k + 1 < order.length; k++) {
    first += label[order[k]];
    const difference = first / countA - (k + 1 - first) / countB;
    total += difference * difference * (sorted[k + 1] - sorted[k]);
  }
  return 2 * total;
}

/** c_n, by c₁ = 1, c₂ = π/2 and c_{n+2} = c_n (n + 1)/n. */
const sphereFactor = (n: number): number =>
  n === 1 ? 1 : n === 2 ? Math.PI / 2 : (sphereFactor(n - 2) * (n - 1)) / (n - 2);
