/**
 * Gradients and effective draws per second of four posteriors, four chains in float64 on one
 * thread, with both engines, and with Stan, JAX and PyTorch if they are installed:
 *
 *   diffeo          transitions inside the compiler's module, and step by step on ONNX Runtime
 *   Stan            rstan: the same models in Stan's language
 *   JAX, PyTorch    the same log-density and leapfrog steps; JAX also with 5,000 steps in one loop
 *
 * Seconds are processor seconds. Effective draws are counted without the warm-up, as in Stan, and
 * those of diffeo are the median of three runs; the first run has a separate row.
 *
 *   npm run bench -- posteriors stan                      compiles and stores Stan's models, which takes minutes
 *   taskset -c 0 npm run bench -- posteriors speed --again    everything on one core, without earlier records
 *   … speed --few eight_schools                           a trial with few draws, which is not recorded
 *
 * JAX and PyTorch are first searched for in $PYTHON.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { positive, real } from "diffeo/domain";
import { addAll, div, expandDims, log, mul, square, squaredNorm, sub } from "diffeo/graph";
import { bulkEss, type Chain, type PosteriorModel } from "diffeo/mcmc";
import { key, normal } from "diffeo/random";
import type { ChainOptions } from "../../packages/diffeo/src/mcmc/chain-settings.ts";
import { openChains } from "../../packages/diffeo/src/mcmc/chains.ts";
import { freeLogDensity } from "../../packages/diffeo/src/mcmc/free-log-density.ts";
import { parameterSpace } from "../../packages/diffeo/src/mcmc/parameters.ts";
import { models } from "../../packages/diffeo/test/mcmc/posteriors.ts";
import { inTurns, median, pythonWith, TorchPeer } from "../timing.ts";
import { folder, referenceOf } from "./agree.ts";
import { markdown, processorSeconds, recorded } from "./records.ts";

const CHAINS = 4;

interface Task {
  readonly model: () => PosteriorModel;
  readonly warmup: number;
  readonly draws: number;
  /** The data for Stan, if they are not a file of the folder. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/**
 * A straight line on 62 years that are not centred: the correlation of intercept and slope is
 * −1.000.
 */
function straightLine() {
  const x = Array.from({ length: 62 }, (_, i) => 1952 + i);
  const noise = normal(key("line"), [62], { dtype: "float64" }).data;
  const y = x.map((year, i) => 8.5 + 0.02 * (year - 1980) + 0.8 * noise[i]);
  const model: PosteriorModel = {
    parameters: { alpha: real(), beta: real(), sigma: positive() },
    logDensity: ({ alpha, beta, sigma }) => {
      const line = sub(sub(y, expandDims(alpha, -1)), mul(expandDims(beta, -1), x));
      return addAll([
        mul(square(mul(alpha, 1e-3)), -0.5),
        mul(square(mul(beta, 0.1)), -0.5),
        mul(square(mul(sigma, 0.1)), -0.5),
        mul(squaredNorm(div(line, expandDims(sigma, -1))), -0.5),
        mul(log(sigma), -62),
      ]);
    },
  };
  return { model: () => model, warmup: 1000, draws: 2500, data: { N: 62, x, y } };
}

const published = (name: string, warmup: number, draws: number): Task => ({
  model: () => models[name](referenceOf(name).data),
  warmup,
  draws,
});

const tasks: Readonly<Record<string, Task>> = {
  eight_schools: published("eight_schools", 1000, 2000),
  arK: published("arK", 1000, 2000),
  low_dim_gauss_mix: published("low_dim_gauss_mix", 500, 500),
  straight_line: straightLine(),
};

/** The measurement of a sampler. */
interface Sampled {
  /** Seconds including the warm-up. */
  readonly whole?: number;
  /** Seconds from the model to the first draw, and of the draws after the warm-up. */
  readonly first: number;
  readonly sampling: number;
  /** The least bulk ESS of a coordinate. */
  readonly ess: number;
  readonly steps: number;
}

