/**
 * Samplers on WebGPU beside the processor. A GPU need not make NaN of log(−1), so whether a point
 * left the domain must not hang on it.
 */
import { readFileSync } from "node:fs";
import { flattenEvent } from "../../src/bijector/event.ts";
import { type MapEntry, mapNamed } from "../../src/bijector/index.ts";
import { type NdArray, reshape, sizeOf, type Tensor } from "../../src/graph/index.ts";
import { fromOnnx } from "../../src/outside/index.ts";
import { key } from "../../src/random/index.ts";
import {
  eulerMaruyama,
  type SampleResult,
  type SolverName,
  sample,
} from "../../src/sampler/index.ts";
import { reversePush, vp } from "../../src/sde/index.ts";
import { clusters, exactScore } from "../sampler/tools.ts";

export interface SamplerFinding {
  readonly map: string;
  readonly solver: SolverName;
  readonly exits: readonly [onProcessor: number, onGpu: number];
  /** The largest difference of two samples, in units of the largest number among them. */
  readonly difference: number;
}

/**
 * A network of PyTorch's, [batch, 3], on the device itself: the graphs around it are cut where it
 * is called.
 */
const outside = await fromOnnx(
  readFileSync(new URL("../../../../examples/torch-score.onnx", import.meta.url)),
  {
    predicts: "noise",
    sde: vp(),
  },
);

function runOutside(solver: SolverName, device: string): Promise<SampleResult> {
  const process = reversePush(vp(), mapNamed("additiveLogistic").map, outside);
  return sample(process, { solver, device, steps: 5, count: 50, shape: [3], key: key(1) });
}

function run({ map, event }: MapEntry, solver: SolverName, device: string): Promise<SampleResult> {
  const flat = exactScore(vp(), clusters(sizeOf(event)));
  const score = (x: Tensor, t: Tensor): Tensor =>
    reshape(flat(flattenEvent(x, map.eventRank), t), x.shape);
  const process = reversePush(vp({ eventRank: map.eventRank }), map, score);
  const chosen = solver === "eulerMaruyama" ? eulerMaruyama({ onExit: "hold" }) : solver;
  return sample(process, {
    solver: chosen,
    device,
    steps: 5,
    count: 50,
    shape: event,
    key: key(1),
  });
}

const numbers = ({ data }: NdArray): number[] => Array.from(data as Float32Array);

const pairs = [
  ["additiveLogistic", "domainPreserving"],
  ["additiveLogistic", "heun"],
  ...[
    "expMap",
    "softplusMap",
    "sigmoidMap",
    "tanhMap",
    "additiveLogistic",
    "stickBreaking",
    "ordered",
    "unitBall",
    "logCholesky",
    "eachAdditiveLogistic",
  ].map((map) => [map, "eulerMaruyama"] as const),
] as const;

export async function surveySamplers(): Promise<SamplerFinding[]> {
  const found: SamplerFinding[] = [];
  const compare = async (
    name: string,
    solver: SolverName,
    on: (device: string) => Promise<SampleResult>,
  ): Promise<void> => {
    const [a, b] = [await on("cpu"), await on("webgpu")];
    const [u, v] = [numbers(a.samples), numbers(b.samples)];
    const difference =
      Math.max(...u.map((w, i) => Math.abs(w - v[i]))) / Math.max(...u.map(Math.abs));
    found.push({ map: name, solver, exits: [a.exits, b.exits], difference });
  };
  for (const [name, solver] of pairs)
    await compare(name, solver, (device) => run(mapNamed(name), solver, device));
  for (const solver of ["domainPreserving", "dpmSolver2M"] as const)
    await compare("a file's", solver, (device) => runOutside(solver, device));
  return found;
}
