/** Noise, targets and densities of the other processes in where-to-train belong together. */
import { sampleFrom } from "diffeo/distribution";
import { compile } from "diffeo/engine";
import { cos, mul, type NdArray, neg, onesLike, sin, type Tensor } from "diffeo/graph";
import { key } from "diffeo/random";
import { vp } from "diffeo/sde";
import { describe, expect, it } from "vitest";
import { scaledMap } from "../src/problem/maps.ts";
import { threeGaussians } from "../src/problem/mixture.ts";
import type { Arm } from "../src/where-to-train/arm.ts";
import { engine } from "../src/where-to-train/budget.ts";
import { logDensityAt } from "../src/where-to-train/marginal.ts";
import { noiserOf } from "../src/where-to-train/process-run.ts";
import { armOf, processMaps, processNames } from "../src/where-to-train/processes.ts";

const COUNT = 2000;

/** x₀, u₀ and states at one time, of an arm. */
async function statesOf(arm: Arm, time: number, count = COUNT) {
  const x0 = sampleFrom(threeGaussians(), key(1), count, "float64");
  const graph = compile(arm.start, [x0.shape], engine);
  const start = await graph(x0);
  const t: NdArray = {
    shape: [count],
    dtype: "float64",
    data: new Float64Array(count).fill(time),
  };
  const noiser = noiserOf(arm, count);
  const state = await noiser.at(start, t, key(2));
  await Promise.all([graph.dispose(), noiser.dispose()]);
  return { start, state, t };
}

/** Mean and standard error. */
function moments(values: ArrayLike<number>): { mean: number; error: number } {
  const all = Array.from(values);
  const mean = all.reduce((a, b) => a + b, 0) / all.length;
  const squares = all.reduce((s, v) => s + (v - mean) ** 2, 0);
  return { mean, error: Math.sqrt(squares) / all.length };
}

describe.each(processNames)("the process %s", (name) => {
  const problem = { sde: vp(), phi: scaledMap(processMaps[name], 1), n: 2 };
  const arm = armOf(name, problem);

  it("has targets whose mean is the score: E[target h] = −E[h′] for h that is 0 at faces", async () => {
    const { start, state, t } = await statesOf(arm, arm.timeAt(0.3));
    const bounded = name === "reflected";
    // The last coordinates of a state are those that the network gives the score of.
    const last = arm.inputs - arm.outputs;
    const stein = compile(
      (u: Tensor, u0: Tensor, times: Tensor) => [
        arm.target(u, u0, times),
        bounded ? sin(mul(u, 2 * Math.PI)) : u,
        bounded ? neg(mul(cos(mul(u, 2 * Math.PI)), 2 * Math.PI)) : neg(onesLike(u)),
      ],
      [state.shape, start.shape, t.shape],
      engine,
    );
    const [target, h, slope] = (await stein(state, start, t)).map(({ data }) => data);
    await stein.dispose();
    const rest = Array.from({ length: COUNT }, (_, i) => {
      const at = i * arm.inputs + last;
      return Number(target[i * arm.outputs]) * Number(h[at]) - Number(slope[at]);
    });
    const { mean, error } = moments(rest);
    expect(Math.abs(mean)).toBeLessThan(4 * error);
    expect(error).toBeLessThan(bounded ? 0.5 : 0.1);
  });

  it("has the density that its states have: E[π/p] = 1 for the stationary density π", async () => {
    const time = arm.timeAt(0.5);
    const { state } = await statesOf(arm, time, 64);
    const density = await logDensityAt(arm, problem, state, time);
    const graph = compile(
      (u: Tensor) => arm.sde.prior?.logDensity(u) as Tensor,
      [state.shape],
      engine,
    );
    const prior = (await graph(state)).data;
    await graph.dispose();
    const { mean, error } = moments(density.map((log, i) => Math.exp(Number(prior[i]) - log)));
    expect(Math.abs(mean - 1)).toBeLessThan(4 * error);
    expect(error).toBeLessThan(0.2);
  });
});
