/**
 * Hamiltonian Monte Carlo on the path log p_β = β log p̃ + (1 − β) log q:
 *
 *   v ~ N(0, I);  leapfrog steps of size ε along ∇log p_β;  accept with probability min(1, e^{ΔH})
 *
 * Values and gradients of both ends stay with the particles, so that a transition costs one evaluation a leapfrog step
 * whatever β it is made at. With one leapfrog step this is the Metropolis-adjusted Langevin algorithm.
 */
import { type Compiled, compile } from "diffeo/engine";
import {
  add,
  cast,
  exp,
  expandDims,
  grad,
  less,
  minimum,
  mul,
  type NdArray,
  squaredNorm,
  sub,
  sum,
  type Tensor,
  where,
} from "diffeo/graph";
import { partsOf, stacked } from "diffeo/host";
import { logDensity } from "diffeo/model";
import { fold, type Key, normal, uniform } from "diffeo/random";
import type { Fitted } from "./fit.ts";
import { logMixture, type Mixture, type MixtureInputs, mixtureInputs, mixtureShapes } from "./mixture.ts";
import { parametersOf } from "./steps.ts";

/** Particles and what is known at them: log p̃ and log q with their gradients. */
interface Particles<T> {
  readonly x: T;
  readonly logP: T;
  readonly logQ: T;
  readonly gradP: T;
  readonly gradQ: T;
}

interface Ends<T> {
  readonly theta: T;
  readonly alpha: T;
  readonly mixture: MixtureInputs<T>;
}

export interface Walk {
  /** Particles at the given points, rows of float32. */
  start(points: Float32Array): Promise<Particles<NdArray>>;
  /** One transition at β, and the share of moves accepted. The randomness is that of `key`. */
  move(
    particles: Particles<NdArray>,
    beta: number,
    size: number,
    key: Key,
  ): Promise<{ particles: Particles<NdArray>; accepted: number }>;
  dispose(): Promise<void>;
}

/** Points a call takes, for memory grows with them. */
export const PART = 1000;

const rowsOf = (a: NdArray, from: number, to: number): NdArray => {
  const width = a.data.length / a.shape[0];
  return { ...a, shape: [to - from, ...a.shape.slice(1)], data: a.data.slice(from * width, to * width) };
};

const eachArray = <T>(of: (name: keyof Particles<T>) => T): Particles<T> => ({
  x: of("x"),
  logP: of("logP"),
  logQ: of("logQ"),
  gradP: of("gradP"),
  gradQ: of("gradQ"),
});

const joined = (parts: readonly Particles<NdArray>[]): Particles<NdArray> =>
  eachArray((name) => stacked(parts.map((part) => part[name])));

export function walkOf({ theta, alpha, parameters }: Fitted, mixture: Mixture, leapfrog: number): Walk {
  const { n } = mixture;
  const evaluate = ({ theta: t, alpha: a, mixture: m }: Ends<Tensor>, x: Tensor): Particles<Tensor> => {
    const p = parametersOf(t, parameters);
    const logP = (y: Tensor): Tensor => logDensity(p, a, y);
    const logQ = (y: Tensor): Tensor => logMixture(m, y);
    return {
      x,
      logP: logP(x),
      logQ: logQ(x),
      gradP: grad((y: Tensor) => sum(logP(y)))(x),
      gradQ: grad((y: Tensor) => sum(logQ(y)))(x),
    };
  };
  const shapes: Ends<readonly number[]> = {
    theta: [theta.length],
    alpha: [alpha.length],
    mixture: mixtureShapes(mixture),
  };
  const ends: Ends<Float32Array> = { theta, alpha: Float32Array.from(alpha), mixture: mixtureInputs(mixture) };
  const options = { threads: 1 } as const;

  const begin: Compiled<[Ends<Tensor>, Tensor], Particles<Tensor>> = compile(evaluate, [shapes, [null, n]], options);
  const transition = compile(
    (e: Ends<Tensor>, before: Particles<Tensor>, momentum: Tensor, u: Tensor, beta: Tensor, size: Tensor) => {
      const along = (p: Tensor, q: Tensor): Tensor => add(mul(p, beta), mul(q, sub(1, beta)));
      const force = ({ gradP, gradQ }: Particles<Tensor>): Tensor => along(gradP, gradQ);
      const energy = ({ logP, logQ }: Particles<Tensor>, v: Tensor): Tensor =>
        sub(along(logP, logQ), mul(squaredNorm(v), 0.5));
      const half = mul(size, 0.5);
      let now = before;
      let v = momentum;
      for (let i = 0; i < leapfrog; i++) {
        v = add(v, mul(force(now), half));
        now = evaluate(e, add(now.x, mul(v, size)));
        v = add(v, mul(force(now), half));
      }
      const accepted = less(u, exp(minimum(sub(energy(now, v), energy(before, momentum)), 0)));
      const either = (after: Tensor, first: Tensor): Tensor =>
        where(after.shape.length === 2 ? expandDims(accepted, -1) : accepted, after, first);
      return {
        particles: {
          x: either(now.x, before.x),
          logP: either(now.logP, before.logP),
          logQ: either(now.logQ, before.logQ),
          gradP: either(now.gradP, before.gradP),
          gradQ: either(now.gradQ, before.gradQ),
        },
        accepted: sum(cast(accepted, u.dtype)),
      };
    },
    [
      shapes,
      { x: [null, n], logP: [null], logQ: [null], gradP: [null, n], gradQ: [null, n] },
      [null, n],
      [null],
      [],
      [],
    ],
    options,
  );
  return {
    start: async (points) => {
      const parts: Particles<NdArray>[] = [];
      for (const [from, to] of partsOf(points.length / n, PART))
        parts.push(await begin(ends, points.slice(from * n, to * n)));
      return joined(parts);
    },
    move: async (particles, beta, size, key) => {
      const count = particles.x.shape[0];
      const momentum = normal(fold(key, "momentum"), [count, n]);
      const u = uniform(fold(key, "accept"), [count]);
      const parts: Particles<NdArray>[] = [];
      let accepted = 0;
      for (const [from, to] of partsOf(count, PART)) {
        const cut = (a: NdArray): NdArray => rowsOf(a, from, to);
        const moved = await transition(
          ends,
          eachArray((name) => cut(particles[name])),
          cut(momentum),
          cut(u),
          beta,
          size,
        );
        parts.push(moved.particles);
        accepted += moved.accepted.data[0] as number;
      }
      return { particles: joined(parts), accepted: accepted / count };
    },
    dispose: async () => {
      await begin.dispose();
      await transition.dispose();
    },
  };
}
