/** diffeo/check: `checkMap`, which checks the properties of a map. */
export { type CheckOptions, checkMap, type MapReport } from "./check.ts";
export { mapProperties } from "./map-properties.ts";
export { processProperties } from "./process-properties.ts";
export type { Probe, Property } from "./property.ts";
export type { PropertyResult } from "./verdict.ts";
