/** Trained denoisers on disk. Their code is loaded when the first one is needed. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Model } from "../categorical/index.ts";
import type { StoredType } from "../train/index.ts";
import { readBytes, writeFileAtomic } from "./atomic.ts";

const modelBytes = () => import("../categorical/model-bytes.ts");

/** Writes a model with its errors by time. The parameters are in half precision by default. */
export const saveModel = async (
  path: string,
  model: Pick<Model, "spec" | "parameters" | "errors">,
  type: StoredType = "F16",
): Promise<void> => writeFileAtomic(path, (await modelBytes()).serializeModel(model, type));

/**
 * Reads a trained denoiser.
 *
 * @throws DiffeoError of kind `data` if the file is missing or damaged
 */
export const loadModel = async (path: string): Promise<Model> =>
  (await modelBytes()).parseModel(await readBytes(path), path);

/** An identifier of a model's file: the first twelve hexadecimal digits of its SHA-256. */
export const modelDigest = async (path: string): Promise<string> =>
  createHash("sha256")
    .update(await readFile(path))
    .digest("hex")
    .slice(0, 12);
