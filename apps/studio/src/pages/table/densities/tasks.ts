/**
 * Fits a two-dimensional density by one loss, as `diffeo density fit` does, and reports validation
 * loss, exact score matching, the field, and how much of the gradient is noise of the slices. Each
 * loss runs in a worker of its own.
 */
import { fold, key } from "diffeo/random";
import {
  type DensityFitProgress,
  type DensityModel,
  type FitOptions,
  type Fitted,
  fitDensity,
  generate,
  likelihood,
  measureFitted,
  openGradientNoise,
  type Prepared,
  prepare,
  scoreRows,
  type Table,
} from "diffeo-tables/density";
import { task, turn } from "../../../shell/rpc.ts";
import { type Frame, lattice } from "../../../view/frame.ts";
import {
  ARROWS,
  type Evaluation,
  type Field,
  type RunRequest,
  SHADES,
  type Step,
  type Update,
} from "./shapes.ts";

/** Smaller than in the protocol, so that three fits take about a minute on two cores. */
const SIZES = { inducing: 100, batch: 200, points: 500, patience: 200, ridgeSteps: 200 } as const;
const STEPS = 500;
/** Steps between measurements of the gradient, and samples of slices per measurement. */
const NOISE = { every: 25, draws: 12 } as const;
/** The share of the time that computing fields may take. */
const SHARE = 0.2;

/** A square frame around the data. */
function frameOf({ values }: Table): Frame {
  const range = (axis: number): [number, number] =>
    values.reduce<[number, number]>(
      ([low, high], v, i) => (i % 2 === axis ? [Math.min(low, v), Math.max(high, v)] : [low, high]),
      [Infinity, -Infinity],
    );
  const [x, y] = [range(0), range(1)];
  const size = 1.25 * Math.max(x[1] - x[0], y[1] - y[0]);
  return { low: [(x[0] + x[1] - size) / 2, (y[0] + y[1] - size) / 2], size };
}

const tableOf = (frame: Frame, n: number): Table => ({
  ...{ source: "lattice", columns: ["x", "y"], rows: n * n },
  values: lattice(frame, n),
});

/** log p̃ and ∇ log p̃ over the frame; the picture needs no normaliser. */
async function fieldOf(
  { columns, whitening }: Prepared,
  { loss, seed }: RunRequest,
  fitted: Fitted,
  frame: Frame,
): Promise<Field> {
  const model: DensityModel = { spec: { loss, seed, columns, whitening, logZ: 0 }, fitted };
  const places = tableOf(frame, ARROWS);
  const shades = Float32Array.from((await scoreRows(model, tableOf(frame, SHADES))).logDensity);
  const arrows = Float32Array.from((await scoreRows(model, places)).score);
  return { frame, shades, points: Float32Array.from(places.values), arrows };
}

export const fit = task<RunRequest, Update, Evaluation>(async (request, { report, signal }) => {
  const { set, points, seed, loss } = request;
  const table = generate(set, points, fold(key(seed), set));
  const data = prepare(table, fold(key(seed), "data"));
  const frame = frameOf(table);
  report({ kind: "data", frame, points: Float32Array.from(table.values) });
  const epochs = Math.ceil(STEPS / Math.floor(data.train.shape[0] / SIZES.batch));
  const options: FitOptions = { ...SIZES, loss, seed, signal, epochs };
  const gradients = openGradientNoise(data, options);
  const showField = async (fitted: Fitted): Promise<void> =>
    report({ kind: "field", field: await fieldOf(data, request, fitted, frame) });
  let steps: Step[] = [];
  let [reported, shown, took] = [0, performance.now(), 0];
  const onStep = async ({
    step,
    most,
    validation,
    exact,
    fitted,
  }: DensityFitProgress): Promise<void> => {
    steps = [...steps, { step, loss: validation, exact }];
    if (performance.now() - reported > 100 || step === most) {
      report({ kind: "steps", steps, most });
      [steps, reported] = [[], performance.now()];
      await turn();
    }
    if (step === 1 || step % NOISE.every === 0)
      report({
        kind: "noise",
        noise: { step, ...(await gradients.at(fitted().theta, NOISE.draws)) },
      });
    const began = performance.now();
    if (took > SHARE * (began - shown)) return;
    await showField(fitted());
    [took, shown] = [performance.now() - began, performance.now()];
  };
  try {
    const found = await fitDensity(data, { ...options, onStep });
    if (steps.length > 0) report({ kind: "steps", steps, most: found.steps });
    await showField(found.chosen);
    const measures = await measureFitted(found.chosen, data, {
      key: fold(key(seed), "measure"),
      signal,
    });
    return {
      steps: found.steps,
      scoreMatching: measures.scoreMatching.mean,
      likelihood: likelihood(measures) + data.whitening.logDet,
      failure: found.failure,
    };
  } finally {
    await gradients.dispose();
  }
});
