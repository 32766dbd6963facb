/** Mean and spread of numbers. */

/** x̄ = Σ xᵢ / n; NaN for no numbers. */
export function mean(values: ArrayLike<number>): number {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i];
  return total / values.length;
}

/** Σ (xᵢ − x̄)²: over n the variance of the values, over n − 1 its unbiased estimate. */
export function sumOfSquares(values: ArrayLike<number>, centre = mean(values)): number {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += (values[i] - centre) ** 2;
  return total;
}
