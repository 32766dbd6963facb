/**
 * Whether a network predicts what it was said to predict. At the horizon T points are little but
 * noise, x = m x₀ + σ ε, and about
 *
 *   s(x, T) = −x/(σ² + m² Var x₀),
 *
 * so its least-squares multiple of −x/σ² is between 0 and 1, and 1 where m is small. Noise that is
 * read as a score has about −σ of it. Of x0 and v little is seen: what they say of s is multiplied
 * by m.
 */
import { evaluate } from "../engine/index.ts";
import type { NdArray, Shape, Tensor } from "../graph/index.ts";
import { key, normal } from "../random/index.ts";
import type { Sde } from "../sde/index.ts";
import { formulas, type Prediction } from "./prediction.ts";

const ROWS = 8;
/** Multiples that no network has which was trained for it, however badly. */
const [LEAST, MOST] = [0.05, 3];

/** What a file answers to points at one time. */
export type Answer = (points: NdArray, t: number) => Promise<Float64Array>;

/**
 * A sentence, where what it says of noise is not the score of noise; nothing where it is, or where
 * that cannot be known.
 */
export async function doubtOf(
  answer: Answer,
  event: Shape,
  predicts: Prediction,
  { transition, horizon }: Sde,
): Promise<string | undefined> {
  if (!transition) return undefined;
  const { meanFactor, std } = transition;
  const t: NdArray = { shape: [], dtype: "float64", data: Float64Array.of(horizon) };
  const levels = await evaluate((time: Tensor) => [meanFactor(time), std(time)], t);
  const sigma = Number(levels[1].data[0]);
  const half = normal(key("points of noise"), [ROWS / 2, ...event], { dtype: "float64" }).data;
  // Each with its opposite: what a mean of the data adds to every score then cancels.
  const data = Float64Array.from({ length: 2 * half.length }, (_, i) =>
    i < half.length ? half[i] : -half[i - half.length],
  );
  const x: NdArray = {
    shape: [ROWS, ...event],
    dtype: "float64",
    data: data.map((v) => sigma * v),
  };
  const out: NdArray = { ...x, data: await answer(x, horizon) };
  const score = await evaluate(formulas[predicts], x, out, levels[0], levels[1]);
  const along = data.reduce((sum, v, i) => sum + v * Number(score.data[i]), 0);
  const multiple = (-sigma * along) / data.reduce((sum, v) => sum + v * v, 0);
  if (multiple >= LEAST && multiple <= MOST) return undefined;
  return `doubtful: at t = ${horizon}, where points are noise, what it gives as ${predicts} is ${multiple.toFixed(2)} times the score of noise, and about 1 is expected; check predicts, sde and time`;
}
