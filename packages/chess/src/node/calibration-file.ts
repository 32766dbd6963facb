/** A calibration as a file beside its model: `chess.safetensors` has `chess.calibration.json`. */
import { existsSync } from "node:fs";
import { fail } from "diffeo/graph";
import { type JsonKind, modelDigest, parseJson, readJson, writeFileAtomic } from "diffeo/node";
import { jsonObject } from "diffeo/train";
import * as v from "valibot";
import type { Calibration, ScalePoint } from "../diffusion/calibration.ts";

export const calibrationPath = (model: string): string => `${model.replace(/\.safetensors$/, "")}.calibration.json`;

const positive = v.pipe(v.number(), v.finite(), v.gtValue(0));
const whole = v.pipe(v.number(), v.safeInteger(), v.minValue(1));
const share = v.pipe(v.number(), v.minValue(0), v.maxValue(1));

const point: v.GenericSchema<unknown, ScalePoint> = jsonObject(
  v.object({
    w: positive,
    count: whole,
    pieces: v.pipe(v.number(), v.minValue(0), v.maxValue(64)),
    sd: v.pipe(v.number(), v.minValue(0), v.maxValue(64)),
    oneKingEach: share,
    legal: share,
  }),
);

const remedy = "measure the model's own with measureScale";

const calibrationKind: JsonKind<v.GenericSchema<unknown, Calibration>> = {
  what: "calibration of w",
  remedy,
  schema: jsonObject(
    v.object({
      format: v.literal("diffeo-calibration-1"),
      model: v.string(),
      method: v.literal("domainPreserving"),
      steps: whole,
      seed: v.number(),
      points: v.pipe(v.array(point), v.minLength(1)),
    }),
  ),
};

export const writeCalibration = (path: string, calibration: Calibration): Promise<void> =>
  writeFileAtomic(path, `${JSON.stringify(calibration, undefined, 1)}\n`);

/** The calibration that a text is; `path` names its file in errors. */
export const parseCalibration = (text: string, path: string): Calibration => parseJson(text, path, calibrationKind);

/** The calibration of a model; an error where there is none, or where it is another model's. */
export async function readCalibration(path: string, model: string): Promise<Calibration> {
  const calibration = await readJson(path, calibrationKind);
  const digest = await modelDigest(model);
  if (calibration.model !== digest)
    fail(
      "data",
      `${path} was made for the model ${calibration.model}, ${model} is ${digest}: another model has another curve`,
      remedy,
    );
  return calibration;
}

/** What decides the points of a calibration. The size of a batch does not: a board does not depend on those beside it. */
interface CalibrationSettings extends Pick<Calibration, "model" | "steps" | "seed"> {
  readonly count: number;
  readonly device: string;
  readonly w: readonly number[];
}

/** Where a calibration keeps its points until all are measured. */
export const partialPath = (path: string): string => `${path.replace(/\.json$/, "")}.partial.json`;

interface Partial {
  readonly settings: CalibrationSettings;
  readonly points: readonly ScalePoint[];
}

const partialKind: JsonKind<v.GenericSchema<unknown, Partial>> = {
  what: "calibration of w that was stopped",
  remedy: "delete it to measure every w anew",
  schema: jsonObject(
    v.object({
      settings: jsonObject(
        v.object({
          model: v.string(),
          steps: whole,
          seed: v.number(),
          count: whole,
          device: v.string(),
          w: v.array(positive),
        }),
      ),
      points: v.array(point),
    }),
  ),
};

export const writePartial = (
  path: string,
  settings: CalibrationSettings,
  points: readonly ScalePoint[],
): Promise<void> => writeFileAtomic(partialPath(path), `${JSON.stringify({ settings, points }, undefined, 1)}\n`);

/** The points at the first w of a calibration that was stopped. One that was begun otherwise is an error: it took its time. */
export async function readPartial(path: string, settings: CalibrationSettings): Promise<readonly ScalePoint[]> {
  const file = partialPath(path);
  if (!existsSync(file)) return [];
  const { settings: begun, points } = await readJson(file, partialKind);
  const otherwise = (what: string, before: unknown, now: unknown): never =>
    fail(
      "usage",
      `${file} has ${points.length} measured w with ${what} ${before}, now it is ${now}`,
      `continue with the same, or delete it to measure every w anew`,
    );
  for (const name of ["model", "steps", "seed", "count", "device"] as const)
    if (begun[name] !== settings[name]) otherwise(`\`${name}\``, begun[name], settings[name]);
  // Point i is drawn with noise of its number: more w may follow, none may come before.
  points.forEach((known, i) => {
    if (known.w !== settings.w[i]) otherwise(`\`w\` number ${i + 1} being`, known.w, settings.w[i] ?? "none");
  });
  return points;
}
