/** diffeo/check: the laws that a map must hold, and the verdict on one. */
export { type CheckOptions, checkMap, type LawResult, type MapReport } from "./check.ts";
export type { Law, Probe } from "./law.ts";
export { laws } from "./map-laws.ts";
export { processLaws } from "./process-laws.ts";
