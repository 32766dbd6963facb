/**
 * npm run bench -- chess [--model FILE] [--device webgpu] [--profile]: the shipped chess networks
 * (a transformer and a U-Net), or the network of one file, compared with the same networks and
 * weights in PyTorch. Both sides run in turns in one run. Output, loss and gradient are compared
 * first.
 *
 * On the CPU, with two threads on each side: a step of the reverse process for 16 boards, and a
 * training step. With --device webgpu: a training step at two batch sizes, compared with PyTorch on
 * CUDA in float32, and where the time goes. The measured time includes batches and noise on both
 * sides. --batch LIST, --rounds N and --threads N set the sizes; --profile adds the profile of the
 * runtime.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { compileDenoiserStep, denoiserBatch, type Model } from "diffeo/categorical";
import { compile, release, toHost } from "diffeo/engine";
import type { NdArray, Tensor } from "diffeo/graph";
import { asConstants, parameterCount } from "diffeo/model";
import { loadModel, writeSafetensors } from "diffeo/node";
import { key, normal } from "diffeo/random";
import { initialState, type TrainState } from "diffeo/train";
import { playouts, positionGrids, sampleBoards } from "diffeo-chess";
import { shippedModels } from "diffeo-chess/node";
import { describeProfile, profiled } from "./profile.ts";
import {
  type Comparison,
  compare,
  describeUse,
  median,
  milliseconds,
  printComparisons,
  pythonWithTorch,
  TorchPeer,
} from "./timing.ts";

const BOARDS = 16;
const STEPS = 250;
const SEED = 1;
const print = (line: string): void => void process.stdout.write(`${line}\n`);

interface Settings {
  readonly device: string;
  readonly threads: number;
}

const placed = ({ device, threads }: Settings) => ({
  device,
  ...(device === "cpu" && { threads }),
});

/** Training as in `diffeo chess train`, one step per call. State stays on the device. */
function trainer(model: Model, batch: number, settings: Settings) {
  const grids = positionGrids(playouts(2000, key(SEED)));
  const step = compileDenoiserStep(model, placed(settings));
  let state: TrainState<NdArray> = initialState(model.parameters);
  let count = 0;
  const times = { batch: [] as number[], step: [] as number[] };
  return {
    times,
    run: async (): Promise<void> => {
      const began = performance.now();
      const data = denoiserBatch(model, grids, { size: batch, key: key(SEED), step: ++count });
      const made = performance.now();
      const result = await step(state, data, count, 1e-4);
      // Reading the loss waits for the device.
      await toHost(result.loss);
      for (const old of [result.loss, result.norm, ...Object.values(state)]) release(old);
      state = result.state;
      times.batch.push(made - began);
      times.step.push(performance.now() - made);
    },
    dispose: async () => {
      for (const old of Object.values(state)) release(old);
      await step.dispose();
    },
  };
}

/** Sampling as in `diffeo chess sample`. It pauses after every step until the next call. */
function sampler(model: Model, settings: Settings) {
  const stop = new AbortController();
  let arrived = (): void => undefined;
  let go = (): void => undefined;
  const held = (): Promise<void> =>
    new Promise((resolve) => {
      go = resolve;
      arrived();
    });
  const run = sampleBoards(model, {
    // More steps than are timed, since the caller would wait forever after the last step of a run.
    count: 1000 * BOARDS,
    batch: BOARDS,
    steps: STEPS,
    key: key(SEED),
    ...placed(settings),
    onStep: held,
    signal: stop.signal,
  });
  const next = (): Promise<void> =>
    new Promise((resolve, reject) => {
      arrived = resolve;
      run.catch(reject);
      go();
    });
  return {
    next,
    dispose: async () => {
      stop.abort();
      go();
      await run.catch(() => undefined);
    },
  };
}

/**
 * The largest relative difference between the two sides in the output of the network, the loss of
 * a batch and its gradient.
 */
