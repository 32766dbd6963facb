/**
 * diffeo: scores, SDEs and samplers through any smooth invertible map. The mathematics under one
 * roof; each folder is also a package path of its own (`diffeo/graph`, `diffeo/sde`, …), and those
 * that train or read files are only that.
 */
export * from "./bijector/index.ts";
export * from "./engine/index.ts";
export * from "./graph/index.ts";
export * from "./outside/index.ts";
/**
 * Counter-based random streams, under their own name because graph and stream both know how to
 * `split`.
 */
export * as random from "./random/index.ts";
export * from "./sampler/index.ts";
export * from "./score/index.ts";
export * from "./sde/index.ts";
