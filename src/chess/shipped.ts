/** The model that comes with the package. */
import { fileURLToPath } from "node:url";

/** `models/chess.safetensors`, two folders up from `src/chess` as from `dist/chess`. */
export const shippedModel: string = fileURLToPath(new URL("../../models/chess.safetensors", import.meta.url));
