/** diffeo/mcmc: Markov chains that leave a log-density as it is, many of them in one graph. */
export { adaptedSize, run, type SizeRule, type WalkRunOptions } from "./adapt.ts";
export { bulkEss, rhat, summarise, tailEss } from "./diagnostics.ts";
export {
  type Chains,
  chainsAt,
  type LogDensity,
  leapfrog,
  metropolis,
  negativeEnergy,
  type Phase,
} from "./hamiltonian.ts";
export {
  chainsOf,
  elementNames,
  type InferOptions,
  // `infer` is a word of TypeScript: tools that write declarations stumble over it as a function's own name.
  inferPosterior as infer,
  type Posterior,
  type PosteriorDraws,
  type PosteriorModel,
} from "./infer.ts";
export { type NutsOptions, nuts } from "./nuts.ts";
export type { Bounded, Parameter, Values } from "./parameters.ts";
export { type Move, type Moved, openWalk, type Walk, type WalkOptions, type WalkTarget } from "./walk.ts";
export type { Chain } from "./walker.ts";
export { energyFraction } from "./warnings.ts";
