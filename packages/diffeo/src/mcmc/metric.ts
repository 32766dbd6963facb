/** The metric of a chain: M⁻¹ = LLᵀ, momenta p = L⁻ᵀz ~ N(0, M) for z ~ N(0, 1), and their velocities M⁻¹p = Lz. */

/** Lower triangle L of a symmetric positive matrix, L Lᵀ. */
function cholesky(a: Float64Array, n: number): Float64Array {
  const l = new Float64Array(n * n);
  for (let i = 0; i < n; i++)
    for (let j = 0; j <= i; j++) {
      let v = a[i * n + j];
      for (let k = 0; k < j; k++) v -= l[i * n + k] * l[j * n + k];
      l[i * n + j] = i === j ? Math.sqrt(v) : v / l[j * n + j];
    }
  return l;
}

export class Metric {
  readonly inverse: Float64Array;
  readonly #n: number;
  readonly #dense: boolean;
  readonly #root: Float64Array;

  constructor(inverse: Float64Array, n: number, dense: boolean) {
    this.inverse = inverse;
    this.#n = n;
    this.#dense = dense;
    this.#root = dense ? cholesky(inverse, n) : inverse.map(Math.sqrt);
  }

  /** p and M⁻¹p of z: Cov p = L⁻ᵀL⁻¹ = M. */
  momentum(z: Float64Array): { readonly momentum: Float64Array; readonly velocity: Float64Array } {
    const [n, l] = [this.#n, this.#root];
    if (!this.#dense) return { momentum: z.map((v, i) => v / l[i]), velocity: z.map((v, i) => v * l[i]) };
    const momentum = z.slice();
    for (let i = n - 1; i >= 0; i--) {
      for (let k = i + 1; k < n; k++) momentum[i] -= l[k * n + i] * momentum[k];
      momentum[i] /= l[i * n + i];
    }
    const velocity = z.map((_, i) => {
      let v = 0;
      for (let k = 0; k <= i; k++) v += l[i * n + k] * z[k];
      return v;
    });
    return { momentum, velocity };
  }
}

/** M⁻¹ = 1, as a matrix or as its diagonal. */
export const unitMatrix = (n: number, dense: boolean): Float64Array =>
  Float64Array.from({ length: dense ? n * n : n }, (_, i) => (!dense || i % (n + 1) === 0 ? 1 : 0));
