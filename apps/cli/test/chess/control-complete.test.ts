/**
 * Completion: where the joint distribution is known exactly, so that the conditional is too, and on
 * whole boards.
 */

import { alignToEvent } from "diffeo/bijector";
import {
  type Categorical,
  categorical,
  knownSites,
  siteLikelihood,
  standardise,
} from "diffeo/categorical";
import {
  add,
  constant,
  div,
  exp,
  expandDims,
  logSoftmax,
  logSumExp,
  matmul,
  mul,
  reshape,
  square,
  sub,
  type Tensor,
} from "diffeo/graph";
import { key } from "diffeo/random";
import { openSampler } from "diffeo/sampler";
import { reversePush, vp } from "diffeo/sde";
import {
  type BoardSampler,
  COMPLETIONS,
  completeBoards,
  completionMeasures,
  EMPTY,
  hideSquares,
  openBoards,
  playouts,
  UNKNOWN,
  unpack,
} from "diffeo-chess";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tinyModel } from "../../../../packages/chess/test/tiny.ts";

const CLASSES = 3;
const N = CLASSES - 1;

/**
 * A distribution over the classes of a few sites in a row, with its exact score and exact
 * posteriors at every time.
 */
async function exactDistribution(sites: number, weightOf: (classes: readonly number[]) => number) {
  const states = Array.from({ length: CLASSES ** sites }, (_, s) =>
    Array.from({ length: sites }, (_, i) => Math.floor(s / CLASSES ** i) % CLASSES),
  );
  const weights = states.map(weightOf);
  const total = weights.reduce((a, b) => a + b, 0);
  const p = weights.map((w) => w / total);
  const shares = Array.from({ length: CLASSES }, (_, k) =>
    states.reduce((sum, state, s) => sum + (p[s] * state.filter((c) => c === k).length) / sites, 0),
  );
  const encoding: Categorical = categorical(standardise(shares, { grid: [sites] }));
  const sde = vp({ eventRank: 2 });
  const points = states.map((state) =>
    state.flatMap((k) => [...encoding.points.subarray(k * N, (k + 1) * N)]),
  );
  const { meanFactor, std } = sde.transition;
  /** log p(state | x_t): p(state | x_t) ∝ p(state) exp(−|x − m c|²/2σ²). */
  const logState = (x: Tensor, t: Tensor): Tensor => {
    const flat = reshape(x, [x.shape[0], sites * N]);
    const [m, variance] = [meanFactor(t), square(std(t))].map((v) => alignToEvent(v, 1));
    const codes = constant(points, x.dtype);
    const along = mul(matmul(flat, constant(transposed(points), x.dtype)), div(m, variance));
    const lengths = constant(
      points.map((c) => c.reduce((sum, v) => sum + v * v, 0)),
      codes.dtype,
    );
    const prior = constant(p.map(Math.log), x.dtype);
    return logSoftmax(add(sub(along, mul(lengths, div(square(m), mul(variance, 2)))), prior));
  };
  const score = (x: Tensor, t: Tensor): Tensor => {
    const mean = reshape(matmul(exp(logState(x, t)), constant(points, x.dtype)), x.shape);
    return div(sub(mul(mean, alignToEvent(meanFactor(t), 2)), x), alignToEvent(square(std(t)), 2));
  };
  // A state that has another class at the site counts e^{−10⁶} times.
  const against = Array.from({ length: sites * CLASSES }, (_, i) =>
    states.map((state) => (state[Math.floor(i / CLASSES)] === i % CLASSES ? 0 : -1e6)),
  );
  const logPosterior = (x: Tensor, t: Tensor): Tensor =>
    reshape(logSumExp(add(expandDims(logState(x, t), 1), constant(against, x.dtype)), -1), [
      x.shape[0],
      sites,
      CLASSES,
    ]);

  const draw = await openSampler(reversePush(sde, encoding.phi, score), {
    shape: [sites, N],
    denoise: true,
    threads: 1,
    likelihood: siteLikelihood(encoding, logPosterior),
  });
  /** How far the shares of states that are drawn are from Bayes' rule, given what is known. */
  const compare = async (
    known: readonly number[],
    method: { strength: 0 | 1; resample: number },
    count: number,
  ) => {
    const partial = new Uint8Array(count * sites);
    for (let i = 0; i < count; i++) partial.set(known, i * sites);
    const { samples } = await draw({
      count,
      key: key("complete"),
      // Replacement is as far off after 20 steps as after 40.
      steps: method.strength === 0 ? 20 : 40,
      known: { ...knownSites(encoding, partial), ...method },
    });
    const drawn = Uint8Array.from(encoding.decodeSimplex(samples.data));
    const found = new Float64Array(states.length);
    for (let i = 0; i < count; i++) {
      const state = drawn.subarray(i * sites, (i + 1) * sites);
      found[state.reduce((s, k, j) => s + k * CLASSES ** j, 0)] += 1 / count;
    }
    const agrees = (state: readonly number[]): boolean =>
      known.every((k, i) => k >= CLASSES || k === state[i]);
    const exact = states.map((state, s) => (agrees(state) ? p[s] : 0));
    const mass = exact.reduce((a, b) => a + b, 0);
    expect(found.reduce((sum, share, s) => sum + (agrees(states[s]) ? share : 0), 0)).toBeCloseTo(
      1,
      10,
    );
    return exact.reduce((tv, share, s) => tv + Math.abs(share / mass - found[s]) / 2, 0);
  };
  return { compare, dispose: draw.dispose };
}

const transposed = (rows: readonly (readonly number[])[]): number[][] =>
  rows[0].map((_, j) => rows.map((row) => row[j]));

