/** The model that comes with the package `diffeo-models`. */
import { createRequire } from "node:module";

export const shippedModel: string = createRequire(import.meta.url).resolve("diffeo-models/chess.safetensors");
