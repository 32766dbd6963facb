/**
 * Checks whether a network predicts what the option `predicts` states. At the horizon T points are
 * mostly noise, x = m x₀ + σ ε, and approximately
 *
 *   s(x, T) = −x/(σ² + m² Var x₀),
 *
 * so the least-squares multiple of −x/σ² is between 0 and 1, and 1 if m is small. For noise read as
 * a score it is about −σ. The check is weak for x0 and v, whose information about s is multiplied
 * by m.
 */
import { evaluate } from "../engine/index.ts";
import type { NdArray, Shape, Tensor } from "../graph/index.ts";
import { key, normal } from "../random/index.ts";
import type { Sde } from "../sde/index.ts";
import { levelsAt, type PredictionOptions, readingOf } from "./prediction.ts";

const ROWS = 8;
/**
 * Multiples outside these bounds do not occur for networks trained for the prediction, even badly.
 */
const [LEAST, MOST] = [0.05, 3];

/** The output of a file for points at one time. */
export type Answer = (points: NdArray, t: number) => Promise<Float64Array>;

/**
 * A warning if the output for noise is not the score of noise; undefined if it is, or if that
 * cannot be checked.
 */
export async function doubtOf(
  answer: Answer,
  event: Shape,
  options: Pick<PredictionOptions, "predicts" | "sigmaData">,
  { transition, horizon }: Sde,
): Promise<string | undefined> {
  if (!transition) return undefined;
  const { call, score } = readingOf(options);
  const t: NdArray = {
    shape: [ROWS],
    dtype: "float64",
    data: new Float64Array(ROWS).fill(horizon),
  };
  const sigma = Number((await evaluate(transition.std, t)).data[0]);
  const half = normal(key("points of noise"), [ROWS / 2, ...event], { dtype: "float64" }).data;
  // Each point with its opposite, so that the mean of the data, which adds to every score, cancels.
  const data = Float64Array.from({ length: 2 * half.length }, (_, i) =>
    i < half.length ? half[i] : -half[i - half.length],
  );
  const x: NdArray = {
    shape: [ROWS, ...event],
    dtype: "float64",
    data: data.map((v) => sigma * v),
  };
  const [point, time] = call
    ? await evaluate(
        (p: Tensor, s: Tensor) => call(p, s, levelsAt(transition, p, s)) as [Tensor, Tensor],
        x,
        t,
      )
    : [x, t];
  const out: NdArray = { ...x, data: await answer(point, Number(time.data[0])) };
  const found = await evaluate(
    (p: Tensor, o: Tensor, s: Tensor) => score(p, o, levelsAt(transition, p, s)),
    x,
    out,
    t,
  );
  const along = data.reduce((sum, v, i) => sum + v * Number(found.data[i]), 0);
  const multiple = (-sigma * along) / data.reduce((sum, v) => sum + v * v, 0);
  if (multiple >= LEAST && multiple <= MOST) return undefined;
  return (
    `suspicious: at t = ${horizon}, where points are noise, its output as ${options.predicts} ` +
    `is ${multiple.toFixed(2)} times the score of noise, and about 1 is expected; check ` +
    "predicts, sde and time"
  );
}
