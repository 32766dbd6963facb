/**
 * A model of a custom grid as a file, and files that are not models. For training and sampling see
 * examples/grids.ts.
 */
import { join } from "node:path";
import { expect, it } from "vitest";
import { testFolder } from "../../../../test/folder.ts";
import {
  freshModel,
  type ModelSpec,
  modelOf,
  parseModel,
  serializeModel,
  standardise,
} from "../../src/categorical/index.ts";
import { DiffeoError } from "../../src/graph/index.ts";
import { networkOf, parameterCount } from "../../src/model/index.ts";
import { loadModel, saveModel } from "../../src/node/denoiser-file.ts";
import { readSafetensors, writeSafetensors } from "../../src/node/index.ts";
import { key, normal } from "../../src/random/index.ts";
import { flatten, parseSafetensors, serializeSafetensors } from "../../src/train/index.ts";

const { folder } = testFolder("model");

const spec: ModelSpec = {
  encoding: standardise([0.2, 0.3, 0.5], { grid: [2, 4] }),
  parameterisation: "posterior",
  network: {
    kind: "unet",
    channels: 2,
    outputs: 3,
    width: 8,
    multipliers: [1],
    blocks: 1,
    groups: 4,
    position: [2, 4],
  },
};
const weights = normal(key(1), [parameterCount(networkOf(spec.network).shapes())])
  .data as Float32Array;

it("reads spec and parameters", async () => {
  const path = join(folder, "model.safetensors");
  await saveModel(path, modelOf(spec, weights), "F32");
  const model = await loadModel(path);
  expect(model.spec).toEqual(spec);
  expect(flatten(model.parameters)).toEqual(weights);
});

const { network, encoding } = spec;
it.each<[string, string | undefined, string]>([
  ["no JSON", "{", "its specification is not that of a denoiser"],
  ["nothing", undefined, "its specification is not that of a denoiser"],
  ["null", "null", "its specification is not that of a denoiser"],
  [
    "no network",
    JSON.stringify({ ...spec, network: undefined }),
    "its specification is not that of a denoiser",
  ],
  [
    "another parameterisation",
    JSON.stringify({ ...spec, parameterisation: "v" }),
    "the spec.parameterisation is v",
  ],
  [
    "other channels",
    JSON.stringify({ ...spec, network: { ...network, outputs: 2 } }),
    "2 input and 2 output channels for 3 classes",
  ],
  [
    "a sequence",
    JSON.stringify({ ...spec, encoding: { ...encoding, grid: [8] } }),
    "a unet cannot be applied to the grid [8]",
  ],
  [
    "a network that cannot be",
    JSON.stringify({ ...spec, network: { ...network, heads: 0 } }),
    "network.heads is 0",
  ],
  [
    "another kind of network",
    JSON.stringify({ ...spec, network: { ...network, kind: "toString" } }),
    'unknown network "toString"',
  ],
  ["another SDE", JSON.stringify({ ...spec, sde: { kind: "vp", min: -1 } }), "SDE.min is -1"],
  [
    "an SDE of another name",
    JSON.stringify({ ...spec, sde: { kind: "sub-vp" } }),
    'unknown SDE "sub-vp"',
  ],
  [
    "more than asked",
    JSON.stringify({ ...spec, network: { ...network, layers: 3 } }),
    'network has no option "layers"',
  ],
  [
    "other shapes",
    JSON.stringify({ ...spec, network: { ...network, width: 4 } }),
    "has shape [8, 32], its settings",
  ],
])("refuses a file whose spec is %s", async (name, text, message) => {
  const path = join(folder, `${name}.safetensors`);
  await saveModel(path, modelOf(spec, weights), "F32");
  const { arrays, metadata } = await readSafetensors(path);
  const { format } = metadata;
  await writeSafetensors(path, {
    arrays,
    metadata: text === undefined ? { format } : { format, spec: text },
  });
  const loaded = loadModel(path);
  await expect(loaded).rejects.toThrow(DiffeoError);
  await expect(loaded).rejects.toThrow(message);
  await expect(loaded).rejects.toThrow(`${path}: `);
});

it("reads a transformer of a sequence under another SDE", async () => {
  const sequence: ModelSpec = {
    encoding: standardise([0.5, 0.25, 0.25], { grid: [5] }),
    parameterisation: "noise",
    network: { kind: "transformer", channels: 2, grid: [5], width: 8, layers: 2, heads: 2 },
    sde: { kind: "ve", sigmaMax: 20 },
  };
  const path = join(folder, "sequence.safetensors");
  const fresh = freshModel(sequence, key(3));
  await saveModel(path, fresh, "F32");
  const model = await loadModel(path);
  expect(model.spec).toEqual(sequence);
  expect(model.denoiser.sde.name).toBe("VE");
  expect(flatten(model.parameters)).toEqual(flatten(fresh.parameters));
});

it("reads the first format, in which a network is a U-Net without a kind", async () => {
  const path = join(folder, "first.safetensors");
  await saveModel(path, modelOf(spec, weights), "F32");
  const { arrays } = await readSafetensors(path);
  const { kind: _, ...options } = network;
  const text = JSON.stringify({ ...spec, network: options });
  await writeSafetensors(path, { arrays, metadata: { format: "diffeo-denoiser-1", spec: text } });
  const model = await loadModel(path);
  expect(model.spec).toEqual(spec);
  expect(flatten(model.parameters)).toEqual(weights);
});

const transformer = {
  kind: "transformer",
  channels: 2,
  outputs: 3,
  grid: [2, 4],
  width: 8,
  layers: 1,
  heads: 1,
};
it.each<[string, object]>([
  ["10⁷ blocks", { ...network, blocks: 1e7 }],
  ["width 16,000", { ...network, width: 16_000 }],
  ["10⁵ levels", { ...network, multipliers: Array<number>(1e5).fill(1), position: undefined }],
  ["10⁹ layers", { ...transformer, layers: 1e9 }],
  ["a width that has no square", { ...transformer, width: 2 ** 52 }],
])("refuses a small file that says %s before anything is allocated", (_, claimed) => {
  const small = serializeModel(modelOf(spec, weights), "F32");
  const bytes = Buffer.concat(small);
  const { arrays } = parseSafetensors(bytes, "small");
  const text = JSON.stringify({
    ...spec,
    encoding: { ...encoding, grid: [2, 4] },
    network: claimed,
  });
  const hostile = Buffer.concat(
    serializeSafetensors({ arrays, metadata: { format: "diffeo-denoiser-2", spec: text } }),
  );
  const [before, began] = [process.memoryUsage(), performance.now()];
  expect(() => parseModel(hostile)).toThrow(DiffeoError);
  expect(performance.now() - began).toBeLessThan(500);
  const after = process.memoryUsage();
  expect(after.heapUsed + after.external - before.heapUsed - before.external).toBeLessThan(50e6);
});

it("refuses parameters that are not finite, and names the file", async () => {
  const path = join(folder, "nan.safetensors");
  await saveModel(path, modelOf(spec, weights.with(5, Number.NaN)), "F32");
  await expect(loadModel(path)).rejects.toThrow(
    /nan\.safetensors: array "time1\.w" has NaN at the flat index 5/,
  );
  expect(() => modelOf(spec, weights.subarray(1))).toThrow(/numbers are given for a network with/);
});
