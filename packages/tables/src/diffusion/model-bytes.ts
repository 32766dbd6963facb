/** A model of a table as the bytes of one safetensors file: weights by name, and beside them all that is needed to use them. */
import { domainOf, type Product } from "diffeo/domain";
import { DiffeoError, fail, isNdArray, mapTree, type NdArray } from "diffeo/graph";
import { mapShapes, type NetworkSpec, networkOf } from "diffeo/model";
import { makeSafetensors, parseSafetensors } from "diffeo/train";
import * as v from "valibot";
import { type TableModel, tableMap } from "./model.ts";

const FORMAT = "diffeo-table-1";

const finite = v.pipe(v.number(), v.finite());
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

const specSchema = v.strictObject({
  domain: v.unknown(),
  standard: v.strictObject({ mean: v.array(finite), matrix: v.array(finite) }),
  network: v.looseObject({ kind: v.string() }),
  training: v.strictObject({ seed: count, rows: count, step: count, validation: finite }),
});

/** The bytes of a model, in parts to be written one after another. */
export function makeTable({ domain, standard, network, parameters, training }: TableModel): Uint8Array[] {
  const own = domain.parts.find((part) => !part.domain.spec);
  if (!domain.spec || own)
    fail("usage", `"${own?.name}" has a domain of one's own, which no file can hold`, "use domains of the library");
  const arrays: Record<string, NdArray> = {};
  mapTree<NdArray, void>(
    parameters,
    (array, name) => {
      arrays[name] = array;
    },
    isNdArray,
  );
  const spec = { domain: domain.spec, standard, network, training };
  return makeSafetensors({ arrays, metadata: { format: FORMAT, spec: JSON.stringify(spec) } });
}

const isProduct = (domain: object): domain is Product => "parts" in domain;

/** The model that bytes hold; `path` is what errors call it. */
export function parseTableModel(bytes: Uint8Array, path = "the model"): TableModel {
  const { arrays, metadata } = parseSafetensors(bytes, path);
  if (metadata.format !== FORMAT)
    fail("data", `${path} is no model of a table`, "give a file that diffeo table fit wrote");
  const damaged = (what: string): never => fail("data", `${path}: ${what}`, "the file is damaged; fit again");
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), specSchema), metadata.spec);
  if (!parsed.success) return damaged("the settings of the model are missing or not whole");
  const { standard, training } = parsed.output;
  const domain = domainOf(parsed.output.domain, `${path}: its domain`);
  if (!isProduct(domain)) return damaged("its domain is that of no table");
  const n = domain.dimension;
  if (standard.mean.length !== n || standard.matrix.length !== n * n)
    damaged("its standard is not that of its columns");
  const network = parsed.output.network as unknown as NetworkSpec;
  const numbers = Object.values(arrays).reduce((s, { data }) => s + data.length, 0);
  try {
    // Whether the standard has an inverse.
    tableMap({ domain, standard });
    const { shapes, channels, outputs, requireGrid } = networkOf(network);
    requireGrid([]);
    if (channels !== n || outputs !== n)
      damaged(`its network is one of ${channels} coordinates, its columns have ${n}`);
    const parameters = mapShapes(shapes({ arrays: Object.keys(arrays).length, numbers }), (shape, name) => {
      const array = Object.hasOwn(arrays, name) ? arrays[name] : damaged(`the array "${name}" is missing`);
      if (array.shape.join() !== shape.join())
        damaged(`${name} has shape [${array.shape.join(", ")}], its network says [${shape.join(", ")}]`);
      return array;
    });
    return { domain, standard, network, parameters, training };
  } catch (error) {
    if (!(error instanceof DiffeoError) || error.kind === "data") throw error;
    throw new DiffeoError(
      "data",
      `${path}: its standard or network is none (${error.message.replace(/\.$/, "")})`,
      "fit again",
      {
        cause: error,
      },
    );
  }
}
