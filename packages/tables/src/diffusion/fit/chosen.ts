/**
 * The maps of a fit, by the name of a choice: the usual ones of the columns, those that short
 * fits choose (`maps.ts`), or a flow after the usual ones.
 */

import type { Row } from "../encode/index.ts";
import { flowKinds } from "../network/index.ts";
import { type ChooseMapsOptions, type ChosenMaps, chooseMaps } from "./maps.ts";

/** The ways to choose maps, by name. */
export const mapChoices = ["usual", "auto", "affine-flow", "spline-flow"] as const;
/** The name of a way to choose maps. */
export type MapChoice = (typeof mapChoices)[number];

/** Where chosen maps are kept, so that a run that continues does not choose again. */
export interface MapStore {
  readonly load: () => Promise<ChosenMaps | undefined>;
  readonly save: (maps: ChosenMaps) => Promise<void>;
}

/** How maps are chosen, and where the choice is kept. */
export interface MapsForOptions extends ChooseMapsOptions {
  readonly map: MapChoice;
  /** Default: nothing is kept. */
  readonly mapStore?: MapStore;
}

/** The maps of a table's columns, by the name of a choice. */
export async function mapsFor(
  rows: readonly Row[],
  { map, mapStore, ...options }: MapsForOptions,
): Promise<ChosenMaps> {
  if (map !== "auto") {
    const flow = flowKinds.find((kind) => map === `${kind}-flow`);
    return { columns: options.columns, flow, tried: [] };
  }
  const before = await mapStore?.load();
  if (before) return before;
  const chosen = await chooseMaps(rows, options);
  await mapStore?.save(chosen);
  return chosen;
}
