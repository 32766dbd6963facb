/**
 * A schedule of the learning rate: a linear increase to `peak` over `warmup` steps, then a half
 * cosine down to 0 at `steps`. With `fall` it stays at the peak, and decreases linearly to 0 over
 * the last `fall` steps (S. Hu et al., 2024). Before these it does not depend on `steps`, so a run
 * can be extended.
 */
export interface Schedule {
  readonly peak: number;
  readonly warmup: number;
  readonly steps: number;
  readonly fall?: number;
}

/** The learning rate of a schedule at a step, counted from 1. */
export function rateAt(step: number, { peak, warmup, steps, fall }: Schedule): number {
  if (step <= warmup) return (peak * step) / warmup;
  if (fall !== undefined) return peak * Math.min(1, Math.max(0, steps - step) / fall);
  const progress = Math.min(1, (step - warmup) / Math.max(1, steps - warmup));
  return (peak * (1 + Math.cos(Math.PI * progress))) / 2;
}
