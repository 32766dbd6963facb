/** Fitted densities on disk. */
import { readBytes, writeFileAtomic } from "diffeo/node";
import type { Fitted } from "../dkef/fitted.ts";
import {
  type DensityModel,
  type DensitySpec,
  parseDensity,
  serializeDensity,
} from "../dkef/model-bytes.ts";

/** Writes a density atomically. */
export const saveDensity = (path: string, spec: DensitySpec, fitted: Fitted): Promise<void> =>
  writeFileAtomic(path, serializeDensity(spec, fitted));

/**
 * Reads a density.
 *
 * @throws DiffeoError of kind `data` if the file is missing or damaged
 */
export const loadDensity = async (path: string): Promise<DensityModel> =>
  parseDensity(await readBytes(path), path);
