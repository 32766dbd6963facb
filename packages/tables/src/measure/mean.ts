/** A mean over rows and its standard error. */
export interface Mean {
  readonly mean: number;
  readonly error: number;
}

export function meanOf(values: ArrayLike<number>): Mean {
  const count = values.length;
  const all = Array.from(values);
  const mean = all.reduce((s, v) => s + v, 0) / count;
  const variance = all.reduce((s, v) => s + (v - mean) ** 2, 0) / Math.max(1, count - 1);
  return { mean, error: count > 1 ? Math.sqrt(variance / count) : Number.POSITIVE_INFINITY };
}