/** Runs chains in sequence, for the seconds of their draws only. */
async function sampled(
  { model, warmup, draws }: Task,
  device: string,
  more: ChainOptions = {},
): Promise<Sampled> {
  const began = processorSeconds();
  const { parameters, logDensity } = model();
  const space = parameterSpace(parameters as Parameters<typeof parameterSpace>[0]);
  const n = space.dimension;
  const target = {
    size: n,
    logDensity: freeLogDensity(space, (values) => logDensity(values, {}), {}),
  };
  // Step by step, four chains share a run of the graph.
  const together = device === "onnxruntime" ? CHAINS : 1;
  const chains = openChains(target, together, { warmup, draws, device, block: together, ...more });
  const start = normal(key("start"), [CHAINS, n], { dtype: "float64" }).data.map((z) => z / 4);
  let [first, sampling] = [0, 0];
  const found: Chain[] = [];
  for (let c = 0; c < CHAINS; c += together) {
    // Without a warm-up, from the beginning: the first call of the module has many draws.
    let from = processorSeconds();
    const drawn = await chains.draw(start.slice(c * n, (c + together) * n), {
      key: key(6),
      first: c,
      onDraw: (_, done) => {
        if (first === 0) first = processorSeconds() - began;
        if (done === warmup) from = processorSeconds();
      },
    });
    sampling += processorSeconds() - from;
    found.push(...drawn);
  }
  await chains.dispose();
  const coordinate = (i: number): Float64Array[] =>
    found.map(({ x }) => x.filter((_, at) => at % n === i));
  return {
    first,
    whole: processorSeconds() - began,
    sampling,
    ess: Math.min(...Array.from({ length: n }, (_, i) => bulkEss(coordinate(i)))),
    steps: found.reduce((total, { leaves }) => total + leaves.reduce((a, b) => a + b, 0), 0),
  };
}

interface StanLine {
  readonly stan: string;
  readonly compiling: number;
  readonly sampling: number;
  readonly ess: number;
  readonly steps: number;
}

/** The folder of compiled Stan models. */
const STAN_MODELS = join(tmpdir(), "diffeo-stan-models");

/** The output of the script in R; undefined without rstan. */
function stanScript(...options: readonly string[]): string | undefined {
  const there = spawnSync("Rscript", ["-e", 'library(rstan); library("jsonlite")']);
  if (there.status !== 0) return undefined;
  mkdirSync(STAN_MODELS, { recursive: true });
  const script = fileURLToPath(new URL("../posteriors_stan.R", import.meta.url));
  const { stdout, stderr, status } = spawnSync("Rscript", [script, STAN_MODELS, ...options], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`Stan failed:\n${stderr}`);
  return stdout;
}

/** Compiles Stan's models beforehand. */
export async function stan(): Promise<string> {
  return stanScript("--compile") ?? "rstan is not installed";
}

/** The same in Stan; undefined without rstan. */
function inStan(name: string, { data, warmup, draws }: Task): StanLine | undefined {
  const own = mkdtempSync(join(tmpdir(), "diffeo-stan-"));
  if (data) writeFileSync(join(own, `${name}.json`), JSON.stringify(data));
  const lines = stanScript(data ? own : folder, name, String(warmup), String(draws));
  rmSync(own, { recursive: true });
  return lines === undefined
    ? undefined
    : (JSON.parse(lines.trim().split("\n").at(-1) as string) as StanLine);
}

interface Speed {
  readonly diffeo: Sampled;
  /** The first run, before the JavaScript engine has optimised the code. */
  readonly cold?: Sampled;
  /** HMC with trajectories of 100 steps, which takes almost only gradients. */
  readonly loop?: Sampled;
  readonly onnxruntime?: Sampled;
  readonly stan?: StanLine;
  readonly peers: Readonly<Record<string, number>>;
}

