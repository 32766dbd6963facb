/** Maps that options name, or modules that export one. */
import { existsSync } from "node:fs";
import {
  additiveLogistic,
  type Bijector,
  correlationMap,
  each,
  expMap,
  identity,
  isometricLogRatio,
  logCholesky,
  ordered,
  sigmoidMap,
  softplusMap,
  stereographic,
  stickBreaking,
  tanhMap,
  unitBall,
} from "diffeo/bijector";
import { fail, type Shape } from "diffeo/graph";
import { mapFromFile } from "./map-file.ts";

/** Maps that have no options. */
const maps: Readonly<Record<string, () => Bijector>> = {
  identity,
  expMap,
  softplusMap,
  sigmoidMap,
  tanhMap,
  additiveLogistic,
  isometricLogRatio,
  stickBreaking,
  ordered,
  unitBall,
  stereographic,
  logCholesky,
  correlationMap,
};

/** Their names. */
export const mapNames: readonly string[] = Object.keys(maps);

/**
 * A map by its name or from a module, for events of this shape. It applies to each site if the
 * shape has more axes than the map.
 */
export async function mapOf(name: string, shape: Shape): Promise<Bijector> {
  const map = Object.hasOwn(maps, name)
    ? maps[name]()
    : existsSync(name)
      ? (await mapFromFile(name, shape)).map
      : fail(
          "usage",
          `--map ${name} is neither a built-in map nor a file`,
          `give a module, or one of ${mapNames.join(", ")}`,
        );
  return shape.length > map.eventRank ? each(map, shape.length - map.eventRank) : map;
}
