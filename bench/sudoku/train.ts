/**
 * Trains a model of 9×9 Sudokus in a run folder, and continues an existing run:
 *
 *   npx tsx --conditions=diffeo-source bench/sudoku/train.ts --out runs/sudoku --steps 30000
 *
 * The data are grids that a search made (`generate.ts`), moved by the symmetries of Sudoku; no
 * puzzle and no rule is among them. What the network has of the rules is which sites are a row, a
 * column and a box. Ctrl-C, or the end of `--minutes`, stops with a checkpoint. The rate is
 * constant and falls over the last `--fall` steps, so that a run may be made longer or shorter;
 * `--finish-in` minutes chooses the last step by the speed of the first ones, no later than
 * `--steps`. The minutes of earlier sessions count, so that the same command continues an
 * interrupted run to the same total. The run ends with the model's errors by time, to which samplers
 * fit their times.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  errorsByTime,
  freshModel,
  modelOf,
  type TrainDenoiserOptions,
  trainDenoiser,
} from "diffeo/categorical";
import { parameterCount } from "diffeo/model";
import { RunFolder, saveModel } from "diffeo/node";
import { key } from "diffeo/random";
import { memoryStore, type RunStore, stateOf } from "diffeo/train";
import { textOptions } from "../text-options.ts";
import { movedGrids, randomGrids } from "./generate.ts";
import { layoutOf } from "./layout.ts";
import { sudokuSpec } from "./spec.ts";

const { values } = parseArgs({
  options: {
    ...textOptions({
      out: "runs/sudoku",
      steps: "30000",
      batch: "64",
      width: "48",
      inner: "96",
      layers: "12",
      rate: "0.003",
      muon: "6",
      focus: "0.2,0.6,0.85",
      shown: "0.5",
      decay: "0",
      fall: "2000",
      minutes: "1000000",
      pool: "50000",
      seed: "1",
      device: "cpu",
    }),
    "finish-in": { type: "string" },
    threads: { type: "string" },
  },
});
const number = (name: Exclude<keyof typeof values, "out" | "device">): number =>
  Number(values[name]);
const layout = layoutOf([3, 3]);
const [from, to, share] = values.focus.split(",").map(Number);
const engine = {
  device: values.device,
  ...(values.threads && { threads: number("threads") }),
};

const spec = sudokuSpec({
  width: number("width"),
  inner: number("inner"),
  layers: number("layers"),
});
const [steps, batch, seed] = [number("steps"), number("batch"), number("seed")];
const model = freshModel(spec, key(seed));
const config = {
  version: "bench",
  files: {},
  spec,
  ...{ fall: number("fall"), batch, seed, rate: number("rate"), focus: { from, to, share } },
  ...{ shown: number("shown"), decay: number("decay"), pool: number("pool") },
  muon: number("muon"),
};
const resume = existsSync(join(values.out, "config.json"));
const folder = await (resume ? RunFolder.open : RunFolder.create).call(
  RunFolder,
  values.out,
  config,
);
const reached = await folder.latest();
const grids = movedGrids(layout, randomGrids(layout, number("pool"), key("pool")), key("moves"));
const [begun, began] = [process.cpuUsage(), performance.now()];
/** Minutes of this run until now, with those of earlier sessions. */
const minutes = (): number =>
  Number(reached?.metadata.minutes ?? 0) + (performance.now() - began) / 60_000;
/** The folder, whose checkpoints also hold the minutes. */
const store: RunStore = {
  save: (checkpoint) =>
    folder.save({
      ...checkpoint,
      metadata: { ...checkpoint.metadata, minutes: String(minutes()) },
    }),
  reached: () => folder.reached(),
  latest: () => folder.latest(),
  log: (record) => folder.log(record),
};
console.log(
  `${parameterCount(model.parameters)} parameters, from step ${reached?.step ?? 0} of ${steps}`,
);
const stop = new AbortController();
process.once("SIGINT", () => stop.abort());
const options: Omit<TrainDenoiserOptions, "schedule" | "seconds"> = {
  batch,
  key: key(seed),
  focus: { from, to, share },
  shown: number("shown"),
  step: {
    beta2: 0.99,
    emaDecay: 0.999,
    weightDecay: number("decay"),
    muon: number("muon"),
    ...engine,
  },
  reportEvery: 100,
  saveEvery: 1000,
  store,
  metadata: {},
  signal: stop.signal,
  onReport: ({ step, loss, norm, speed, seconds }) => {
    const { user, system } = process.cpuUsage(begun);
    console.log(
      `step ${step}  loss ${loss.toFixed(4)}  norm ${norm.toFixed(2)}  ${speed.toFixed(0)} grids/s  ` +
        `${seconds.toFixed(0)} s, ${((user + system) / 1e6).toFixed(0)} s of processors`,
    );
  },
};
const schedule = { peak: number("rate"), warmup: 300, fall: number("fall") };
const start = reached && {
  state: stateOf(reached, parameterCount(model.parameters), values.out),
  step: reached.step,
};
const finish = values["finish-in"];
/** The last step: `--steps`, or the one that the speed of 60 steps reaches in the time. */
async function lastStep(): Promise<number> {
  if (finish === undefined) return steps;
  let marks: number[] = [];
  await trainDenoiser(model, grids, {
    ...options,
    ...(start && { start }),
    schedule: { ...schedule, steps },
    seconds: Number.POSITIVE_INFINITY,
    reportEvery: 20,
    store: memoryStore(),
    signal: AbortSignal.any([stop.signal, probed.signal]),
    onReport: () => {
      marks = [...marks, performance.now()];
      if (marks.length === 3) probed.abort();
    },
  });
  if (marks.length < 3) return steps;
  const each = (marks[2] - marks[0]) / 40;
  const left = (Number(finish) - minutes()) * 60_000;
  const last = Math.min(steps, (reached?.step ?? 0) + Math.max(1, Math.floor(left / each)));
  console.log(`${each.toFixed(1)} ms per step: to step ${last}`);
  return last;
}
const probed = new AbortController();
const last = await lastStep();
const { state, step } = await trainDenoiser(model, grids, {
  ...options,
  ...(start && { start }),
  schedule: { ...schedule, steps: last },
  seconds: number("minutes") * 60,
});
const trained = modelOf(spec, state.ema.data as Float32Array);
const errors = await errorsByTime(trained, randomGrids(layout, 256, key("errors")), {
  key: key("errors"),
  times: 48,
  ...engine,
});
await saveModel(join(values.out, "model.safetensors"), { ...trained, errors });
console.log(`step ${step} of ${last}: ${join(values.out, "model.safetensors")}`);
