/**
 * A model of a table as the bytes of one safetensors file: weights by name, and next to them all
 * that is needed to use them. A custom domain is a function, which no file holds: the file
 * has its name, and who reads it gives the domain again.
 */

import { type Domain, domainOf, domainSchema, type Product } from "diffeo/domain";
import { DiffeoError, fail, isNdArray, mapTree, type NdArray } from "diffeo/graph";
import { mapShapes, type NetworkSpec, networkOf } from "diffeo/model";
import { parseSafetensors, serializeSafetensors } from "diffeo/train";
import * as v from "valibot";
import {
  type Atoms,
  areBins,
  MOST_ATOMS,
  namedColumns,
  plainSpec,
  type RelatedColumns,
  relatedColumns,
} from "../encode/index.ts";
import {
  type Coordinates,
  type EngineOptions,
  type FittedTable,
  type Flow,
  flowing,
  headOf,
  numberCoordinates,
  sideSize,
  type TableBins,
  tableMap,
  type Weights,
  wordsOf,
} from "../network/index.ts";
import { openTable, type TableModel } from "../query/index.ts";
import { FORMAT, type Spec, specSchema } from "./model-spec.ts";

/** What the names of the weights of a flow and of given parts begin with. */
const FLOW = "flow/";
const GIVEN = "given/";

function named({ parameters }: Weights, prefix: string): Record<string, NdArray> {
  const arrays: Record<string, NdArray> = {};
  mapTree<NdArray, void>(
    parameters,
    (array, name) => {
      arrays[prefix + name] = array;
    },
    isNdArray,
  );
  return arrays;
}

/** What a file says of a model next to its weights. */
export function tableMetadata(model: FittedTable): {
  readonly format: string;
  readonly spec: string;
} {
  const { domain, related, standard: own, atoms = {}, flow, given, bins, layout, training } = model;
  const columns = namedColumns({ domain, related });
  const parts = Object.entries(columns).map(([name, { spec: known, kind }]) =>
    known ? { name, domain: known } : { name, own: kind },
  );
  const spec = {
    domain: { kind: "product", parts },
    standard: own,
    ...(Object.keys(atoms).length > 0 && { atoms }),
    network: model.network,
    ...(flow && { flow: flow.network }),
    ...(given && { given: given.network, givenStandard: given.standard }),
    bins,
    layout,
    training,
  };
  return { format: FORMAT, spec: JSON.stringify(spec) };
}

/** The bytes of a model, in parts to be written one after another. */
export function serializeTableModel(model: FittedTable): Uint8Array[] {
  const { flow, given } = model;
  return serializeSafetensors({
    arrays: {
      ...named(model, ""),
      ...(flow && named(flow, FLOW)),
      ...(given && named(given, GIVEN)),
    },
    metadata: tableMetadata(model),
  });
}

/** Custom domains, by the names that `fitTable` had them under. */
type OwnDomains = Readonly<Record<string, Domain>>;

/** Where a model computes, and the custom domains that its file names. */
export interface OpenTableOptions extends EngineOptions {
  readonly columns?: OwnDomains;
}

/** The domain of a part; one whose numbers do not go together is a fault of the file. */
function partIn(
  { name, domain }: { readonly name: string; readonly domain: unknown },
  path: string,
): Domain {
  try {
    return domainOf(domain);
  } catch (cause) {
    if (!(cause instanceof DiffeoError)) throw cause;
    const problem = `${path}: the domain of "${name}" is none (${cause.problem})`;
    throw new DiffeoError("data", problem, "the file is damaged; fit again", { cause });
  }
}

/** The domain of a file's spec, with custom ones. */
function domainIn({ parts }: Spec["domain"], path: string, columns: OwnDomains): RelatedColumns {
  const domains = parts.map((one): [string, Domain] => {
    if (!("own" in one)) {
      if (v.is(domainSchema, one.domain) && one.domain.kind === "product")
        fail("data", `${path}: its domain is that of no table`, "the file is damaged; fit again");
      return [one.name, partIn(one, path)];
    }
    const given = Object.hasOwn(columns, one.name) ? columns[one.name] : undefined;
    if (given?.kind !== one.own)
      fail(
        "usage",
        `${path}: "${one.name}" has a custom domain, "${one.own}", which the file does not hold`,
        `give it again as columns: { ${JSON.stringify(one.name)}: … }`,
      );
    return [one.name, given as Domain];
  });
  if (new Set(domains.map(([name]) => name)).size !== domains.length)
    fail("data", `${path}: its domain is that of no table`, "the file is damaged; fit again");
  try {
    return relatedColumns(Object.fromEntries(domains));
  } catch (cause) {
    if (!(cause instanceof DiffeoError)) throw cause;
    const problem = `${path}: its columns do not follow from each other (${cause.problem})`;
    throw new DiffeoError("data", problem, "the file is damaged; fit again", { cause });
  }
}

type Damaged = (what: string) => never;

const prefixOf = (name: string): string =>
  [FLOW, GIVEN].find((prefix) => name.startsWith(prefix)) ?? "";

/** The weights of a network that takes and gives so many numbers. */
function weightsIn(
  arrays: Readonly<Record<string, NdArray>>,
  prefix: string,
  spec: NetworkSpec,
  { channels: inputs, outputs: results }: { readonly channels: number; readonly outputs: number },
  damaged: Damaged,
): Weights {
  const own = Object.entries(arrays).filter(([name]) => prefixOf(name) === prefix);
  const numbers = own.reduce((s, [, { data }]) => s + data.length, 0);
  const { shapes, channels, outputs, requireGrid } = networkOf(spec);
  requireGrid([]);
  if (channels !== inputs || outputs !== results)
    damaged(
      `its network is one of ${channels} numbers to ${outputs}, its columns have ${inputs} ` +
        `and ${results}`,
    );
  const parameters = mapShapes(shapes({ arrays: own.length, numbers }), (shape, name) => {
    const array = Object.hasOwn(arrays, prefix + name)
      ? arrays[prefix + name]
      : damaged(`the array "${prefix + name}" is missing`);
    if (array.shape.join() !== shape.join())
      damaged(
        `${prefix + name} has shape [${array.shape.join(", ")}], its network says ` +
          `[${shape.join(", ")}]`,
      );
    return array;
  });
  return { network: spec, parameters };
}

