/** A model of a grid of one's own as a file, and files that are none. The way there and back to samples is examples/grids.ts. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ModelSpec, modelOf, standardise } from "../../src/categorical/index.ts";
import { DiffeoError } from "../../src/graph/index.ts";
import { unetInit } from "../../src/model/index.ts";
import { loadModel, saveModel } from "../../src/node/denoiser-file.ts";
import { readSafetensors, writeSafetensors } from "../../src/node/index.ts";
import { key, normal } from "../../src/random/index.ts";
import { flatten } from "../../src/train/index.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "diffeo-model-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const spec: ModelSpec = {
  encoding: standardise([0.2, 0.3, 0.5], { grid: [2, 4] }),
  parameterisation: "posterior",
  network: { channels: 2, outputs: 3, width: 8, multipliers: [1], blocks: 1, groups: 4, position: [2, 4] },
};
const weights = normal(key(1), [flatten(unetInit(key(0), spec.network)).length]).data as Float32Array;

it("gives back spec and parameters", async () => {
  const path = join(folder, "model.safetensors");
  await saveModel(path, modelOf(spec, weights), "F32");
  const model = await loadModel(path);
  expect(model.spec).toEqual(spec);
  expect(flatten(model.parameters)).toEqual(weights);
});

const { network, encoding } = spec;
it.each<[string, string | undefined, string]>([
  ["no JSON", "{", "its spec is no denoiser's"],
  ["nothing", undefined, "its spec is no denoiser's"],
  ["null", "null", "its spec is no denoiser's"],
  ["no network", JSON.stringify({ ...spec, network: undefined }), "its spec is no denoiser's"],
  ["another parameterisation", JSON.stringify({ ...spec, parameterisation: "v" }), "a network that predicts v"],
  [
    "other channels",
    JSON.stringify({ ...spec, network: { ...network, outputs: 2 } }),
    "from 2 to 2 channels for 3 classes",
  ],
  ["a sequence", JSON.stringify({ ...spec, encoding: { ...encoding, grid: [8] } }), "and a grid of two axes"],
  ["a network that cannot be", JSON.stringify({ ...spec, network: { ...network, heads: 0 } }), "a U-Net of heads 0"],
  [
    "other shapes",
    JSON.stringify({ ...spec, network: { ...network, width: 16 } }),
    "has shape [8, 32], its own settings",
  ],
])("refuses a file whose spec is %s", async (name, text, message) => {
  const path = join(folder, `${name}.safetensors`);
  await saveModel(path, modelOf(spec, weights), "F32");
  const { arrays, metadata } = await readSafetensors(path);
  const { format } = metadata;
  await writeSafetensors(path, { arrays, metadata: { format, ...(text !== undefined && { spec: text }) } });
  const loaded = loadModel(path);
  await expect(loaded).rejects.toThrow(DiffeoError);
  await expect(loaded).rejects.toThrow(message);
  await expect(loaded).rejects.toThrow(`${path}: `);
});

it("refuses parameters that are not finite, and blames the file", async () => {
  const path = join(folder, "nan.safetensors");
  await saveModel(path, modelOf(spec, weights.with(5, Number.NaN)), "F32");
  await expect(loadModel(path)).rejects.toThrow(/nan\.safetensors: array "time1\.w" holds NaN at flat position 5/);
  expect(() => modelOf(spec, weights.subarray(1))).toThrow(/numbers for a network of/);
});
