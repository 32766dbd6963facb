/**
 * Encode: from cells to coordinates and back.
 *
 * In: rows of cells, and their domains.
 * Out: points z, NaN where a cell is missing; which values are atoms; the standard that maps z to x
 * of mean 0 and covariance I; and, for given and hidden cells, the directions of x that they fix.
 */
export {
  type Atoms,
  atomsOf,
  beyondFault,
  codedRanges,
  codesOf,
  EMPTY_OR_DROP,
  isBeyond,
  isCoded,
  MOST_ATOMS,
  scoreRanges,
  strangers,
} from "./atoms.ts";
export { bentParts, isBendable, withTails } from "./bend.ts";
export {
  areBins,
  type Bins,
  binCount,
  binsOfValues,
  cellFinder,
  placeIn,
  placeOfShare,
  pointIn,
  slopeIn,
} from "./bins.ts";
export { clusteredStandard } from "./clusters.ts";
export { labelFinder } from "./label-finder.ts";
export { mapRows } from "./map-rows.ts";
export { DRAWN, GIVEN, HIDDEN, type Pattern, type Patterns, patternsOf } from "./pattern.ts";
export {
  addFree,
  addKnown,
  type FreeLayout,
  freedomOf,
  freeLayoutOf,
  logVolumeOf,
  writeBasis,
  writeFree,
} from "./pattern-points.ts";
export {
  cellNoise,
  cellsOf,
  coordinateName,
  encodeRows,
  isHole,
  type OpenCell,
  partCells,
  plainSpec,
  pointsOf,
  type Row,
  tornFault,
  WHOLE_GROUPS,
} from "./points.ts";
export {
  isBlank,
  namedColumns,
  type Related,
  type RelatedColumns,
  relatedColumns,
  withParts,
} from "./related.ts";
export { resolvedCells } from "./related-resolved.ts";
export {
  allowedLabels,
  helperCells,
  openSums,
  settledCells,
  withoutIdle,
} from "./related-settled.ts";
export { drawPart, isHelped, settleStates, statesOfKnown } from "./related-states.ts";
export { dateFormatOf, type RowsOptions, rowsIn, rowsOf, wholeRows } from "./rows.ts";
export { type Site, sitesOf } from "./sites.ts";
export { type Standard, standardMap, standardSteps } from "./standard.ts";
