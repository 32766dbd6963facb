/** Safetensors on disk. */
import {
  makeSafetensors,
  parseSafetensors,
  type StoredType,
  type Tensors,
} from "../train/safetensors.ts";
import { readBytes, writeFileAtomic } from "./atomic.ts";

export const writeSafetensors = (
  path: string,
  tensors: Tensors,
  type: StoredType = "F32",
): Promise<void> => writeFileAtomic(path, makeSafetensors(tensors, type));

export const readSafetensors = async (path: string): Promise<Tensors> =>
  parseSafetensors(await readBytes(path), path);