async function disagreement(model: Model, peer: TorchPeer, settings: Settings): Promise<number> {
  const count = 4;
  const [classes, t, noise] = denoiserBatch(model, positionGrids(playouts(2000, key(SEED))), {
    size: count,
    key: key(SEED),
    step: 1,
  });
  const step = compileDenoiserStep(model, { ...placed(settings), clip: 1e9 });
  const { state, loss: kept } = await step(
    initialState(model.parameters),
    [classes, t, noise],
    1,
    1e-4,
  );
  const loss = await toHost(kept);
  // The first moment after one step is a tenth of the gradient, which was not clipped.
  const m = await toHost(state.m);
  const x = normal(key("x"), [count, 8, 8, 12]);
  const network = compile(
    (image: Tensor, time: Tensor) =>
      model.denoiser.network.apply(asConstants(model.parameters), image, time),
    [[null, 8, 8, 12], [null]],
    placed(settings),
  );
  const out = await network(x, t);
  for (const array of [kept, ...Object.values(state)]) release(array);
  await Promise.all([step.dispose(), network.dispose()]);
  const asFloat: NdArray = {
    ...classes,
    dtype: "float32",
    data: Float32Array.from(classes.data as Int32Array),
  };
  const folder = await mkdtemp(join(tmpdir(), "diffeo-bench-"));
  const path = join(folder, "check.safetensors");
  await writeSafetensors(path, {
    arrays: { x, t, out, classes: asFloat, noise, loss, m },
    metadata: {},
  });
  try {
    return await peer.run(`check ${path}`);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Steps of the reverse process: almost all 250, four in a turn. */
async function compareSampling(
  model: Model,
  peers: readonly TorchPeer[],
  settings: Settings,
  rounds: number,
) {
  const ours = sampler(model, settings);
  const first = await milliseconds(ours.next);
  const row = await compare(`sample ${BOARDS}`, [ours.next], peers, rounds);
  await ours.dispose();
  return { row, first };
}

async function compareTraining(
  model: Model,
  batch: number,
  peers: readonly TorchPeer[],
  settings: Settings,
  rounds: number,
) {
  const ours = trainer(model, batch, settings);
  const first = await milliseconds(ours.run);
  // Two sets of state alternate: the second and third step still allocate memory.
  for (let i = 0; i < 2; i++) await ours.run();
  const row = await compare(`train ${batch}`, [ours.run], peers, rounds);
  const [made, stepped] = [median(ours.times.batch), median(ours.times.step)];
  await ours.dispose();
  return { row, first, made, stepped };
}

async function profileTraining(model: Model, batch: number, settings: Settings): Promise<string[]> {
  const profile = await profiled(async () => {
    const one = trainer(model, batch, settings);
    for (let i = 0; i < 6; i++) await one.run();
    await one.dispose();
  });
  return describeProfile(profile).map((line) => `train ${batch}: ${line}`);
}

async function profileSampling(model: Model, settings: Settings): Promise<string[]> {
  const profile = await profiled(async () => {
    const one = sampler(model, settings);
    for (let i = 0; i < 20; i++) await one.next();
    await one.dispose();
  });
  return describeProfile(profile).map((line) => `sample ${BOARDS}: ${line}`);
}

interface Plan extends Settings {
  readonly batches: readonly number[];
  readonly rounds: number | undefined;
  readonly profile: boolean;
}

/** The model of one file compared with its peer. */
async function benchModel(file: string, plan: Plan): Promise<void> {
  const { device, threads, batches, rounds } = plan;
  const onCpu = device === "cpu";
  const model = await loadModel(file);
  const theirs = onCpu ? "cpu" : "cuda";
  const python = pythonWithTorch(theirs);
  const script = fileURLToPath(new URL("./chess_peers.py", import.meta.url));
  const [peer, version] = python
    ? await TorchPeer.start(python, script, threads, file, theirs)
    : [undefined, undefined];
  const peers = peer ? [peer] : [];
  const where = `device ${device}${onCpu ? `, threads ${threads}` : ""}`;
  print(
    `${model.spec.network.kind ?? "unet"}, ${parameterCount(model.parameters)} parameters, ${where}`,
  );
  if (peer) {
    const apart = await disagreement(model, peer, plan);
    if (!(apart < 1e-3))
      throw new Error(`the two networks differ by ${apart}: they are not the same`);
    print(`output, loss and gradient agree with PyTorch's to ${apart.toExponential(0)}`);
  }

  const rows: Comparison[] = [];
  const notes: string[] = [];
  if (onCpu) {
    const { row, first } = await compareSampling(
      model,
      peers,
      plan,
      rounds ?? Math.floor((STEPS - 1) / 4),
    );
    rows.push(row);
    notes.push(
      `sample ${BOARDS}: ${STEPS} steps at this pace ${((STEPS * row.ours) / 1000).toFixed(1)} s, first step ${(first / 1000).toFixed(1)} s with its session`,
    );
  }
  for (const batch of batches) {
    const { row, first, made, stepped } = await compareTraining(
      model,
      batch,
      peers,
      plan,
      rounds ?? 5,
    );
    rows.push(row);
    notes.push(
      `train ${batch}: making the batch ${made.toFixed(1)} ms, the step ${stepped.toFixed(1)} ms, first step ${(first / 1000).toFixed(1)} s with its session`,
    );
  }
  peer?.stop();
  printComparisons(rows, version);
  for (const note of onCpu ? [...notes, ...rows.map(describeUse)] : notes) print(note);
  if (onCpu && !plan.profile) return;
  print("profiled, in another run:");
  if (onCpu) for (const line of await profileSampling(model, plan)) print(line);
  for (const batch of batches)
    for (const line of await profileTraining(model, batch, plan)) print(line);
}

export async function run(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      device: { type: "string", default: "cpu" },
      model: { type: "string" },
      threads: { type: "string", default: "2" },
      batch: { type: "string" },
      rounds: { type: "string" },
      profile: { type: "boolean", default: false },
    },
  });
  const { device, profile } = values;
  const onCpu = device === "cpu";
  const batches = (values.batch ?? (onCpu ? "32,128" : "512,1024")).split(",").map(Number);
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
  const plan: Plan = { device, threads: Number(values.threads), batches, rounds, profile };
  print(
    `${onCpu ? `sample N: one of ${STEPS} steps of the reverse process for N boards; ` : ""}train N: a step of N boards`,
  );
  const files =
    values.model === undefined ? [shippedModels.transformer, shippedModels.unet] : [values.model];
  for (const file of files) await benchModel(file, plan);
}
