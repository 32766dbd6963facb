/** The learning rate at a step: a linear rise to `peak` over `warmup` steps, then a half cosine down to zero at `steps`. */
export interface Schedule {
  readonly peak: number;
  readonly warmup: number;
  readonly steps: number;
}

/** `step` counts from 1. */
export function rateAt(step: number, { peak, warmup, steps }: Schedule): number {
  if (step <= warmup) return (peak * step) / warmup;
  const progress = Math.min(1, (step - warmup) / Math.max(1, steps - warmup));
  return (peak * (1 + Math.cos(Math.PI * progress))) / 2;
}
