/**
 * npm run bench -- graph [--no-memory]: the tensor language compared with PyTorch, in turns in
 * one run; then memory over 1,000 steps.
 */
import { fileURLToPath } from "node:url";
import { compile } from "diffeo/engine";
import { backward, fill, leavesOf, matmul, mean, square, sub, type Tensor } from "diffeo/graph";
import { type UNet, type UNetOptions, unet, unetInit } from "diffeo/model";
import { fold, key, normal, uniform } from "diffeo/random";
import { type AdamState, adam, flatten, flattenTensors, unflatten } from "diffeo/train";
import * as third from "./third-order.ts";
import {
  type Comparison,
  compare,
  milliseconds,
  printComparisons,
  pythonWithTorch,
  TorchPeer,
} from "./timing.ts";

const THREADS = [1, 2];
const options: UNetOptions = {
  channels: 12,
  width: 32,
  multipliers: [1, 2, 2],
  blocks: 2,
  groups: 8,
};
const BATCH = 128;

function unetStep(threads: number) {
  const parameters = unetInit(key(1), options);
  const theta = flatten(parameters);
  const step = compile(
    (
      state: AdamState<Tensor>,
      x: Tensor,
      t: Tensor,
      noise: Tensor,
      count: Tensor,
      rate: Tensor,
    ) => {
      const p = unflatten(state.theta, parameters) as unknown as UNet<Tensor>;
      const loss = mean(square(sub(unet(p, x, t, options), noise)));
      const leaves = leavesOf(p);
      const gradients = backward([loss], [fill([], 1, "float32")], leaves) as Tensor[];
      return { state: adam(state, flattenTensors(gradients), count, rate), loss };
    },
    [
      { theta: [theta.length], m: [theta.length], v: [theta.length] },
      [null, 8, 8, 12],
      [null],
      [null, 8, 8, 12],
      [],
      [],
    ],
    { threads },
  );
  const k = key(2);
  const x = normal(fold(k, "x"), [BATCH, 8, 8, 12]);
  const noise = normal(fold(k, "noise"), [BATCH, 8, 8, 12]);
  const t = uniform(fold(k, "t"), [BATCH]);
  let state: AdamState<Float32Array> = {
    theta,
    m: new Float32Array(theta.length),
    v: new Float32Array(theta.length),
  };
  let count = 0;
  return {
    size: theta.length,
    dispose: () => step.dispose(),
    run: async () => {
      const result = await step(state, x, t, noise, ++count, 1e-4);
      state = {
        theta: result.state.theta.data as Float32Array,
        m: result.state.m.data as Float32Array,
        v: result.state.v.data as Float32Array,
      };
      return result.loss.data[0] as number;
    },
  };
}

export async function run(): Promise<void> {
  const python = pythonWithTorch();
  const script = fileURLToPath(new URL("./peers.py", import.meta.url));
  const started = python
    ? await Promise.all(THREADS.map((n) => TorchPeer.start(python, script, n)))
    : [];
  const peers = started.map(([peer]) => peer);
  const rows: Comparison[] = [];

  for (const n of [512, 1024]) {
    const a = normal(key(1), [n, n]);
    const square = [n, n];
    const products = THREADS.map((threads) =>
      compile((x: Tensor, y: Tensor) => matmul(x, y), [square, square], { threads }),
    );
    rows.push(
      await compare(
        `matmul ${n}`,
        products.map((f) => () => f(a, a)),
        peers,
        5,
      ),
    );
    for (const f of products) await f.dispose();
  }

  const { parameters, x, v } = third.data("float32");
  const gradients = THREADS.map((threads) =>
    compile(third.lossAndGradient, [parameters, x, v], { threads }),
  );
  rows.push(
    await compare(
      "third-order gradient",
      gradients.map((f) => () => f(parameters, x, v)),
      peers,
      5,
    ),
  );
  for (const f of gradients) await f.dispose();

  const step = unetStep(2);
  const compileTime = await milliseconds(step.run);
  rows.push(await compare("U-Net training step, 2 threads", [step.run], peers.slice(1), 5));
  printComparisons(rows, started[0]?.[1]);
  for (const peer of peers) peer.stop();
  process.stdout.write(
    `U-Net: ${step.size} parameters; tracing, session and first step ${compileTime.toFixed(0)} ms\n`,
  );

  if (!process.argv.includes("--no-memory")) {
    const memory = (): number => process.memoryUsage().rss / 2 ** 20;
    for (let i = 0; i < 100; i++) await step.run();
    const before = memory();
    for (let i = 0; i < 1000; i++) await step.run();
    process.stdout.write(
      `memory after 100 steps ${before.toFixed(0)} MiB, after 1,100 ${memory().toFixed(0)} MiB\n`,
    );
  }
  await step.dispose();
}
