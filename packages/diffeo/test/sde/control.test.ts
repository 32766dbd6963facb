/** Modified processes: their motion in y, and the same motion in x by Itô's lemma. */
import { describe, expect, it } from "vitest";
import {
  additiveLogistic,
  alignToEvent,
  chain,
  pushVector,
  sigmoidMap,
  timeAffine,
} from "../../src/bijector/index.ts";
import { add, cos, exp, mul, sin, type Tensor } from "../../src/graph/index.ts";
import {
  applyCovariance,
  applyDiffusion,
  dilateTime,
  forward,
  inChart,
  type Process,
  reversePush,
  scaleDrift,
  tilt,
} from "../../src/sde/index.ts";
import { pushDrift } from "../../src/sde/ito.ts";
import { pushVelocity } from "../../src/sde/probability-flow.ts";
import { pushReverseDrift } from "../../src/sde/reverse-time-ito.ts";
import { at, draws, field, relativeError, stateDependent } from "./table.ts";

const [shape, times] = [
  [4, 3],
  [[4], [0.15, 0.4, 0.65, 0.9]],
] as const;
const points = [shape, draws("points", shape)] as const;
const noise = [shape, draws("noise", shape)] as const;
/** Noise that depends on x, and a map that moves: no term is zero. */
const sde = stateDependent[1](1);
const maps = [
  chain(timeAffine({ scale: (t) => exp(mul(t, -0.5)), shift: (t) => mul(t, 0.8) }), sigmoidMap()),
  additiveLogistic(),
];
const delta = (x: Tensor, t: Tensor): Tensor => add(sin(x), alignToEvent(cos(t), 1));

const close = (f: (x: Tensor, t: Tensor, z: Tensor) => readonly [Tensor, Tensor]): void => {
  const [one, two] = [0, 1].map((i) => at((x, t, z) => f(x, t, z)[i], points, times, noise));
  expect(relativeError(one, two)).toBeLessThan(1e-12);
};

describe.each(maps)("through $name", (phi) => {
  const score = field(1);
  const reverse = reversePush(sde, phi, score);
  const made: readonly (readonly [string, Process])[] = [
    ["as it is", reverse],
    ["with its drift scaled", scaleDrift(reverse, 0.7)],
    ["with another clock", dilateTime(reverse, 1.7)],
    ["tilted", tilt(reverse, delta)],
    ["with all of it", scaleDrift(dilateTime(tilt(reverse, delta), 1.7), 0.7)],
    ["forward", forward(sde, phi)],
    ["forward, with its drift scaled", scaleDrift(forward(sde, phi), 0.7)],
    ["forward, with another clock", dilateTime(forward(sde, phi), 1.7)],
  ];

  it.each(made)("a process %s is one motion in x and in y", (_, process) => {
    const inX = inChart(process);
    const push = process.reversed ? pushReverseDrift : pushDrift;
    const g = (x: Tensor, t: Tensor) => inX.diffusion(x, t) as ReturnType<typeof sde.diffusion>;
    const y = (x: Tensor, t: Tensor): Tensor => phi.forward(x, t);
    close((x, t) => [process.drift(y(x, t), t), push(phi, x, inX.drift(x, t), g(x, t), t)]);
    close((x, t, z) => [
      applyDiffusion(process.diffusion(y(x, t), t), z, [3]),
      pushVector(phi, x, applyDiffusion(g(x, t), z, [3]), t),
    ]);
    const [flow, flowInX] = [process.velocity, inX.velocity];
    expect(flow === undefined).toBe(flowInX === undefined);
    if (flow && flowInX)
      close((x, t) => [flow(y(x, t), t), pushVelocity(phi, x, flowInX(x, t), t)]);
  });

  it("is scaled and has another clock in y: w f̂, and c f̂ with √c G̃", () => {
    const y = (x: Tensor, t: Tensor): Tensor => phi.forward(x, t);
    const [scaled, faster] = [scaleDrift(reverse, 0.7), dilateTime(reverse, 1.7)];
    for (const [process, by, spread] of [
      [scaled, 0.7, 1],
      [faster, 1.7, 1.7],
    ] as const) {
      close((x, t) => [process.drift(y(x, t), t), mul(reverse.drift(y(x, t), t), by)]);
      close((x, t) => [process.velocity(y(x, t), t), mul(reverse.velocity(y(x, t), t), by)]);
      close((x, t, u) => [
        applyCovariance(process.diffusion(y(x, t), t), u, [3]),
        mul(applyCovariance(reverse.diffusion(y(x, t), t), u, [3]), spread),
      ]);
    }
  });

  it("is the process of another score after a tilt", () => {
    const y = (x: Tensor, t: Tensor): Tensor => phi.forward(x, t);
    const [found, wanted] = [
      tilt(reverse, delta),
      reversePush(sde, phi, (x, t) => add(score(x, t), delta(x, t))),
    ];
    for (const of of ["drift", "velocity"] as const)
      close((x, t) => [found[of](y(x, t), t), wanted[of](y(x, t), t)]);
    close((x, t) => [found.score(x, t), wanted.score(x, t)]);
  });
});
