/**
 * diffeo: scores, SDEs and samplers through smooth invertible maps. It exports maps, scores, SDEs,
 * samplers, tensors and engines, which are also separate import paths (`diffeo/graph`,
 * `diffeo/sde`, …). Everything else, such as `diffeo/mcmc` and `diffeo/train`, has only its own
 * path.
 */
export * from "./bijector/index.ts";
export * from "./engine/index.ts";
export * from "./graph/index.ts";
export * from "./outside/index.ts";
/** Counter-based random streams, as a namespace because `diffeo/graph` also exports a `split`. */
export * as random from "./random/index.ts";
export * from "./sampler/index.ts";
export * from "./score/index.ts";
export * from "./sde/index.ts";