describe("sites of a distribution that is known exactly", () => {
  const count = 2000;
  // A share of 2,000 draws has a standard deviation of at most 0.011, and TV is at most the sum of
  // two such errors.
  const chance = 0.035;

  it("follow the conditional distribution in one guided pass, if one other site is known", async () => {
    const { compare, dispose } = await exactDistribution(
      2,
      ([a, b]) => (a === b ? 0.8 : 0.1) * [3, 2, 1][a],
    );
    const guided = await compare([2, UNKNOWN], { strength: 1, resample: 1 }, count);
    const naive = await compare([2, UNKNOWN], { strength: 0, resample: 1 }, count);
    const repeated = await compare([2, UNKNOWN], { strength: 0, resample: 5 }, count);
    console.log(
      `distance from the conditional distribution: guided ${guided}, repeated ${repeated}, replacement ${naive}`,
    );
    await dispose();
    expect(guided).toBeLessThan(chance);
    expect(repeated).toBeLessThan(naive / 2);
    expect(naive).toBeGreaterThan(4 * chance);
  });

  it("do not depend on independent known sites, for any method", async () => {
    const { compare, dispose } = await exactDistribution(
      2,
      ([a, b]) => [3, 2, 1][a] * [1, 2, 4][b],
    );
    expect(await compare([2, UNKNOWN], { strength: 1, resample: 1 }, count)).toBeLessThan(chance);
    expect(await compare([0, UNKNOWN], { strength: 0, resample: 1 }, count)).toBeLessThan(chance);
    expect(await compare([UNKNOWN, 0], { strength: 0, resample: 3 }, count)).toBeLessThan(chance);
    await dispose();
  });

  it("are closer to it than by replacement if several sites are known", async () => {
    // Exactly one site is of class 0, as a side has exactly one king.
    const { compare, dispose } = await exactDistribution(3, (state) =>
      state.filter((k) => k === 0).length === 1 ? 1 : 0.001,
    );
    const guided = await compare([1, 2, UNKNOWN], { strength: 1, resample: 1 }, count);
    const naive = await compare([1, 2, UNKNOWN], { strength: 0, resample: 1 }, count);
    console.log(`two of three known: guided ${guided}, replacement ${naive}`);
    await dispose();
    expect(guided).toBeLessThan(naive / 2);
  });
});

describe("completeBoards", () => {
  const real = playouts(6, key("boards"));
  const partial = hideSquares(real, 0.5, key("hidden"));
  const options = { key: key(1), steps: 4 } as const;
  let posterior: BoardSampler;
  let noise: BoardSampler;
  beforeAll(async () => {
    posterior = await openBoards(tinyModel(), { threads: 1 });
    noise = await openBoards(tinyModel("noise"), { threads: 1 });
  });
  afterAll(async () => {
    await posterior.dispose();
    await noise.dispose();
  });

  it.each(COMPLETIONS)(
    "keeps every known square, different ones on each board (%s)",
    async (completion) => {
      const { positions } = await completeBoards(posterior, partial, { ...options, completion });
      expect(completionMeasures(positions, partial, real).kept).toBe(1);
      const made = unpack(positions);
      expect(made.some((k, i) => partial[i] === UNKNOWN && k !== EMPTY)).toBe(true);
      const { positions: again } = await completeBoards(posterior, partial.subarray(128), {
        ...options,
        completion,
        first: 2,
        batch: 2,
      });
      expect(unpack(again)).toEqual(made.slice(128));
    },
  );

  it("uses guidance if the network predicts posteriors, and repeated steps otherwise", async () => {
    const evaluations = async (draw: BoardSampler) =>
      (await completeBoards(draw, partial, options)).scoreEvaluations;
    expect(await evaluations(posterior)).toBe(4 + 1);
    expect(await evaluations(noise)).toBe(4 * 4 + 1);
    const led = async (how: object) =>
      (await completeBoards(posterior, partial, { ...options, ...how })).positions;
    expect(await led({})).toEqual(await led({ guidance: 3 }));
    expect(await led({})).not.toEqual(await led({ guidance: 1 }));
    await expect(
      completeBoards(noise, partial, { ...options, completion: "guided" }),
    ).rejects.toThrow("has no posterior to guide by");
  });

  it("hides the same number of squares on every board, at different places", () => {
    const hidden = Array.from({ length: 6 }, (_, i) => [...partial.subarray(64 * i, 64 * i + 64)]);
    for (const board of hidden) expect(board.filter((k) => k === UNKNOWN)).toHaveLength(32);
    // 25.6 of 64.
    expect(hideSquares(real, 0.4, key(1)).filter((k) => k === UNKNOWN)).toHaveLength(6 * 26);
    expect(
      new Set(hidden.map((board) => board.map((k) => (k === UNKNOWN ? "?" : ".")).join(""))).size,
    ).toBe(6);
    expect(partial.filter((k, i) => k !== UNKNOWN && k !== unpack(real)[i])).toHaveLength(0);
  });

  it("is evaluated on the hidden squares", () => {
    expect(completionMeasures(real, partial, real)).toMatchObject({
      boards: 6,
      kept: 1,
      legal: 1,
      squaresRecovered: 1,
      piecesRecovered: 1,
    });
    const other = playouts(6, key("others"));
    const { kept, squaresRecovered } = completionMeasures(other, partial, real);
    const share = (known: boolean): number => {
      const squares = [...partial.keys()].filter((i) => (partial[i] !== UNKNOWN) === known);
      return squares.filter((i) => unpack(other)[i] === unpack(real)[i]).length / squares.length;
    };
    expect(kept).toBeCloseTo(share(true), 12);
    expect(squaresRecovered).toBeCloseTo(share(false), 12);
  });
});
