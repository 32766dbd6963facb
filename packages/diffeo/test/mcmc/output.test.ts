/** Draws as text, read like the readers of CmdStan and ArviZ, number for number. */
import { describe, expect, it } from "vitest";
import { positive, real } from "../../src/domain/index.ts";
import { div, mul, square, sub, sum, type Tensor } from "../../src/graph/index.ts";
import {
  arvizJson,
  cmdStanCsv,
  type PosteriorModel,
  samplePosterior,
} from "../../src/mcmc/index.ts";
import { key } from "../../src/random/index.ts";

const zero = (x: Tensor): Tensor => mul(x, 0);
const model: PosteriorModel = {
  parameters: { mu: real(), tau: [positive(), 2, 3] },
  logDensity: ({ mu, tau }) => sub(mul(square(mu), -0.5), sum(sum(tau, -1), -1)),
  derived: { odd: ({ mu }) => div(zero(mu), zero(mu)) },
};
const posterior = await samplePosterior(model, {
  key: key(1),
  draws: 7,
  warmup: 30,
  chains: 2,
  metric: "dense",
  data: { y: [1, 2, 3], n: 3 },
});
const { draws, chains } = posterior;

describe("a chain as CSV", () => {
  const origin = { model: "a.mjs", data: "d.json", seed: 5, version: "0.1.0" };
  const lines = [...cmdStanCsv(posterior, 1, origin)].join("").split("\n");
  const comments = lines.filter((line) => line.startsWith("#"));
  const [header, ...rows] = lines.filter((line) => line !== "" && !line.startsWith("#"));

  it("has CmdStan's names, and elements of an array with the first index fastest", () => {
    expect(header).toBe(
      "lp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__,mu,tau.1.1,tau.2.1,tau.1.2,tau.2.2,tau.1.3,tau.2.3,odd",
    );
    expect(lines.at(-1)).toBe("");
  });

  it("keeps every number bit for bit", () => {
    expect(rows.length).toBe(7);
    rows.forEach((row, i) => {
      const cells = row.split(",");
      expect(cells.at(-1)).toBe("NaN");
      const { value, acceptance, stepSize, depth, leaves, diverged, energy } = chains[1];
      const said = [value[i], acceptance[i], stepSize, depth[i], leaves[i], diverged[i], energy[i]];
      const tau = [0, 3, 1, 4, 2, 5].map((k) => draws.tau.data[(7 + i) * 6 + k]);
      expect(cells.slice(0, -1).map(Number)).toEqual([...said, draws.mu.data[7 + i], ...tau]);
    });
  });

  it("has the settings, in the format of CmdStan's files", () => {
    const settings = Object.fromEntries(
      comments.flatMap((line) => {
        const [, name, value] = /^#\s*(\S+)\s*=\s*(\S+)$/.exec(line) ?? [];
        return name === undefined ? [] : [[name, value]];
      }),
    );
    expect(settings).toMatchObject({
      diffeo_version: "0.1.0",
      model: "a.mjs",
      method: "sample",
      num_samples: "7",
      num_warmup: "30",
      save_warmup: "0",
      delta: "0.8",
      engine: "nuts",
      metric: "dense_e",
      id: "2",
      file: "d.json",
      seed: "5",
    });
    const at = comments.indexOf("# Elements of inverse mass matrix:");
    expect(comments[at - 2]).toBe("# Adaptation terminated");
    expect(comments[at - 1]).toBe(`# Step size = ${chains[1].stepSize}`);
    const matrix = comments.slice(at + 1).map((line) => line.slice(2).split(", ").map(Number));
    expect(matrix.flat()).toEqual([...chains[1].inverseMass]);
    expect(matrix.length).toBe(7);
  });
});

describe("all chains as JSON", () => {
  it("has the groups and shapes that ArviZ reads, bit for bit", () => {
    // Python's own way to write what is not finite.
    const text = [...arvizJson(posterior)].join("");
    const read = JSON.parse(text.replaceAll("NaN", "null"));
    expect(Object.keys(read)).toEqual(["posterior", "sample_stats", "observed_data"]);
    expect(read.posterior.mu).toEqual(
      [0, 1].map((c) => [...draws.mu.data.subarray(7 * c, 7 * (c + 1))]),
    );
    expect(read.posterior.tau[1][6][1][2]).toBe(draws.tau.data[2 * 7 * 6 - 1]);
    expect(read.posterior.tau[0][0].length).toBe(2);
    expect(text).toContain('"odd":[[NaN,NaN');
    expect(read.observed_data).toEqual({ y: [1, 2, 3], n: 3 });
    expect(Object.keys(read.sample_stats)).toEqual([
      "lp",
      "acceptance_rate",
      "step_size",
      "tree_depth",
      "n_steps",
      "diverging",
      "energy",
    ]);
    expect(read.sample_stats.lp[1]).toEqual([...chains[1].value]);
    expect(read.sample_stats.diverging[0]).toEqual(new Array(7).fill(false));
  });

  it("is generated in pieces of bounded size", () => {
    const [chains, many] = [2, 2001];
    const wide = {
      shape: [chains, many, 2, 3],
      dtype: "float64" as const,
      data: new Float64Array(chains * many * 6),
    };
    wide.data.forEach((_, i) => {
      wide.data[i] = i;
    });
    const scalar = { ...wide, shape: [chains, many], data: wide.data.subarray(0, chains * many) };
    const long = {
      ...posterior,
      draws: { wide, scalar },
      settings: { ...posterior.settings, draws: 7 },
    };
    const pieces = [...arvizJson(long)];
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(100_000);
    const read = JSON.parse(pieces.join(""));
    expect(read.posterior.wide.flat(3)).toEqual([...wide.data]);
    expect(read.posterior.wide[1][many - 1].length).toBe(2);
    expect(read.posterior.scalar.flat()).toEqual([...scalar.data]);
  });
});
