/** Records as runs leave them, with numbers that a test can choose. */
import type { MeasureSummary, Measures } from "../src/measure/measure.ts";
import type { FitTask, RunRecord } from "../src/study/study.ts";

interface Numbers {
  readonly scoreMatching: number;
  readonly median?: number;
  readonly likelihood?: number;
  readonly effective?: number;
  /** Plain importance sampling; none where it is left out. */
  readonly plain?: {
    readonly likelihood: number;
    readonly effective: number;
    readonly samples: number;
  };
}

const summary = (mean: number, median = mean): MeasureSummary => ({
  mean,
  lowerQuartile: median - 1,
  median,
  upperQuartile: median + 1,
});

export function measures({
  scoreMatching,
  median,
  likelihood = -2,
  effective = 1500,
  plain,
}: Numbers): Measures {
  const logDensity = 7;
  return {
    step: 10,
    scoreMatching: summary(scoreMatching, median),
    logDensity: summary(logDensity),
    ...(plain && {
      importance: {
        logZ: logDensity - plain.likelihood,
        effectiveSamples: plain.effective,
        samples: plain.samples,
      },
    }),
    annealed: {
      logZ: logDensity - likelihood,
      effectiveSamples: effective,
      samples: 4096,
      acceptance: 0.7,
    },
  };
}

export const record = (
  { dataset = "two-moons", loss, seed = 0 }: Partial<FitTask> & Pick<FitTask, "loss">,
  chosen: Numbers,
  more: Partial<RunRecord> = {},
): RunRecord => ({
  dataset,
  loss,
  seed,
  n: 2,
  points: { train: 1620, validation: 180, test: 200 },
  steps: 600,
  stopped: 210,
  chosen: measures(chosen),
  chosenByExact: measures(chosen),
  curve: { every: 10, loss: Array(60).fill(-1), exact: Array(60).fill(-2) },
  ...more,
});
