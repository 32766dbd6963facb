/**
 * Gradients and effective draws a second of three posteriors, four chains in float64 on one thread,
 * beside the same log-density and the same leapfrog steps in PyTorch; and where a step's time goes:
 * the graph's own operations, what it costs to run any graph at all (tensors made, arrays bound and
 * copied), and the tree of the no-U-turn sampler in JavaScript.
 */
import { fileURLToPath } from "node:url";
import { compile } from "diffeo/engine";
import { concat, slice, type Tensor } from "diffeo/graph";
import { bulkEss } from "diffeo/mcmc";
import { key, normal } from "diffeo/random";
import { settingsOf } from "../../packages/diffeo/src/mcmc/chain-settings.ts";
import { type ChainStep, stepRows } from "../../packages/diffeo/src/mcmc/chain-step.ts";
import { chainsBy } from "../../packages/diffeo/src/mcmc/chains.ts";
import { freeLogDensity, parameterSpace } from "../../packages/diffeo/src/mcmc/parameters.ts";
import { models } from "../../packages/diffeo/test/mcmc/posteriors.ts";
import { inTurns, pythonWithTorch, TorchPeer } from "../timing.ts";
import { folder, referenceOf } from "./agree.ts";
import { markdown, recorded } from "./records.ts";

const CHAINS = 4;
const STEPS = 50;
const SIZE = 0.01;
const ROUNDS = 5;
const three = ["eight_schools", "arK", "low_dim_gauss_mix"];

interface Speed {
  readonly torch: string | undefined;
  /** A processor's milliseconds of one leapfrog step of four chains. */
  readonly step: number;
  readonly peer: number | undefined;
  /** Of any graph with the same arrays. */
  readonly bare: number;
  /** Of a step of the sampler, and of the graph in it. */
  readonly whole: number;
  readonly graph: number;
  /** The least bulk ESS for a draw of every chain, and the steps that takes the slowest chain. */
  readonly ess: number;
  readonly steps: number;
}

/** Milliseconds of a processor: other work on the machine does not count. */
const processor = (): number => (process.cpuUsage().user + process.cpuUsage().system) / 1000;

async function spent(task: () => Promise<void>): Promise<number> {
  const before = processor();
  await task();
  return processor() - before;
}

async function measured(
  name: string,
  peer: TorchPeer | undefined,
  torch: string | undefined,
): Promise<Speed> {
  const { data } = referenceOf(name);
  const model = models[name](data);
  const space = parameterSpace(model.parameters as Parameters<typeof parameterSpace>[0]);
  const n = space.dimension;
  const logDensity = freeLogDensity(space, (values) => model.logDensity(values, {}), {});
  const [width, wide] = [3 * n + 1, 4 * n + 2];
  const shapes = [{}, [CHAINS, width], [CHAINS, n]] as const;
  const options = { type: "float64", threads: 1 } as const;
  const step = compile(stepRows(logDensity, n, false), shapes, options);
  // The same arrays in and out, and nothing done with them.
  const bare = compile(
    (_: Readonly<Record<string, Tensor>>, rows: Tensor, m: Tensor) =>
      concat([rows, m, slice(m, null, [0, 1])], -1),
    shapes,
    options,
  );
  const walk = (run: typeof step | typeof bare) => async (): Promise<void> => {
    const rows = new Float64Array(CHAINS * width).map(
      (_, i) => [0.1, 1, 0, SIZE][Math.floor((i % width) / n)],
    );
    const inverse = new Float64Array(CHAINS * n).fill(1);
    for (let i = 0; i < STEPS; i++) {
      const found = (await run({}, rows, inverse)).data as Float64Array;
      for (let c = 0; c < CHAINS; c++)
        rows.set(found.subarray(c * wide, c * wide + 3 * n), c * width);
    }
  };
  const times = await inTurns(
    [() => spent(walk(step)), () => spent(walk(bare)), ...(peer ? [() => peer.run(name)] : [])],
    ROUNDS,
  );
  const sampler = await insideSampler(step, n);
  await step.dispose();
  await bare.dispose();
  return {
    torch,
    step: times[0] / STEPS,
    bare: times[1] / STEPS,
    peer: times[2] === undefined ? undefined : times[2] / STEPS,
    ...sampler,
  };
}

/**
 * Steps of the sampler: all of one, and what of it is the graph's; effective draws and steps of a
 * draw of every chain.
 */
async function insideSampler(
  step: Omit<ChainStep, "dispose">,
  n: number,
): Promise<Pick<Speed, "whole" | "graph" | "ess" | "steps">> {
  const draws = 400;
  let [graph, runs] = [0, 0];
  const timed: ChainStep = Object.assign(
    async (...args: Parameters<ChainStep>) => {
      const before = processor();
      const found = await (step as (...args: Parameters<ChainStep>) => ReturnType<ChainStep>)(
        ...args,
      );
      graph += processor() - before;
      runs++;
      return found;
    },
    { dispose: async () => {} },
  );
  const chains = chainsBy(timed, n, CHAINS, settingsOf({ draws, warmup: 400 }));
  const start = normal(key("start"), [CHAINS, n], { dtype: "float64" }).data.map((z) => z / 4);
  const began = processor();
  const drawn = await chains.draw(start, { key: key(6) });
  const whole = (processor() - began) / runs;
  const coordinate = (i: number): Float64Array[] =>
    drawn.map(({ x }) => x.filter((_, at) => at % n === i));
  return {
    whole,
    graph: graph / runs,
    ess: Math.min(...Array.from({ length: n }, (_, i) => bulkEss(coordinate(i)))) / draws,
    steps: Math.max(...drawn.map(({ leaves }) => leaves.reduce((a, b) => a + b, 0))) / draws,
  };
}

export async function speed(only: readonly string[] = three): Promise<string> {
  const python = pythonWithTorch();
  const script = fileURLToPath(new URL("../posteriors_peers.py", import.meta.url));
  const [peer, torch] = python ? await TorchPeer.start(python, script, 1, folder) : [];
  const rows: string[][] = [];
  try {
    for (const name of three.filter((each) => only.includes(each))) {
      const s = await recorded(`speed-${name}`, () => measured(name, peer, torch));
      const rate = (ms: number | undefined): string =>
        ms === undefined
          ? "–"
          : ((1000 * CHAINS) / ms).toLocaleString("en", { maximumFractionDigits: 0 });
      // Effective draws a draw of every chain, over the steps that a draw takes.
      const effective = (ms: number | undefined): string =>
        ms === undefined ? "–" : ((1000 * s.ess) / (s.steps * ms)).toFixed(0);
      const share = (ms: number): string => `${((100 * ms) / s.whole).toFixed(0)} %`;
      rows.push([
        name,
        rate(s.step),
        rate(s.peer),
        s.peer === undefined ? "–" : (s.peer / s.step).toFixed(1),
        effective(s.whole),
        effective(s.peer),
        (1000 * s.whole).toFixed(0),
        share(s.graph - s.bare),
        share(s.bare),
        share(s.whole - s.graph),
      ]);
    }
  } finally {
    peer?.stop();
  }
  return markdown(
    [
      "posterior",
      "gradients a second",
      torch ?? "PyTorch",
      "ratio",
      "ESS a second",
      "with PyTorch's steps",
      "µs a step",
      "operations",
      "running a graph",
      "JavaScript",
    ],
    rows,
  );
}
