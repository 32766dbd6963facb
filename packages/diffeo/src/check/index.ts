/** diffeo/check: the properties that a map must have, and `checkMap`, which checks them. */
export { type CheckOptions, checkMap, type MapReport } from "./check.ts";
export { mapProperties } from "./map-properties.ts";
export { processProperties } from "./process-properties.ts";
export type { Probe, Property } from "./property.ts";
export type { PropertyResult } from "./verdict.ts";
