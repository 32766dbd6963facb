/** Safetensors on disk. */
import {
  parseSafetensors,
  type StoredType,
  serializeSafetensors,
  type Tensors,
} from "../train/safetensors.ts";
import { readBytes, writeFileAtomic } from "./atomic.ts";

export const writeSafetensors = (
  path: string,
  tensors: Tensors,
  type: StoredType = "F32",
): Promise<void> => writeFileAtomic(path, serializeSafetensors(tensors, type));

export const readSafetensors = async (path: string): Promise<Tensors> =>
  parseSafetensors(await readBytes(path), path);
