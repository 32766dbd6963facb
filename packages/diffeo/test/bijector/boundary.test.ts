/**
 * Processes in y near a boundary, compared with their definition in 600 binary digits at the same y
 * of 53 digits. Points are at distances of about 1e-6 and 1e-11 from the boundary.
 */
import { describe, expect, it } from "vitest";
import {
  type Bijector,
  catalogue,
  contains,
  pushedCovarianceDivergence,
} from "../../src/bijector/index.ts";
import { patterns } from "../../src/check/probe.ts";
import { evaluate } from "../../src/engine/index.ts";
import {
  cast,
  constant,
  type NdArray,
  neg,
  type Tensor,
  toFloat64,
  zerosLike,
} from "../../src/graph/index.ts";
import { key } from "../../src/random/index.ts";
import { pulledScore } from "../../src/score/index.ts";
import { push, reversalOf, reverse, reversePush, vp } from "../../src/sde/index.ts";
import { type PreciseMap, preciseMaps, preciseReverse } from "./precise.ts";

const COUNT = 6;
const TIME = 0.4;
const BETA = 0.1 + 19.9 * TIME;

/** |x| at 1e-11 from the boundary. */
const reach: Readonly<Record<string, number>> = {
  tanhMap: 12,
  isometricLogRatio: 7,
  ordered: 10,
  unitBall: 1e5,
  stereographic: 1e5,
  logCholesky: 5,
};
/**
 * What is left where φ⁻¹ itself cannot know better: 1 − ‖y‖² and Schur complements are differences
 * of numbers of order 1, and tanh's reverse drift is one of like terms.
 */
const tolerance: Readonly<Record<string, number>> = {
  tanhMap: 1e-10,
  unitBall: 1e-5,
  stereographic: 1e-6,
  logCholesky: 1e-8,
};

const row = ({ data, shape }: NdArray, r: number): number[] => {
  const size = data.length / shape[0];
  return [...toFloat64(data).subarray(r * size, (r + 1) * size)];
};

/** The largest error of each quantity among the points inside, relative to its size. */
async function errors(map: Bijector, f: PreciseMap, points: NdArray) {
  const sde = vp();
  const scoreY = (y: Tensor): Tensor => neg(y);
  const found = await evaluate((z: Tensor) => {
    const t = constant(TIME, "float64");
    const y = map.forward(z);
    const x = map.inverse(y);
    return {
      x,
      y,
      inside: cast(contains(map, y), "float64"),
      closed: pushedCovarianceDivergence(map, x, sde.diffusion(x, t), zerosLike(x), t),
      divergence: reversalOf(push(sde, map), y, zerosLike(y), t),
      reversed: reverse(push(sde, map), scoreY).drift(y, t),
      pushed: reversePush(sde, map, pulledScore(map, scoreY)).drift(y, t),
    };
  }, points);
  const worst = { closed: 0, divergence: 0, reversed: 0, pushed: 0, inside: 0 };
  for (let r = 0; r < COUNT; r++) {
    if (row(found.inside, r)[0] === 0) continue;
    worst.inside++;
    const exact = preciseReverse(f, row(found.y, r), row(found.x, r), BETA);
    const judge = (
      part: Exclude<keyof typeof worst, "inside">,
      wanted: readonly number[],
    ): void => {
      const gap = Math.max(...row(found[part], r).map((v, i) => Math.abs(v - wanted[i])));
      worst[part] = Math.max(worst[part], gap / Math.max(...wanted.map(Math.abs)));
    };
    judge("closed", exact.divergence);
    judge("divergence", exact.divergence);
    judge("reversed", exact.reverseDrift);
    judge("pushed", exact.reverseDrift);
  }
  return worst;
}

describe("a process seen through a map knows itself near the boundary of", () => {
  for (const [name, f] of Object.entries(preciseMaps)) {
    const { map, event } = catalogue.find((e) => e.name === name) as (typeof catalogue)[number];
    it(`${name}: ∇·(G̃G̃ᵀ) and the reverse drift, transformed then reversed as well as reversed then transformed`, async () => {
      for (const share of [0.5, 1]) {
        const points = patterns(event, COUNT, (reach[name] ?? 25) * share, key("far"));
        const worst = await errors(map, f, points);
        const most = tolerance[name] ?? 2e-13;
        expect(worst.inside).toBeGreaterThanOrEqual(4);
        expect(worst.closed).toBeLessThan(most);
        expect(worst.divergence).toBeLessThan(most);
        expect(worst.pushed).toBeLessThan(most);
        expect(worst.reversed).toBeLessThan(2 * worst.pushed + 1e-14);
      }
    });
  }
});
