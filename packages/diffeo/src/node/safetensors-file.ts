/** Safetensors on disk. */
import {
  parseSafetensors,
  type StoredType,
  serializeSafetensors,
  type Tensors,
} from "../train/safetensors.ts";
import { readBytes, writeFileAtomic } from "./atomic.ts";

/**
 * Writes a safetensors file atomically.
 *
 * @param type the type of the stored numbers. Default F32
 */
export const writeSafetensors = (
  path: string,
  tensors: Tensors,
  type: StoredType = "F32",
): Promise<void> => writeFileAtomic(path, serializeSafetensors(tensors, type));

/**
 * Reads a safetensors file.
 *
 * @throws DiffeoError of kind `data` if the file is missing or damaged
 */
export const readSafetensors = async (path: string): Promise<Tensors> =>
  parseSafetensors(await readBytes(path), path);
