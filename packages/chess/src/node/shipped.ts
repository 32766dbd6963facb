/** The models of the package `diffeo-models`, by name. */
import { createRequire } from "node:module";

const { resolve } = createRequire(import.meta.url);

/** The paths of the shipped models, by name. */
export const shippedModels = {
  transformer: resolve("diffeo-models/chess.safetensors"),
  small: resolve("diffeo-models/chess-small.safetensors"),
  unet: resolve("diffeo-models/chess-unet.safetensors"),
} as const;

/** The default model. */
export const shippedModel: string = shippedModels.transformer;
