/**
 * The learning rate at a step: a linear rise to `peak` over `warmup` steps, then a half cosine down
 * to zero at `steps`. With `fall` it stays at the peak and goes down to zero in a line over the
 * last `fall` steps (S. Hu et al., 2024): before those it does not depend on `steps`, so that a run
 * may be made longer while it goes on.
 */
export interface Schedule {
  readonly peak: number;
  readonly warmup: number;
  readonly steps: number;
  readonly fall?: number;
}

/** `step` counts from 1. */
export function rateAt(step: number, { peak, warmup, steps, fall }: Schedule): number {
  if (step <= warmup) return (peak * step) / warmup;
  if (fall !== undefined) return peak * Math.min(1, Math.max(0, steps - step) / fall);
  const progress = Math.min(1, (step - warmup) / Math.max(1, steps - warmup));
  return (peak * (1 + Math.cos(Math.PI * progress))) / 2;
}
