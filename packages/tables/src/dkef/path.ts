/**
 * The path from a mixture q to a fitted density p̃, along which particles move: log p_β = β log p̃
 * + (1 − β) log q, as a target of two terms; and p̃ alone, for chains with the target p̃.
 */
import type { NdArray, Tensor } from "diffeo/graph";
import { openWalk, type Walk } from "diffeo/mcmc";
import { dkefLogDensity } from "diffeo/model";
import type { Fitted } from "./fitted.ts";
import { logMixture, type Mixture, type MixtureInputs, mixtureInputs } from "./mixture.ts";
import { parametersOf } from "./steps.ts";

interface Ends<T> {
  readonly theta: T;
  readonly alpha: T;
  readonly mixture: MixtureInputs<T>;
}

const vector = (data: Float32Array): NdArray => ({ shape: [data.length], dtype: "float32", data });

/**
 * Chains with target p̃ and this many leapfrog steps per transition. The chains of the path at β =
 * 1 have the same target, but would compute q needlessly.
 */
export const openDensity = ({ theta, alpha, parameters }: Fitted, leapfrog: number): Walk =>
  openWalk<Omit<Ends<Tensor>, "mixture">>(
    {
      size: parameters.inducing.shape[1],
      terms: [(x, ends) => dkefLogDensity(parametersOf(ends.theta, parameters), ends.alpha, x)],
      parameters: { theta: vector(theta), alpha: vector(Float32Array.from(alpha)) },
    },
    { leapfrog, threads: 1 },
  );

/**
 * Chains on the path, with this many leapfrog steps per transition; at β their weights are
 * `pathWeights(β)`.
 */
export function openPath(
  { theta, alpha, parameters }: Fitted,
  mixture: Mixture,
  leapfrog: number,
): Walk {
  return openWalk<Ends<Tensor>>(
    {
      size: mixture.n,
      terms: [
        (x, ends) => dkefLogDensity(parametersOf(ends.theta, parameters), ends.alpha, x),
        (x, ends) => logMixture(ends.mixture, x),
      ],
      parameters: {
        theta: vector(theta),
        alpha: vector(Float32Array.from(alpha)),
        mixture: mixtureInputs(mixture),
      },
    },
    { leapfrog, threads: 1 },
  );
}

/** β and 1 − β in the graph's float32. */
export const pathWeights = (beta: number): readonly number[] => {
  const b = Math.fround(beta);
  return [b, Math.fround(1 - b)];
};