/** Gradients per second of a peer's leapfrog steps: the median of three. */
async function rateOf(peer: TorchPeer, task: string, steps: number): Promise<number> {
  const [milliseconds] = await inTurns([() => peer.run(task)], 3);
  return (1000 * CHAINS * steps) / milliseconds;
}

async function peersOf(name: string): Promise<Record<string, number>> {
  const rates: Record<string, number> = {};
  for (const [library, script] of [
    ["jax", "posteriors_jax.py"],
    ["torch", "posteriors_peers.py"],
  ] as const) {
    const python = pythonWith(library);
    if (!python || name === "straight_line") continue;
    const path = fileURLToPath(new URL(`../${script}`, import.meta.url));
    const [peer, version] = await TorchPeer.start(python, path, 1, folder);
    rates[version] = await rateOf(peer, name, 50);
    if (library === "jax")
      rates[`${version}, in a loop`] = await rateOf(peer, `${name}/scan`, 5000);
    peer.stop();
  }
  return rates;
}

/** Trajectories of a fixed length from steps of a fixed size, as the peers take them. */
const LOOP = { method: "hmc", steps: 100, stepSize: 0.01, warmup: 0 } as const;

async function measured(name: string, task: Task): Promise<Speed> {
  const few = { ...task, warmup: Math.min(200, task.warmup), draws: Math.min(200, task.draws) };
  const runs: Sampled[] = [];
  for (let i = 0; i < 3; i++) runs.push(await sampled(task, "wasm"));
  const [cold] = runs;
  return {
    diffeo: { ...cold, sampling: median(runs.map(({ sampling }) => sampling)) },
    cold,
    loop: await sampled({ ...task, warmup: 0, draws: 5 * task.draws }, "wasm", LOOP),
    // Long trajectories take minutes on ONNX Runtime.
    onnxruntime: name === "straight_line" ? undefined : await sampled(few, "onnxruntime"),
    stan: inStan(name, task),
    peers: await peersOf(name),
  };
}

const whole = (x: number): string => x.toLocaleString("en", { maximumFractionDigits: 0 });

export async function speed(only: readonly string[] = []): Promise<string> {
  const names = only.filter((each) => !each.startsWith("--"));
  const rows: string[][] = [];
  for (const name of Object.keys(tasks).filter((n) => names.length === 0 || names.includes(n))) {
    const few = only.includes("--few") && { warmup: 100, draws: 100 };
    const task = { ...tasks[name], ...few };
    const measure = () => measured(name, task);
    const again = only.includes("--again");
    rows.push(
      ...rowsOf(name, few ? await measure() : await recorded(`speed-${name}`, measure, again)),
    );
  }
  return markdown(
    [
      "posterior",
      "by",
      "gradients per second",
      "ESS per second",
      "ESS, Stan's = 1",
      "seconds to the first draw",
    ],
    rows,
  );
}

function rowsOf(name: string, { diffeo, cold, loop, onnxruntime, stan, peers }: Speed): string[][] {
  const row = (who: string, s: Omit<Sampled, "first">, first: string): string[] => {
    const ess = s.ess / s.sampling;
    const ratio = stan ? (ess / (stan.ess / stan.sampling)).toFixed(1) : "–";
    return [name, who, whole(s.steps / s.sampling), whole(ess), ratio, first];
  };
  return [
    row("diffeo", diffeo, diffeo.first.toFixed(2)),
    ...(cold ? [row("diffeo, the first run", cold, cold.first.toFixed(2))] : []),
    ...(loop
      ? [[name, "diffeo, HMC of 100 steps", whole(loop.steps / loop.sampling), "", "", ""]]
      : []),
    ...(onnxruntime
      ? [row("diffeo, step by step on ONNX Runtime", onnxruntime, onnxruntime.first.toFixed(2))]
      : []),
    ...(stan ? [row(`Stan ${stan.stan}`, stan, stan.compiling.toFixed(0))] : []),
    ...Object.entries(peers).map(([who, rate]) => [name, who, whole(rate), "", "", ""]),
  ];
}
