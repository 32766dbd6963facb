/**
 * The graphs of a particle sampler (`particles.ts`): the values at each particle, the step of the
 * particles, and their last weights.
 */
import { eventOf } from "../bijector/event.ts";
import { sumEvent } from "../bijector/index.ts";
import type { CompileOptions } from "../engine/index.ts";
import {
  add,
  type DType,
  mul,
  type NdArray,
  neg,
  type Shape,
  sqrt,
  square,
  type Tensor,
} from "../graph/index.ts";
import {
  applyDiffusion,
  applyTransposed,
  multipliedOut,
  type TwistedProcess,
  timesOf,
} from "../sde/index.ts";
import type { Batch } from "./batch.ts";
import type { NamedTensors } from "./compiler.ts";
import { finalPoints } from "./exits.ts";
import { independentNoise } from "./noise.ts";
import { drawnShape, stageOf } from "./solver.ts";

/** Options of `openParticles`. */
export interface OpenParticleOptions extends Omit<CompileOptions, "keep"> {
  /** The shape of one event in x. */
  readonly shape: Shape;
  /** Whether to return the mean of x₀ given x at the last time. Default false. */
  readonly denoise?: boolean;
  /**
   * Shapes and types, by name, of the arrays that each call passes as `observed`. All particles
   * share them. Default none.
   */
  readonly observed?: Readonly<Record<string, { readonly shape: Shape; readonly dtype: DType }>>;
}

/** The part of an open particle sampler that its calls share. */
export interface Opened {
  readonly of: (observed: NamedTensors) => TwistedProcess;
  /** The process for all that does not depend on the observed arrays. */
  readonly probe: TwistedProcess;
  readonly observed: NonNullable<OpenParticleOptions["observed"]>;
  readonly denoise: boolean;
}

/**
 * `look` computes ψ, drift and δ at each particle, `move` the next particles and their weight
 * ratio, `finish` the points in y with their last weight, and `draw` the noise of a step.
 */
export function graphsOf({ of, probe, observed }: Opened, batch: Batch) {
  const { event, build, type } = batch;
  const { eventRank } = probe;
  const stage = stageOf(probe.twist.of, "x");
  const draws = drawnShape(stage, event, type);
  const open = [null, ...event];
  const look = build(
    "look",
    (x: Tensor, t: Tensor, values: NamedTensors) => {
      const { twist } = of(values);
      const each = timesOf(x, t, eventRank);
      return {
        psi: twist.log(x, each),
        drift: stage.motion.drift(x, t),
        delta: twist.delta(x, each),
      };
    },
    [open, [], observed],
  );
  const move = build(
    "move",
    (x: Tensor, drift: Tensor, delta: Tensor, z: Tensor, t: Tensor, dt: Tensor) => {
      const h = neg(dt);
      const g = multipliedOut(stage.motion.diffusion(x, t));
      const a = applyTransposed(g, delta, eventOf(x, eventRank));
      const push = applyDiffusion(g, add(mul(z, sqrt(h)), mul(a, h)), eventOf(x, eventRank));
      const noise = (v: Tensor): Tensor => sumEvent(v, draws.length);
      return {
        next: add(add(x, mul(drift, dt)), push),
        ratio: neg(add(mul(noise(mul(z, a)), sqrt(h)), mul(noise(square(a)), mul(h, 0.5)))),
      };
    },
    [open, open, open, [null, ...draws], [], []],
  );
  const finish = build(
    "finish",
    (x: Tensor, t: Tensor, values: NamedTensors) => {
      const { twist } = of(values);
      const y = finalPoints(batch, twist.of, x, t);
      return { y, weight: twist.end ? twist.end(y) : twist.log(x, timesOf(x, t, eventRank)) };
    },
    [open, [], observed],
  );
  const noise = independentNoise(batch.options.key);
  const draw = (step: number, from: number, to: number, first: number, count: number): NdArray => ({
    shape: [count, ...draws],
    dtype: type,
    data: noise({ step, index: 0, from, to, first, count, shape: draws, dtype: type }),
  });
  return { look, move, finish, draw };
}
