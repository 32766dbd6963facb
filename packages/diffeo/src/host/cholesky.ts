/** Symmetric positive matrices on the host, row by row: A = LLᵀ, and triangular systems with L. */

/** The lower triangle L of A = LLᵀ, n × n; undefined if A is not numerically positive definite. */
export function cholesky(a: ArrayLike<number>, n: number): Float64Array | undefined {
  const l = new Float64Array(n * n);
  for (let i = 0; i < n; i++)
    for (let j = 0; j <= i; j++) {
      let left = a[i * n + j];
      for (let k = 0; k < j; k++) left -= l[i * n + k] * l[j * n + k];
      if (i === j && !(left > 0 && left < Number.POSITIVE_INFINITY)) return undefined;
      l[i * n + j] = i === j ? Math.sqrt(left) : left / l[j * n + j];
    }
  return l;
}

/** L z */
export function lowerTimes(l: Float64Array, z: Float64Array): Float64Array {
  const n = z.length;
  return z.map((_, i) => {
    let total = 0;
    for (let k = 0; k <= i; k++) total += l[i * n + k] * z[k];
    return total;
  });
}

/** L⁻¹ b */
export function lowerSolve(l: Float64Array, b: Float64Array): Float64Array {
  const n = b.length;
  const x = b.slice();
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < i; k++) x[i] -= l[i * n + k] * x[k];
    x[i] /= l[i * n + i];
  }
  return x;
}

/** L⁻ᵀ b */
export function upperSolve(l: Float64Array, b: Float64Array): Float64Array {
  const n = b.length;
  const x = b.slice();
  for (let i = n - 1; i >= 0; i--) {
    for (let k = i + 1; k < n; k++) x[i] -= l[k * n + i] * x[k];
    x[i] /= l[i * n + i];
  }
  return x;
}