/** The numbers that a network of masked cells takes and gives. */
function wordsIn(
  domain: Product,
  atoms: Atoms,
  bins: TableBins,
  damaged: Damaged,
): { readonly channels: number; readonly outputs: number } {
  const numbers = numberCoordinates(domain, atoms).map(String);
  if (Object.keys(bins).sort().join() !== numbers.toSorted().join())
    damaged("its bins are not those of its numbers");
  if (!Object.values(bins).every(areBins)) damaged("its bins are none");
  const { inputs, outputs } = wordsOf(domain, atoms, bins);
  return { channels: inputs, outputs };
}

/** The flow of a table: one of its numbers, all of them. */
function flowIn(
  arrays: Readonly<Record<string, NdArray>>,
  spec: NetworkSpec,
  of: Coordinates,
  damaged: Damaged,
): Flow {
  const n = of.domain.dimension;
  const flow = weightsIn(arrays, FLOW, spec, { channels: n, outputs: n }, damaged) as Flow;
  const moved = flow.network.moved ?? Array.from({ length: n }, (_, i) => i);
  if (moved.join() !== flowing(of).join()) damaged("its flow is not one of its numbers");
  return flow;
}

/** Atoms are ranges of an integer column's values, of a limited size. */
function requireAtoms(atoms: Atoms, { parts }: Product, damaged: Damaged): void {
  for (const [name, [least, most]] of Object.entries(atoms)) {
    const found = parts.find((one) => one.name === name);
    const own = found && plainSpec(found.domain);
    if (own?.kind !== "integer" || !(least < most && most - least < MOST_ATOMS))
      damaged(`its atoms of "${name}" are none`);
    if (least < (own?.least ?? least) || most > (own?.most ?? most))
      damaged(`its atoms of "${name}" are outside`);
  }
}

/** A mean of so many coordinates and a matrix of them, which has an inverse. */
function requireStandard(domain: Product, standard: Spec["standard"], damaged: Damaged): void {
  const n = domain.dimension;
  if (standard.mean.length !== n || standard.matrix.length !== n ** 2)
    damaged("its standard is not that of its columns");
  tableMap({ domain, standard });
}

const networkSpec = (found: object): NetworkSpec => found as unknown as NetworkSpec;

/** The weights of all networks of a model, each of the size that its columns need. */
function networksIn(
  arrays: Readonly<Record<string, NdArray>>,
  { network, flow, given, standard, givenStandard, atoms = {}, bins }: Spec,
  { domain, related }: RelatedColumns,
  damaged: Damaged,
): Pick<FittedTable, "network" | "parameters" | "flow" | "given"> {
  const own = { domain, standard, atoms };
  const wide = related?.domain ?? domain;
  const size = bins
    ? wordsIn(domain, atoms, bins, damaged)
    : { channels: domain.dimension, outputs: headOf(own).outputs };
  const sizeOfGiven = () => ({
    channels: wide.dimension + sideSize(wide),
    outputs: headOf({ domain: wide, standard: givenStandard ?? standard, atoms }).outputs,
  });
  return {
    ...weightsIn(arrays, "", networkSpec(network), size, damaged),
    ...(flow && { flow: flowIn(arrays, networkSpec(flow), own, damaged) }),
    ...(given && {
      given: {
        ...weightsIn(arrays, GIVEN, networkSpec(given), sizeOfGiven(), damaged),
        ...(givenStandard && { standard: givenStandard }),
      },
    }),
  };
}

/** The model that bytes hold, opened; `path` is what errors call it. */
export function parseTableModel(
  bytes: Uint8Array,
  path = "the model",
  { columns = {}, ...engine }: OpenTableOptions = {},
): TableModel {
  const { arrays, metadata } = parseSafetensors(bytes, path);
  if (metadata.format !== FORMAT)
    fail("data", `${path} is not a model of a table`, "give a file that diffeo table fit wrote");
  const damaged: Damaged = (what) =>
    fail("data", `${path}: ${what}`, "the file is damaged; fit again");
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), specSchema), metadata.spec);
  if (!parsed.success) return damaged("the settings of the model are missing or incomplete");
  const spec = parsed.output;
  const { standard, givenStandard, training, bins, layout, atoms = {} } = spec;
  const found = domainIn(spec.domain, path, columns);
  const { domain, related } = found;
  const wide = related?.domain ?? domain;
  requireAtoms(atoms, wide, damaged);
  try {
    requireStandard(domain, standard, damaged);
    if (spec.given && (givenStandard || related))
      requireStandard(wide, givenStandard ?? standard, damaged);
    const fitted = {
      domain,
      ...(related && { related }),
      standard,
      atoms,
      layout,
      training,
      ...(bins && { bins }),
      ...networksIn(arrays, spec, found, damaged),
    };
    return openTable(fitted, engine);
  } catch (error) {
    if (!(error instanceof DiffeoError) || error.kind === "data") throw error;
    const problem = error.message.replace(/\.$/, "");
    throw new DiffeoError(
      "data",
      `${path}: its standard or network is none (${problem})`,
      "fit again",
      { cause: error },
    );
  }
}
