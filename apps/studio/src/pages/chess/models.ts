/** The models that are served beside the page. */
import transformer from "diffeo-models/chess.safetensors?url";
import small from "diffeo-models/chess-small.safetensors?url";

export interface ServedModel {
  readonly name: string;
  readonly label: string;
  readonly url: string;
}

/** The address as a worker reads it, whose own is another. */
const served = (path: string): string => new URL(path, document.baseURI).href;

/**
 * The first is the one to begin with: a third of the size and of the work of the other, which makes
 * the better boards.
 */
export const models: readonly ServedModel[] = [
  { name: "small", label: "Small transformer", url: served(small) },
  { name: "transformer", label: "Large transformer", url: served(transformer) },
];
