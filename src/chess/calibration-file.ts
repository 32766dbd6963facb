/** A calibration as a file beside its model: `chess.safetensors` has `chess.calibration.json`. */
import { readFile } from "node:fs/promises";
import { DiffeoError, fail } from "../graph/index.ts";
import { writeFileAtomic } from "../train/index.ts";
import type { Calibration, ScalePoint } from "./calibration.ts";
import { modelDigest } from "./model-file.ts";

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

function parsed(text: string): Calibration | undefined {
  try {
    const read = JSON.parse(text) as Calibration;
    const whole = ({ w, pieces, count }: ScalePoint): boolean => [w, pieces, count].every(Number.isFinite);
    const good = read.format === "diffeo-calibration-1" && read.points.length > 0 && read.points.every(whole);
    return good ? read : undefined;
  } catch {
    return undefined;
  }
}
