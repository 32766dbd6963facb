/** Methods by name. Every law of `test/sampler` runs over them. */
import { fail } from "../graph/index.ts";
import { predictorCorrector } from "./corrector.ts";
import { ancestral, exponential, exponentialSde } from "./exponential.ts";
import { heun, rungeKutta } from "./flow.ts";
import type { Method } from "./method.ts";
import { domainPreserving, eulerMaruyama, milstein } from "./stochastic.ts";

export const samplers = {
  domainPreserving,
  eulerMaruyama,
  milstein,
  heun,
  rungeKutta,
  predictorCorrector,
  exponential,
  exponentialSde,
  ancestral,
} as const satisfies Readonly<Record<string, () => Method>>;

export type MethodName = keyof typeof samplers;

/** A method as it is, or by its name. */
export function methodOf(method: MethodName | Method = "domainPreserving"): Method {
  if (typeof method !== "string") return method;
  if (!Object.hasOwn(samplers, method))
    fail(
      "usage",
      `there is no sampler "${method}"`,
      `use one of ${Object.keys(samplers).join(", ")}`,
    );
  return samplers[method]();
}
