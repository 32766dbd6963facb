/** The models that are served with the page. */
import transformer from "diffeo-models/chess.safetensors?url";
import small from "diffeo-models/chess-small.safetensors?url";

export interface ServedModel {
  readonly name: string;
  readonly label: string;
  readonly url: string;
}

/** The absolute address: a worker has another base address than the page. */
const served = (path: string): string => new URL(path, document.baseURI).href;

/**
 * The first one is the default: it has a third of the size and computation of the other, which
 * gives better boards.
 */
export const models: readonly ServedModel[] = [
  { name: "small", label: "Small transformer", url: served(small) },
  { name: "transformer", label: "Large transformer", url: served(transformer) },
];
