import { mean, sumOfSquares } from "diffeo/host";

/** A mean over rows and its standard error. */
export interface Mean {
  readonly mean: number;
  readonly error: number;
}

export function meanOf(values: ArrayLike<number>): Mean {
  const count = values.length;
  const centre = mean(values);
  const variance = sumOfSquares(values, centre) / Math.max(1, count - 1);
  const error = count > 1 ? Math.sqrt(variance / count) : Number.POSITIVE_INFINITY;
  return { mean: centre, error };
}
