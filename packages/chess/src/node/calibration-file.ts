/** A calibration as a file beside its model: `chess.safetensors` has `chess.calibration.json`. */
import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { DiffeoError, fail } from "diffeo/graph";
import { modelDigest, writeFileAtomic } from "diffeo/node";
import type { Calibration, ScalePoint } from "../diffusion/calibration.ts";

export const calibrationPath = (model: string): string => `${model.replace(/\.safetensors$/, "")}.calibration.json`;

export const writeCalibration = (path: string, calibration: Calibration): Promise<void> =>
  writeFileAtomic(path, `${JSON.stringify(calibration, undefined, 1)}\n`);

/** The calibration of a model; an error where there is none, or where it is another model's. */
export async function readCalibration(path: string, model: string): Promise<Calibration> {
  const command = (out: string): string => `diffeo chess calibrate --model ${model} --out ${out}`;
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new DiffeoError(
      "data",
      error.code === "ENOENT" ? `there is no calibration ${path}` : `cannot read ${path} (${error.code})`,
      `make it with ${command(path)}`,
      { cause: error },
    );
  });
  const calibration = parsed(text);
  if (!calibration) fail("data", `${path} is no calibration of w`, `make one with ${command(calibrationPath(model))}`);
  const digest = await modelDigest(model);
  if (calibration.model !== digest)
    fail(
      "data",
      `${path} was made for the model ${calibration.model}, ${model} is ${digest}: another model has another curve`,
      `make its own with ${command(calibrationPath(model))}`,
    );
  return calibration;
}

const isPoint = ({ w, pieces, count }: ScalePoint): boolean =>
  [w, pieces, count].every(Number.isFinite) && w > 0 && pieces >= 0 && count > 0;

/** What decides the points of a calibration. */
export interface CalibrationSettings extends Pick<Calibration, "model" | "steps" | "seed"> {
  readonly w: readonly number[];
  readonly count: number;
  readonly batch: number;
  readonly device: string;
}

/** Where a calibration keeps its points until all are measured. */
export const partialPath = (path: string): string => `${path.replace(/\.json$/, "")}.partial.json`;

export const writePartial = (
  path: string,
  settings: CalibrationSettings,
  points: readonly ScalePoint[],
): Promise<void> => writeFileAtomic(partialPath(path), `${JSON.stringify({ settings, points }, undefined, 1)}\n`);

/** The points at the first w of a calibration that was stopped; nothing where what was kept does not fit the settings. */
export async function readPartial(path: string, settings: CalibrationSettings): Promise<ScalePoint[] | undefined> {
  const text = await readFile(partialPath(path), "utf8").catch(() => undefined);
  if (text === undefined) return [];
  try {
    const read = JSON.parse(text) as { readonly settings: CalibrationSettings; readonly points: ScalePoint[] };
    const fits = (point: ScalePoint, i: number): boolean => isPoint(point) && point.w === settings.w[i];
    return isDeepStrictEqual(read.settings, settings) && read.points.every(fits) ? read.points : undefined;
  } catch {
    return undefined;
  }
}

function parsed(text: string): Calibration | undefined {
  try {
    const read = JSON.parse(text) as Calibration;
    const good = read.format === "diffeo-calibration-1" && read.steps >= 1 && Number.isInteger(read.steps);
    return good && read.points.length > 0 && read.points.every(isPoint) ? read : undefined;
  } catch {
    return undefined;
  }
}
