/**
 * A trained denoiser as the bytes of one safetensors file: parameters by name, and its
 * specification in the metadata.
 *
 *   diffeo-denoiser-1   a U-Net under VP, its options without a `kind`
 *   diffeo-denoiser-2   any network and any SDE, both by name
 *
 * The metadata may also hold its measured errors by time.
 */
import * as v from "valibot";
import { DiffeoError, fail, isNdArray, mapTree, type NdArray } from "../graph/index.ts";
import { parseWith, whole } from "../host/named.ts";
import { type Limit, mapShapes, type Parameters, type Shaped } from "../model/index.ts";
import type { ErrorByTime } from "../sampler/index.ts";
import { parseSafetensors, type StoredType, serializeSafetensors } from "../train/index.ts";
import { assembleSafetensors } from "../train/safetensors.ts";
import { MOST_CLASSES } from "./class-array.ts";
import { type SimplexMap, simplexMaps } from "./coordinates.ts";
import { type Parameterisation, parameterisations } from "./denoiser.ts";
import { denoiserOf, type Model, type ModelSpec } from "./model.ts";

const FORMAT = "diffeo-denoiser-2";
const FIRST = "diffeo-denoiser-1";

/**
 * The bytes of a model, in parts to be written in order.
 *
 * @param type the precision of the parameters. Default F16
 */
export function serializeModel(
  { spec, parameters, errors }: Pick<Model, "spec" | "parameters" | "errors">,
  type: StoredType = "F16",
): Uint8Array[] {
  const arrays: Record<string, NdArray> = {};
  mapTree<NdArray, void>(
    parameters,
    (array, name) => {
      arrays[name] = array;
    },
    isNdArray,
  );
  const measured = errors && { errors: JSON.stringify(errors) };
  return serializeSafetensors(
    { arrays, metadata: { format: FORMAT, spec: JSON.stringify(spec), ...measured } },
    type,
  );
}

const number = v.pipe(v.number(), v.finite());

/**
 * The schema of a specification. Networks and SDEs have schemas of their own.
 */
const specSchema = v.strictObject({
  network: v.looseObject({}),
  parameterisation: v.picklist(Object.keys(parameterisations) as Parameterisation[]),
  encoding: v.strictObject({
    grid: v.pipe(v.array(whole), v.minLength(1), v.maxLength(8)),
    classes: v.pipe(v.number(), v.safeInteger(), v.minValue(2), v.maxValue(MOST_CLASSES)),
    epsilon: number,
    mean: v.pipe(v.array(number), v.maxLength(MOST_CLASSES - 1)),
    scale: number,
    map: v.optional(v.picklist(Object.keys(simplexMaps) as SimplexMap[])),
    symbols: v.optional(
      v.pipe(v.array(v.pipe(v.string(), v.maxLength(1000))), v.maxLength(MOST_CLASSES)),
    ),
  }),
  sees: v.optional(v.picklist(["points", "likelihoods"])),
  sde: v.optional(v.looseObject({})),
});

const errorsSchema = v.pipe(
  v.strictObject({
    times: v.pipe(v.array(v.pipe(number, v.gtValue(0))), v.minLength(2), v.maxLength(100_000)),
    values: v.pipe(v.array(v.pipe(number, v.minValue(0))), v.minLength(2), v.maxLength(100_000)),
  }),
  v.check(({ times, values }) => times.length === values.length, "one value per time"),
);

/** Converts a spec of the first format to the second. */
const upgraded = (format: string, spec: unknown): unknown =>
  format === FIRST && typeof spec === "object" && spec !== null && "network" in spec
    ? { ...spec, network: { kind: "unet", ...(spec.network as object) } }
    : spec;

/**
 * The specification in a file, and the shapes of its network, which may not be larger than the
 * file.
 */
function parseSpec(
  { format, spec: text }: Readonly<Record<string, string>>,
  limit: Limit,
  path: string,
): Pick<Model, "spec" | "denoiser" | "encoding"> & { shapes: Parameters<Shaped> } {
  try {
    const spec = parseWith(
      specSchema,
      upgraded(format, JSON.parse(text)),
      "the spec",
    ) as unknown as ModelSpec;
    const made = denoiserOf(spec);
    return { spec, ...made, shapes: made.denoiser.network.shapes(limit) };
  } catch (error) {
    const why = error instanceof DiffeoError ? ` (${error.message.replace(/\.$/, "")})` : "";
    throw new DiffeoError(
      "data",
      `${path}: its specification is not that of a denoiser${why}`,
      "the file is damaged or of another release; use another file",
      {
        cause: error,
      },
    );
  }
}

/**
 * Reads a model from its bytes.
 *
 * @param path the name of the model in errors
 * @throws DiffeoError of kind `data` if the bytes are not a valid model
 */
export function parseModel(bytes: Uint8Array, path = "the model"): Model {
  const { arrays, metadata } = parseSafetensors(bytes, path);
  if (metadata.format !== FORMAT && metadata.format !== FIRST)
    fail(
      "data",
      `${path} is not a denoiser of diffeo`,
      "give a file written by saveModel or by training",
    );
  const held = Object.values(arrays);
  const limit = { arrays: held.length, numbers: held.reduce((n, { data }) => n + data.length, 0) };
  const { shapes, ...rest } = parseSpec(metadata, limit, path);
  const errors = parseErrors(metadata.errors, path);
  const parameters = mapShapes(shapes, (shape, name): NdArray => {
    const array = Object.hasOwn(arrays, name) ? arrays[name] : undefined;
    if (!array || array.shape.join() !== shape.join())
      fail(
        "data",
        `${path}: ${name} has shape [${array?.shape.join(", ") ?? "nothing"}], ` +
          `its settings require [${shape.join(", ")}]`,
        "the file is damaged; use another file",
      );
    return array;
  });
  return { ...rest, parameters, ...(errors && { errors }) };
}

function parseErrors(text: string | undefined, path: string): ErrorByTime | undefined {
  if (text === undefined) return undefined;
  try {
    return parseWith(errorsSchema, JSON.parse(text), "the errors by time");
  } catch (error) {
    throw new DiffeoError(
      "data",
      `${path}: its errors by time are not valid`,
      "measure them again",
      {
        cause: error,
      },
    );
  }
}

/**
 * The bytes of the same model with other errors by time. Parameters stay the same, bit for bit.
 */
export function withErrors(
  bytes: Uint8Array,
  errors: ErrorByTime,
  path = "the model",
): Uint8Array[] {
  parseModel(bytes, path);
  const length = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
  const { __metadata__, ...entries } = JSON.parse(
    new TextDecoder().decode(bytes.subarray(8, 8 + length)),
  );
  const { checksum: _, ...metadata } = __metadata__;
  return assembleSafetensors(
    { ...metadata, errors: JSON.stringify(errors) },
    Object.entries(entries),
    [bytes.subarray(8 + length)],
  );
}
