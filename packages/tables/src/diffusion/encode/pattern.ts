/**
 * What is known of a row, in x. The standard mixes columns, z − mean = x M, so that a part of z is
 * known is that the coordinates of x along some directions are: with A_S the columns of M of the
 * coordinates S of z
 *
 *   P_S = A_S (A_SᵀA_S)⁻¹ A_Sᵀ          x P_S = (z − mean)_S L_S,   L_S = (A_SᵀA_S)⁻¹ A_Sᵀ
 *
 * is the orthogonal projection on them. Noise is isotropic in x, hence independent in orthogonal
 * directions: given z_S exactly, the noised x P_S says nothing more, and what is left to draw lives
 * in the complement. Parts of a row are drawn (T), given (S) or hidden (H), about which nothing is
 * said or asked. With O = S ∪ T the free directions are those of
 *
 *   P = P_O − P_S,    a projection since the directions of S are among those of O.
 */
import type { Product } from "diffeo/domain";
import { cholesky, lowerSolve, upperSolve } from "diffeo/host";
import type { Standard } from "./standard.ts";

/** What a part of a row is. */
export const DRAWN = 0;
export const GIVEN = 1;
export const HIDDEN = 2;

export interface Pattern {
  /** L_S and L_O, n×n by rows of zeros for coordinates that do not belong. */
  readonly given: Float64Array;
  readonly known: Float64Array;
  /** P, n×n. */
  readonly free: Float64Array;
  /** Which coordinates of z are in S, and which in O. */
  readonly isGiven: readonly boolean[];
  readonly isKnown: readonly boolean[];
  /** For the network: of each part whether it is given, then of each whether it is hidden. */
  readonly flags: readonly number[];
}

/** A_SᵀA_S */
function gram({ mean, matrix }: Standard, places: readonly number[]): Float64Array {
  const [n, s] = [mean.length, places.length];
  const g = new Float64Array(s * s);
  for (let a = 0; a < s; a++)
    for (let b = 0; b <= a; b++) {
      let total = 0;
      for (let i = 0; i < n; i++) total += matrix[i * n + places[a]] * matrix[i * n + places[b]];
      g[a * s + b] = g[b * s + a] = total;
    }
  return g;
}

/** The factor of A_SᵀA_S; M has an inverse, so there is one. */
export function factor(standard: Standard, places: readonly number[]): Float64Array {
  const l = cholesky(gram(standard, places), places.length);
  if (!l) throw new Error("internal: a standard whose columns depend on each other");
  return l;
}

/** L_S as n×n, and P_S. */
function subspace(standard: Standard, places: readonly number[]) {
  const { mean, matrix } = standard;
  const n = mean.length;
  const l = factor(standard, places);
  const lift = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    // G w = A_Sᵀ e_i
    const w = upperSolve(
      l,
      lowerSolve(
        l,
        Float64Array.from(places, (j) => matrix[i * n + j]),
      ),
    );
    places.forEach((j, a) => {
      lift[j * n + i] = w[a];
    });
  }
  const projection = new Float64Array(n * n);
  for (let i = 0; i < n; i++)
    for (const j of places) {
      const weight = matrix[i * n + j];
      if (weight !== 0)
        for (let k = 0; k < n; k++) projection[i * n + k] += weight * lift[j * n + k];
    }
  return { lift, projection };
}

/** Numbers that remembered patterns may take. */
const MOST = 2e7;

/** The pattern of the states of parts; those asked for are remembered as long as there is room. */
export function patternsOf(
  domain: Product,
  standard: Standard,
): (states: ArrayLike<number>) => Pattern {
  const n = domain.dimension;
  const partAt = domain.parts.flatMap(({ domain: { dimension } }, k) =>
    Array.from({ length: dimension }, () => k),
  );
  const made = new Map<string, Pattern>();
  return (states) => {
    const name = Array.prototype.join.call(states, "");
    const before = made.get(name);
    if (before) return before;
    const isGiven = partAt.map((k) => states[k] === GIVEN);
    const isKnown = partAt.map((k) => states[k] !== HIDDEN);
    const places = (which: readonly boolean[]): number[] =>
      which.flatMap((on, i) => (on ? [i] : []));
    const [s, o] = [subspace(standard, places(isGiven)), subspace(standard, places(isKnown))];
    const pattern: Pattern = {
      given: s.lift,
      known: o.lift,
      free: o.projection.map((v, i) => v - s.projection[i]),
      isGiven,
      isKnown,
      flags: [GIVEN, HIDDEN].flatMap((state) => Array.from(states, (v) => (v === state ? 1 : 0))),
    };
    if ((made.size + 1) * 3 * n * n > MOST) made.clear();
    made.set(name, pattern);
    return pattern;
  };
}

/** out[to …] += sign · v[from …] A, of the rows of A that are on. */
export function addProduct(
  out: Float64Array | Float32Array,
  to: number,
  v: ArrayLike<number>,
  from: number,
  a: Float64Array,
  n: number,
  { sign = 1, on }: { readonly sign?: number; readonly on?: readonly boolean[] } = {},
): void {
  for (let i = 0; i < n; i++) {
    if (on && !on[i]) continue;
    const weight = sign * v[from + i];
    if (weight !== 0) for (let j = 0; j < n; j++) out[to + j] += weight * a[i * n + j];
  }
}
