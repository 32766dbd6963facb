/** diffeo/sampler: integrators of one signature, (process, options) → samples; control; likelihood. */
import { fail } from "../graph/index.ts";
import type { Process } from "../sde/index.ts";
import { predictorCorrector } from "./corrector.ts";
import { heun, rungeKutta } from "./flow.ts";
import type { SampleOptions, SampleResult, Sampler } from "./options.ts";
import { domainPreserving, eulerMaruyama, milstein } from "./stochastic.ts";

export { clampToSimplex } from "./clamp.ts";
export { guide } from "./control.ts";
export { predictorCorrector } from "./corrector.ts";
export { type EnergyDistance, type EnergyOptions, energyDistance } from "./energy.ts";
export { heun, rungeKutta } from "./flow.ts";
export { checkedGrid, logSnr, logSnrGrid, quadraticGrid, uniformGrid } from "./grid.ts";
export { type DensityOptions, type DensityResult, logDensity } from "./likelihood.ts";
export { brownianPath, type Draw, independentNoise, type NoiseSource } from "./noise.ts";
export type { Known, KnownPoints, OnExit, Progress, SampleOptions, SampleResult, Sampler, Space } from "./options.ts";
export { domainPreserving, eulerMaruyama, milstein } from "./stochastic.ts";

/** Methods by name. Every law of `test/sampler` runs over them. */
export const samplers = {
  domainPreserving,
  eulerMaruyama,
  milstein,
  heun,
  rungeKutta,
  predictorCorrector,
} as const satisfies Record<string, Sampler>;

export type Method = keyof typeof samplers;

/** Samples of a process, by default with the domain-preserving method. */
export async function sample(
  process: Process,
  { method = "domainPreserving", ...options }: SampleOptions & { readonly method?: Method },
): Promise<SampleResult> {
  const sampler: Sampler | undefined = samplers[method];
  if (!sampler) fail("usage", `there is no sampler "${method}"`, `use one of ${Object.keys(samplers).join(", ")}`);
  return sampler(process, options);
}
