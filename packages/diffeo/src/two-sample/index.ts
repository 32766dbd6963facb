/**
 * diffeo/two-sample: tests of whether two sets of samples come from one distribution. All of them
 * run on arrays of the host.
 */
export { areaUnderCurve, crossFittedAuc, type RowPair } from "./classifier.ts";
export { type EnergyDistance, type EnergyOptions, energyDistance } from "./energy-distance.ts";
export { kolmogorovSmirnov } from "./kolmogorov-smirnov.ts";
