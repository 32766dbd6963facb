/**
 * Fit: from rows to a model.
 *
 * In: rows of cells, their domains, and the options of training.
 * Out: an open model of the table; the maps that short fits choose; the best of several seeds.
 */

export {
  type MapChoice,
  type MapStore,
  mapChoices,
  mapsFor,
} from "./chosen.ts";
export { fitTable, refitTable } from "./fit.ts";
export { type WeightChoice, weightChoices } from "./fit-options.ts";
export type { FitTableOptions, RefitTableOptions, TableProgress } from "./fit-table-options.ts";
export { type ChooseMapsOptions, type ChosenMaps, chooseMaps, type TriedMap } from "./maps.ts";
export { chooseNetwork, type NetworkChoice } from "./network-choice.ts";
export { heldOut } from "./prepare.ts";
export {
  bestOfSeeds,
  type FitSeedsOptions,
  fitSeeds,
  isDrawnBySeed,
  type SeedsFit,
} from "./seeds.ts";
export type { TrainingOptions, TrainingProgress } from "./training-options.ts";
export { usualSteps } from "./usual-steps.ts";
