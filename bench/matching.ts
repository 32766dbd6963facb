/**
 * npm run bench -- matching: steps of a deep kernel exponential family by loss and dimension,
 * compared with PyTorch.
 *
 * First a training step (200 points, 200 inducing points) as n grows; then at n = 15 a whole step
 * of the protocol, training and validation (α from 1,000 points, 500 validation points), compared
 * with PyTorch in closed form and with nested autodiff; last the variance-reduced losses against
 * exact score matching. Everything runs on one thread, as in the study. The measured time includes
 * random numbers.
 */
import { fileURLToPath } from "node:url";
import { drawArrays, type ObjectiveName, objectives } from "diffeo/matching";
import { dkefInit } from "diffeo/model";
import { fold, key, normal } from "diffeo/random";
import type { AdamState } from "diffeo/train";
import { flatten } from "diffeo/train";
import { type FitSteps, fitSteps } from "diffeo-tables/density";
import {
  type Comparison,
  compare,
  inTurns,
  milliseconds,
  printComparisons,
  pythonWithTorch,
  TorchPeer,
} from "./timing.ts";

const sizes = { batch: 200, points: 1000, validation: 500, ridgeBatch: 100 } as const;
const rates = { rate: 1e-2, clip: 100, ridgeRate: 1e-3 } as const;

interface Subject {
  train(): Promise<void>;
  step(): Promise<void>;
  dispose(): Promise<void>;
}

function subject(loss: ObjectiveName, n: number): Subject {
  const objective = objectives[loss]();
  const k = key(1);
  const start = dkefInit(fold(k, "parameters"), normal(fold(k, "z"), [200, n]));
  const steps: FitSteps = fitSteps(objective, start, { ...sizes, n }, rates);
  const theta = flatten(start);
  let state: AdamState<Float32Array> = {
    theta,
    m: new Float32Array(theta.length),
    v: new Float32Array(theta.length),
  };
  let count = 0;
  const spec = objective.draws(n);
  const x = normal(fold(k, "x"), [sizes.batch, n]);
  const many = normal(fold(k, "many"), [sizes.points, n]);
  const held = normal(fold(k, "held"), [sizes.validation, n]);
  const draws = (name: string, size: number) =>
    drawArrays(spec, [size], fold(fold(k, name), count));
  const train = async (): Promise<void> => {
    count++;
    const { state: next } = await steps.train(
      state,
      x,
      draws("alpha", 100),
      draws("loss", 100),
      count,
    );
    state = {
      theta: next.theta.data as Float32Array,
      m: next.m.data as Float32Array,
      v: next.v.data as Float32Array,
    };
  };
  return {
    train,
    step: async () => {
      await train();
      await steps.validate(
        state.theta,
        many,
        draws("points", sizes.points),
        held,
        draws("held", sizes.validation),
      );
    },
    dispose: () => steps.dispose(),
  };
}

const names = Object.keys(objectives) as ObjectiveName[];
const DIMENSIONS = [10, 20, 50, 100, 200, 400];

async function measure(
  task: "train" | "step",
  loss: ObjectiveName,
  n: number,
  peers: readonly TorchPeer[],
  rounds: number,
): Promise<Comparison> {
  const one = subject(loss, n);
  const row = await compare(`${task} ${n} ${loss}`, [() => one[task]()], peers, rounds);
  await one.dispose();
  return row;
}

/** The cost of the losses with exact means compared with SSM-VR, all three in turns. */
async function againstSsmVr(task: "train" | "step", n: number): Promise<void> {
  const losses = ["ssm-vr", "gssm-vr", "sm"] as const;
  const all = losses.map((loss) => subject(loss, n));
  const [base, ...others] = await inTurns(
    all.map((one) => () => milliseconds(one[task])),
    n > 100 ? 3 : 5,
  );
  const cells = others.map(
    (ms, i) => `${losses[i + 1]} ${ms.toFixed(1)} (${(ms / base).toFixed(2)}×)`,
  );
  process.stdout.write(
    `${`${task} ${n}`.padEnd(10)} ms in turns: ssm-vr ${base.toFixed(1)}, ${cells.join(", ")}\n`,
  );
  for (const one of all) await one.dispose();
}

export async function run(): Promise<void> {
  const python = pythonWithTorch();
  const script = fileURLToPath(new URL("./matching_peers.py", import.meta.url));
  const [peer, version] = python
    ? await TorchPeer.start(python, script, 1)
    : [undefined, undefined];
  const peers = peer ? [peer] : [];
  const rows: Comparison[] = [];
  for (const n of DIMENSIONS)
    for (const loss of names) rows.push(await measure("train", loss, n, peers, n > 100 ? 1 : 3));
  printComparisons(rows, version);

  const whole: Comparison[] = [];
  for (const loss of names) whole.push(await measure("step", loss, 15, peers, 3));
  printComparisons(whole, version);

  // The same training step; PyTorch takes all derivatives by autograd.
  const nested: Comparison[] = [];
  for (const loss of ["ssm-vr", "gssm-vr", "sm"] as const) {
    const one = subject(loss, 15);
    nested.push(await compare(`nested 15 ${loss}`, [one.train], peers, 1));
    await one.dispose();
  }
  printComparisons(nested, version);
  peer?.stop();

  for (const n of DIMENSIONS) await againstSsmVr("train", n);
  await againstSsmVr("step", 15);
}
