/** Scores converted between SDEs, and processes between clocks. */
import { describe, expect, it } from "vitest";
import { alignToEvent } from "../../src/bijector/index.ts";
import { cos, jvp, mul, onesLike, sin, type Tensor } from "../../src/graph/index.ts";
import {
  applyCovariance,
  carry,
  clock,
  fromTransition,
  type GaussianSde,
  multipliedOut,
  noiseRatio,
  type Process,
  rescaling,
  reverse,
  reversePush,
  timeAtRatio,
  vp,
} from "../../src/sde/index.ts";
import { clusters, exactScore } from "../sampler/tools.ts";
import { at, draws, gaussianSdes, relativeError } from "./table.ts";

const all = Object.entries(gaussianSdes).map(([name, make]) => [name, make()] as const);
const pairs = all.flatMap(([a, from]) =>
  all.flatMap(([b, to]) => (a === b ? [] : [[a, b, from, to] as const])),
);
const data = clusters(3);
const batch = 5;

/** Times of an SDE at noise ratios from 0.05 to 20. */
const timesIn = (sde: GaussianSde): Float64Array =>
  at((r) => timeAtRatio(sde, r), [[batch], [0.05, 0.3, 1, 4, 20].filter((_, i) => i < batch)]).map(
    (t) => Math.min(t, sde.horizon),
  );

describe("the time at a noise ratio", () => {
  it.each(all)("of %s is the inverse of its noise ratio, closed form or not", (_, sde) => {
    const times = [1e-3, 0.1, 0.4, 0.7, 0.999].map((s) => s * sde.horizon);
    const back = (of: GaussianSde) => (t: Tensor) => timeAtRatio(of, noiseRatio(of, t));
    const plain = { ...sde, transition: { ...sde.transition, timeAt: undefined } };
    for (const form of [sde, plain])
      expect(relativeError(at(back(form), [[5], times]), times)).toBeLessThan(1e-13);
    const slope = (t: Tensor) => jvp(back(plain), t, onesLike(t))[1];
    expect(relativeError(at(slope, [[5], times]), [1, 1, 1, 1, 1])).toBeLessThan(1e-9);
  });
});

describe("scores", () => {
  it.each(pairs)("of the same data under %s are carried to %s", (_, __, from, to) => {
    const { sde, score } = carry(exactScore(from, data), { from, to });
    const times = timesIn(sde);
    const x = draws("points", [batch, 3]);
    const [shape, t] = [
      [batch, 3],
      [[batch], times],
    ] as const;
    const found = at(score, [shape, x], t);
    expect(relativeError(found, at(exactScore(to, data), [shape, x], t))).toBeLessThan(1e-10);
  });

  it("are known up to the horizon of their own SDE", () => {
    const from = gaussianSdes.edm();
    const short = { ...from, horizon: 2 };
    const { sde } = carry(exactScore(short, data), { from: short, to: vp() });
    const [r] = at((t) => noiseRatio(sde, t), [[], [sde.horizon]]);
    expect(r).toBeCloseTo(2, 12);
    expect(carry(exactScore(from, data), { from: vp(), to: short }).sde.horizon).toBe(2);
  });
});

describe("processes", () => {
  it.each(pairs)("%s is %s under a scaling of space and a clock", (_, __, from, to) => {
    const score = exactScore(from, data);
    const seen = reversePush(from, rescaling(from, to), score);
    const own = reverse(to, carry(score, { from, to }).score);
    const times = timesIn({ ...from, horizon: from.horizon * 0.999 });
    const y = draws("points", [batch, 3]);
    const inputs = [[[batch, 3], y] as const, [[batch], times] as const] as const;
    const inOwn = (field: (y: Tensor, u: Tensor) => Tensor) => (y: Tensor, t: Tensor) => {
      const [u, speed] = jvp((s: Tensor) => clock(from, to, s), t, onesLike(t));
      return mul(field(y, u), alignToEvent(speed, 1));
    };
    const spread =
      ({ diffusion }: Process) =>
      (p: Tensor, t: Tensor) =>
        applyCovariance(multipliedOut(diffusion(p, t)), p, [3]);
    for (const [name, one, other] of [
      ["drift", seen.drift, own.drift],
      ["velocity", seen.velocity, own.velocity],
      ["G Gᵀ y", spread(seen), spread(own)],
    ] as const)
      expect(relativeError(at(one!, ...inputs), at(inOwn(other!), ...inputs)), name).toBeLessThan(
        1e-8,
      );
  });
});

describe("an SDE from its transition", () => {
  it.each(all)("is %s again", (_, sde) => {
    const { name, horizon, transition } = sde;
    const same = fromTransition({ name, horizon, priorStd: 1, ...transition });
    const times = [0.05, 0.3, 0.5, 0.8, 0.99].map((s) => s * horizon);
    const inputs = [
      [[batch, 3], draws("points", [batch, 3])],
      [[batch], times],
    ] as const;
    const spread = (of: GaussianSde) => (x: Tensor, t: Tensor) =>
      applyCovariance(of.diffusion(x, t), x, [3]);
    for (const [one, other] of [
      [same.drift, sde.drift],
      [spread(same), spread(sde)],
    ])
      expect(relativeError(at(one, ...inputs), at(other, ...inputs))).toBeLessThan(1e-12);
  });

  it("may have any mean and variance: on an arc of a circle it preserves variance", () => {
    const arc = fromTransition({
      name: "arc",
      horizon: 1.5,
      priorStd: 1,
      meanFactor: cos,
      std: sin,
    });
    const score = exactScore(vp(), data);
    const { score: carried } = carry(score, { from: vp(), to: arc });
    const inputs = [
      [[batch, 3], draws("points", [batch, 3])],
      [[batch], [0.1, 0.4, 0.8, 1.2, 1.5]],
    ] as const;
    expect(
      relativeError(at(carried, ...inputs), at(exactScore(arc, data), ...inputs)),
    ).toBeLessThan(1e-10);
  });
});
