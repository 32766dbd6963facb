/**
 * Writes a graph as an ONNX model: opset 17 with IR version 8, and com.microsoft if a primitive
 * needs it. The same program always gives the same bytes.
 */
import type { Emitter, OnnxAttribute, OnnxModel, Port } from "./emitter.ts";
import { fail } from "./error.ts";
import { convert, type DType, type NdArray, type Shape, sameShape } from "./ndarray.ts";
import { modelBytes, type OnnxNode } from "./onnx-message.ts";
import { bytesOf, lower } from "./simplify.ts";
import { constantValue, isInput, type Target, type Tensor } from "./tensor.ts";
import { topological } from "./topological.ts";

/**
 * Constants up to this size are written once if several nodes use them, so that two results of one
 * operator share its inputs.
 */
const SMALL = 4096;

/**
 * An array of at least this many equal entries is written as one number that the runtime repeats.
 */
const LARGE = 2 ** 16;

function isRepeated({ data }: NdArray): boolean {
  for (const v of data) if (!Object.is(v, data[0])) return false;
  return true;
}

class Writer implements Emitter {
  readonly nodes: OnnxNode[] = [];
  readonly initializers: { readonly name: string; readonly value: NdArray }[] = [];
  readonly #known = new Map<string, string>();
  readonly #several = new Map<string, OnnxNode>();
  readonly #reserved: ReadonlySet<string>;
  #next = 0;

  /** Inner values must not have the names of inputs and outputs. */
  constructor(reserved: readonly string[]) {
    this.#reserved = new Set(reserved);
  }

  #fresh(hint: string): string {
    const name = `${hint}_${this.#next++}`;
    return this.#reserved.has(name) ? this.#fresh(hint) : name;
  }

  node(
    type: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, OnnxAttribute>> = {},
    options: { readonly domain?: string; readonly output?: number } = {},
  ): string {
    const { domain = "", output } = options;
    const made = { type, domain, inputs, attributes };
    if (output === undefined) {
      const name = this.#fresh(type);
      this.nodes.push({ ...made, outputs: [name] });
      return name;
    }
    // The outputs of one node are requested one at a time.
    const key = JSON.stringify(made);
    const node = this.#several.get(key) ?? { ...made, outputs: [] };
    if (!this.#several.has(key)) this.nodes.push(node);
    this.#several.set(key, node);
    // Earlier outputs need names even if they are unused, because only optional outputs may have an
    // empty one.
    while (node.outputs.length <= output) node.outputs.push(this.#fresh(type));
    return node.outputs[output];
  }

  constant(value: NdArray): string {
    const small = value.data.length <= SMALL;
    const key = small ? `${value.dtype}|${value.shape}|${bytesOf(value)}` : "";
    const known = small ? this.#known.get(key) : undefined;
    if (known) return known;
    if (value.data.length >= LARGE && isRepeated(value)) {
      const one = this.constant({ ...value, shape: [], data: value.data.slice(0, 1) });
      return this.node("Expand", [one, this.int64(value.shape)]);
    }
    const name = this.#fresh("constant");
    this.initializers.push({ name, value });
    if (small) this.#known.set(key, name);
    return name;
  }

  int64(values: readonly number[]): string {
    return this.constant({
      shape: [values.length],
      dtype: "int64",
      data: convert(values, "int64"),
    });
  }

  scalar(value: number, dtype: DType): string {
    return this.constant({ shape: [], dtype, data: convert([value], dtype) });
  }

  reshape(name: string, from: Shape, to: Shape): string {
    return sameShape(from, to) ? name : this.node("Reshape", [name, this.int64(to)]);
  }
}

/**
 * Writes a graph as an ONNX model.
 *
 * @param outputs the results, with their names in the file
 * @param target the device whose lowerings and fusions are applied
 * @param metadata text entries of the file
 * @param inputs the first inputs of the file, in this order
 * @throws DiffeoError of kind `usage` if two inputs or outputs have the same name
 */
export function writeOnnx(
  outputs: readonly { readonly name: string; readonly tensor: Tensor }[],
  target: Target = "cpu",
  metadata: Readonly<Record<string, string>> = {},
  inputs: readonly Tensor[] = [],
): OnnxModel {
  const lowered = lower(
    outputs.map((o) => o.tensor),
    target,
  );
  return writeGraph(
    outputs.map((o, i) => ({ name: o.name, tensor: lowered[i] })),
    metadata,
    inputs,
  );
}

type Outputs = readonly { readonly name: string; readonly tensor: Tensor }[];

function writeGraph(
  outputs: Outputs,
  metadata: Readonly<Record<string, string>>,
  first: readonly Tensor[],
): OnnxModel {
  const order = topological([...first, ...outputs.map((o) => o.tensor)]);
  const inputNames = order.flatMap((node) => (isInput(node) ? [node.attributes.name] : []));
  const writer = new Writer([...inputNames, ...outputs.map((o) => o.name)]);
  const twice = outputs.find(
    (o, i) => outputs.findIndex((p) => p.name === o.name) < i || inputNames.includes(o.name),
  );
  if (twice)
    fail(
      "usage",
      `the name of output "${twice.name}" is already used`,
      "give inputs and outputs different names",
    );
  const names = new Map<Tensor, string>();
  const inputs: Port[] = [];
  for (const node of order) {
    if (isInput(node)) {
      const { name, shape, dtype } = node.attributes;
      if (inputs.some((p) => p.name === name))
        fail("usage", `two inputs have the name "${name}"`, "give every input its own name");
      inputs.push({ name, shape, dtype });
    }
    const operands = node.inputs.map((t) => names.get(t) as string);
    names.set(node, node.op.emit(node, operands, writer));
  }
  const nodes = withPublicNames(writer, outputs, names);
  const made = outputs.map(({ name, tensor: { shape, dtype } }) => ({ name, shape, dtype }));
  return {
    bytes: modelBytes(
      { nodes, initializers: writer.initializers, inputs, outputs: made },
      metadata,
    ),
    types: new Set([...names.keys()].map((t) => t.dtype)),
    nodes: nodes.length,
    inputs,
    outputs: made,
  };
}

/**
 * The writer's nodes. The node of an output gets its public name; inputs, constants and second
 * names need a copy.
 */
function withPublicNames(
  writer: Writer,
  outputs: Outputs,
  names: ReadonlyMap<Tensor, string>,
): OnnxNode[] {
  const rename = new Map<string, string>();
  for (const { name, tensor } of outputs) {
    const inner = names.get(tensor) as string;
    if (rename.has(inner) || isInput(tensor) || constantValue(tensor))
      rename.set(writer.node("Identity", [inner]), name);
    else rename.set(inner, name);
  }
  const publicName = (name: string): string => rename.get(name) ?? name;
  return writer.nodes.map((node) => ({
    ...node,
    inputs: node.inputs.map(publicName),
    outputs: node.outputs.map(publicName),
  }));
}
