/**
 * npm run bench -- tables-speed [--columns N] [--threads N] [--clock wall|cpu]: the network of a
 * table compared with the same one in PyTorch, in turns in one run, by wall-clock time or, on a
 * shared machine, by processor time. `train N` is a step with N rows, from sampling its batch to
 * the averaged weights. `sample N` is one of 50 evaluations for N rows: everything that `sample`
 * does in diffeo, including φ and cells, and the network and the step in PyTorch.
 */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { between, product } from "diffeo/domain";
import { release } from "diffeo/engine";
import type { NdArray, Tensor } from "diffeo/graph";
import { networkOf, type Parameters } from "diffeo/model";
import { fold, key, normal } from "diffeo/random";
import { compileStep, initialState } from "diffeo/train";
import { batchOf, batchShapes, velocityLoss } from "../packages/tables/src/diffusion/fit/loss.ts";
import { openTable } from "../packages/tables/src/diffusion/query/table-model.ts";
import { inTurns, milliseconds, printComparisons, pythonWithTorch, TorchPeer } from "./timing.ts";

const [WIDTH, BLOCKS] = [128, 3];
const ROWS = 512;
const DRAWN = 10_000;
const EVALUATIONS = 50;
const ROUNDS = 3;

/** Milliseconds of processor time that a task took, on all threads. */
async function processorTime(task: () => Promise<unknown>): Promise<number> {
  const start = process.cpuUsage();
  await task();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** Steps of training, one per call. */
function training(n: number, threads: number) {
  const { init, apply } = networkOf({
    kind: "residual",
    channels: n,
    width: WIDTH,
    blocks: BLOCKS,
  });
  const parameters = init(key(1));
  const points = normal(key(2), [50_000, n]);
  const loss = (p: Parameters<Tensor>, ...batch: [Tensor, Tensor, Tensor]): Tensor =>
    velocityLoss((x, lambda) => apply(p, x, lambda), ...batch);
  const step = compileStep(loss, parameters, batchShapes(n), { threads, beta2: 0.99 });
  let [state, count] = [initialState(parameters), 0];
  return {
    parameters,
    dispose: () => step.dispose(),
    run: async (): Promise<void> => {
      count++;
      const { state: next } = await step(state, batchOf(points, fold(key(3), count)), count, 1e-3);
      // As in the training loop.
      for (const old of Object.values(state)) release(old);
      state = next;
    },
  };
}

/** A table of n bounded columns, with untrained weights. */
function sampling(
  n: number,
  parameters: Parameters<NdArray>,
  threads: number,
): () => Promise<unknown> {
  const domain = product(
    Object.fromEntries(Array.from({ length: n }, (_, i) => [`y${i}`, between(0, 1)])),
  );
  const standard = {
    mean: new Array<number>(n).fill(0),
    matrix: Array.from({ length: n * n }, (_, at) => (at % (n + 1) === 0 ? 1 : 0)),
  };
  const network = { kind: "residual", channels: n, width: WIDTH, blocks: BLOCKS } as const;
  const training = { seed: 0, rows: 1, step: 0, validation: 0 };
  const model = openTable({ domain, standard, network, parameters, training }, { threads });
  return () => model.sample({ count: DRAWN, evaluations: EVALUATIONS });
}

export async function run(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      columns: { type: "string", default: "20" },
      threads: { type: "string", default: "2" },
      clock: { type: "string", default: "wall" },
    },
  });
  const timed = values.clock === "cpu" ? processorTime : milliseconds;
  const [n, threads] = [Number(values.columns), Number(values.threads)];
  const ours = training(n, threads);
  const draw = sampling(n, ours.parameters, threads);
  const python = pythonWithTorch();
  const script = fileURLToPath(new URL("./tables_peers.py", import.meta.url));
  const [peer, version] = python
    ? await TorchPeer.start(
        python,
        script,
        threads,
        String(n),
        String(WIDTH),
        String(BLOCKS),
        values.clock,
      )
    : [undefined, undefined];
  const turns = (mine: () => Promise<number>, task: string): Promise<number[]> =>
    inTurns([mine, ...(peer ? [() => peer.run(task)] : [])], ROUNDS);
  const [step, theirStep] = await turns(() => timed(ours.run), `train ${ROWS}`);
  const [drawn, theirDrawn] = await turns(
    async () => (await timed(draw)) / EVALUATIONS,
    `sample ${DRAWN}`,
  );
  peer?.stop();
  await ours.dispose();
  printComparisons(
    [
      { task: `train ${ROWS}`, ours: step, theirs: theirStep },
      { task: `sample ${DRAWN}`, ours: drawn, theirs: theirDrawn },
    ],
    version,
  );
  process.stdout.write(
    `${n} columns, ${threads} threads, ${values.clock} time: ${((1000 * ROWS) / step).toFixed(0)} rows per second in training, ${((1000 * DRAWN) / drawn / EVALUATIONS).toFixed(0)} drawn\n`,
  );
}
