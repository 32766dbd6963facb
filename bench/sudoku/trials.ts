/**
 * Short paired trials of training on 9×9 Sudokus, by processor time:
 *
 *   npx tsx --conditions=diffeo-source bench/sudoku/trials.ts --seconds 60 \
 *     --trial width=24,layers=24 --trial width=24,layers=24,batch=8
 *
 * Every trial has the same seed and the same processor seconds, and is measured on the same noised
 * grids. The rate rises over the first twentieth of the time, stays, and falls to zero over the last
 * half. `grow` is the share of the time after which as many layers again are inserted; until then
 * the network has half of its layers.
 *
 * Two measures, both cross-entropies per site of the averaged weights on 256 grids of another key:
 * `mixed`, with times and shown sites as in training, and `alone`, without shown sites, at times in
 * which the digits of a sample are decided.
 */
import { parseArgs } from "node:util";
import {
  compileDenoiserStep,
  denoiserBatch,
  denoiserLoss,
  type Focus,
  freshModel,
  type Grids,
  gridsOf,
  type Model,
  modelOf,
} from "diffeo/categorical";
import { compile } from "diffeo/engine";
import type { NdArray, Tensor } from "diffeo/graph";
import { asConstants, type Parameters, parameterCount } from "diffeo/model";
import { loadModel } from "diffeo/node";
import { fold, key } from "diffeo/random";
import { initialState, type TrainState } from "diffeo/train";
import { textOptions } from "../text-options.ts";
import { movedGrids, randomGrids } from "./generate.ts";
import { deepened } from "./grow.ts";
import { layoutOf } from "./layout.ts";
import { sudokuSpec } from "./spec.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    ...textOptions({ seconds: "60", threads: "1", seed: "1", pool: "20000" }),
    trial: { type: "string", multiple: true, default: [] },
  },
});
const DEFAULTS = {
  ...{ width: 24, layers: 24, batch: 16, rate: 0.003, muon: 6, shown: 0.5, ema: 0.98 },
  ...{ from: 0.2, to: 0.6, share: 0.85, grow: 0, fall: 0.5, beta2: 0.99 },
};
type Trial = typeof DEFAULTS;
const threads = Number(values.threads);
const layout = layoutOf([3, 3]);
const processor = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

const TEST = 256;
const held = randomGrids(layout, TEST, key("test grids"));

/** Cross-entropy per site of a model on noised grids that are the same for all. */
async function crossEntropy(model: Model, focus: Focus, shown: number): Promise<number> {
  const parameters = asConstants<Parameters<Tensor>>(model.parameters);
  const { grid, channels } = model.encoding;
  const loss = compile(
    (k: Tensor, t: Tensor, noise: Tensor, known: Tensor) =>
      denoiserLoss(model.denoiser, parameters, k, t, noise, {}, known),
    [
      { shape: [null, ...grid], dtype: "int32" },
      [null],
      [null, ...grid, channels],
      { shape: [null, ...grid], dtype: "bool" },
    ],
    { threads },
  );
  const own = gridsOf(model.encoding, held);
  let total = 0;
  const size = 32;
  for (let at = 0; at < TEST; at += size) {
    // Each of the grids once.
    const part: Grids = { count: size, select: () => own.select(range(at, at + size)) };
    const batch = denoiserBatch(model, part, {
      size,
      key: key("test"),
      step: at + 1,
      focus,
      shown,
    });
    const [classes, t, noise, known] = batch;
    total += Number((await loss(classes, t, noise, known)).data[0]) * (size / TEST);
  }
  await loss.dispose();
  return total;
}

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, i) => from + i);

async function measured(model: Model): Promise<string> {
  const mixed = await crossEntropy(model, { from: 0.2, to: 0.6, share: 0.85 }, 0.5);
  const alone = await crossEntropy(model, { from: 0.3, to: 0.5, share: 1 }, 0);
  return `mixed ${mixed.toFixed(4)}  alone ${alone.toFixed(4)}`;
}

const parsed = (text: string): Trial => {
  const given = text.split(",").map((part) => part.split("="));
  const odd = given.find(([name]) => !Object.hasOwn(DEFAULTS, name));
  if (odd) throw new Error(`there is no setting "${odd[0]}"`);
  return { ...DEFAULTS, ...Object.fromEntries(given.map(([name, v]) => [name, Number(v)])) };
};

/** Trains for so many processor seconds. */
async function run(trial: Trial, grids: Grids, seconds: number) {
  const { width, batch, rate, muon, shown, ema, from, to, share, grow, fall, beta2 } = trial;
  const layersAt = (progress: number): number =>
    progress < grow ? trial.layers / 2 : trial.layers;
  const own = key(Number(values.seed));
  let layers = layersAt(0);
  let model = freshModel(sudokuSpec({ width, layers }), own);
  const open = (m: Model) => compileDenoiserStep(m, { beta2, emaDecay: ema, muon, threads });
  let step = open(model);
  let state: TrainState<NdArray> = initialState(model.parameters);
  let [count, used, losses] = [0, 0, [] as number[]];
  while (used < seconds) {
    const progress = used / seconds;
    if (layersAt(progress) !== layers) {
      layers = layersAt(progress);
      const spec = sudokuSpec({ width, layers });
      state = deepened(model, spec, state);
      model = freshModel(spec, own);
      await step.dispose();
      step = open(model);
    }
    const now = rate * Math.min(1, (progress + 0.002) / 0.05, (1 - progress) / fall);
    const began = processor();
    const s = ++count;
    const data = denoiserBatch(model, grids, {
      ...{ size: batch, key: own, step: s, focus: { from, to, share }, shown },
    });
    const result = await step(state, data, s, now);
    state = result.state;
    losses = [...losses.slice(-49), Number(result.loss.data[0])];
    // The first step of a network contains its compilation, which a long run pays once.
    if (s > 1) used += processor() - began;
  }
  await step.dispose();
  const trained = modelOf(model.spec, state.ema.data as Float32Array);
  const last = losses.reduce((a, b) => a + b, 0) / losses.length;
  return { trained, steps: count, last };
}

for (const path of positionals) console.log(`${path}: ${await measured(await loadModel(path))}`);
const pool = randomGrids(layout, Number(values.pool), key("pool"));
for (const text of values.trial) {
  const trial = parsed(text);
  const grids = movedGrids(layout, pool, fold(key("moves"), Number(values.seed)));
  const { trained, steps, last } = await run(trial, grids, Number(values.seconds));
  console.log(
    `${text}: ${steps} steps, ${steps * trial.batch} grids, ` +
      `${parameterCount(trained.parameters)} parameters, training ${last.toFixed(4)}  ` +
      `${await measured(trained)}`,
  );
}
