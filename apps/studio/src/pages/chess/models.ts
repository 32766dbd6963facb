/** The models that are served beside the page. */
import calibration from "diffeo-models/chess.calibration.json";
import url from "diffeo-models/chess.safetensors?url";
import type { Curve } from "./aim.ts";

export interface ServedModel {
  readonly name: string;
  readonly label: string;
  readonly url: string;
  /** Which w gives how many pieces. */
  readonly calibration: Curve;
}

/** The address as a worker reads it, whose own is another. */
const served = (path: string): string => new URL(path, document.baseURI).href;

export const models: readonly ServedModel[] = [{ name: "u-net", label: "U-Net", url: served(url), calibration }];
