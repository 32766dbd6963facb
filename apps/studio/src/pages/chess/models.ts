/** The models that are served beside the page. */
import url from "diffeo-models/chess.safetensors?url";

export interface ServedModel {
  readonly name: string;
  readonly label: string;
  readonly url: string;
}

/** The address as a worker reads it, whose own is another. */
const served = (path: string): string => new URL(path, document.baseURI).href;

export const models: readonly ServedModel[] = [{ name: "u-net", label: "U-Net", url: served(url) }];
