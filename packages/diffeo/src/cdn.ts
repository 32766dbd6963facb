/**
 * The library as one file for pages without a bundler: one module with the exports of `diffeo/web`
 * and of the other paths that run in pages. ONNX Runtime is not part of the file. It is fetched
 * when the first graph needs it, from the address in `ort-files-cdn.ts`.
 */
export { permutation } from "./bijector/index.ts";
export * from "./categorical/index.ts";
export * from "./check/index.ts";
export * from "./distribution/index.ts";
export { categorical, linear, normal, uniform } from "./distribution/index.ts";
export type { SimplexMap } from "./domain/index.ts";
export * from "./domain/index.ts";
export * from "./matching/index.ts";
export type { Parameters } from "./mcmc/index.ts";
export * from "./mcmc/index.ts";
export * from "./model/index.ts";

export * from "./random/index.ts";
export * from "./train/index.ts";
export * from "./two-sample/index.ts";
export * from "./web.ts";
export { type FloatArray, ordered, split } from "./web.ts";

import * as bijector from "./bijector/index.ts";
import * as categorical from "./categorical/index.ts";
import * as check from "./check/index.ts";
import * as distribution from "./distribution/index.ts";
import * as domain from "./domain/index.ts";
import * as engine from "./engine/index.ts";
import * as graph from "./graph/index.ts";
import * as matching from "./matching/index.ts";
import * as mcmc from "./mcmc/index.ts";
import * as model from "./model/index.ts";
import * as outside from "./outside/index.ts";
import * as random from "./random/index.ts";
import * as sampler from "./sampler/index.ts";
import * as score from "./score/index.ts";
import * as sde from "./sde/index.ts";
import * as train from "./train/index.ts";
import * as twoSample from "./two-sample/index.ts";
import * as web from "./web.ts";

/**
 * The same symbols by the path that programs with a bundler import them from. Of names that two
 * paths share, such as `ordered`, the module exports one; both are here.
 *
 * @example
 * const { ordered } = paths["diffeo/domain"];
 */
export const paths = {
  diffeo: web,
  "diffeo/bijector": bijector,
  "diffeo/categorical": categorical,
  "diffeo/check": check,
  "diffeo/distribution": distribution,
  "diffeo/domain": domain,
  "diffeo/engine": engine,
  "diffeo/graph": graph,
  "diffeo/matching": matching,
  "diffeo/mcmc": mcmc,
  "diffeo/model": model,
  "diffeo/outside": outside,
  "diffeo/random": random,
  "diffeo/sampler": sampler,
  "diffeo/score": score,
  "diffeo/sde": sde,
  "diffeo/train": train,
  "diffeo/two-sample": twoSample,
  "diffeo/web": web,
} as const;
