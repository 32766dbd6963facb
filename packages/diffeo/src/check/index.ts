/** diffeo/check: the properties that a map must have, and `checkMap`, which checks them. */
export { type CheckOptions, checkMap, type MapReport } from "./check.ts";
export type { Law, Probe } from "./law.ts";
export { laws } from "./map-laws.ts";
export { processLaws } from "./process-laws.ts";
export type { LawResult } from "./verdict.ts";
