/**
 * Writes a graph as an ONNX model: opset 17 with IR version 8, plus com.microsoft where a primitive
 * needs it. Deterministic: the same program gives the same bytes. Field numbers are those of
 * onnx.proto.
 */
import { PbfWriter } from "pbf";
import {
  type Emitter,
  type OnnxAttribute,
  type OnnxModel,
  onnxType,
  type Port,
} from "./emitter.ts";
import { fail } from "./error.ts";
import { convert, type DType, type NdArray, type Shape, sameShape } from "./ndarray.ts";
import { bytesOf, lower } from "./simplify.ts";
import { constantValue, isInput, type Target, type Tensor } from "./tensor.ts";
import { topological } from "./topological.ts";

const OPSET = 17;
const IR_VERSION = 8;

/**
 * Constants up to this size are written once, however many nodes ask for them: also what asks for
 * two results of one operator.
 */
const SMALL = 4096;

/**
 * From this many entries on, an array of one number only is written as that number, which the
 * runtime repeats.
 */
const LARGE = 2 ** 16;

function isRepeated({ data }: NdArray): boolean {
  for (const v of data) if (!Object.is(v, data[0])) return false;
  return true;
}

interface OnnxNode {
  readonly type: string;
  readonly domain: string;
  readonly inputs: readonly string[];
  readonly outputs: string[];
  readonly attributes: Readonly<Record<string, OnnxAttribute>>;
}

class Writer implements Emitter {
  readonly nodes: OnnxNode[] = [];
  readonly initializers: { readonly name: string; readonly value: NdArray }[] = [];
  readonly #known = new Map<string, string>();
  readonly #several = new Map<string, OnnxNode>();
  readonly #reserved: ReadonlySet<string>;
  #next = 0;

  /** Names the caller gave to inputs and outputs are not for inner values. */
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
    // The outputs of one node are asked for one at a time.
    const key = JSON.stringify(made);
    const node = this.#several.get(key) ?? { ...made, outputs: [] };
    if (!this.#several.has(key)) this.nodes.push(node);
    this.#several.set(key, node);
    // Earlier outputs that nobody wants still need names: an empty one is allowed for optional
    // outputs alone.
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

function writeAttribute(value: OnnxAttribute, pbf: PbfWriter): void {
  const INT = 2;
  const FLOAT = 1;
  const STRING = 3;
  const INTS = 7;
  if (typeof value === "number") {
    pbf.writeVarintField(3, value);
    pbf.writeVarintField(20, INT);
  } else if (typeof value === "string") {
    pbf.writeStringField(4, value);
    pbf.writeVarintField(20, STRING);
  } else if (Array.isArray(value)) {
    for (const v of value as readonly number[]) pbf.writeVarintField(8, v);
    pbf.writeVarintField(20, INTS);
  } else {
    pbf.writeFloatField(2, (value as { float: number }).float);
    pbf.writeVarintField(20, FLOAT);
  }
}

function writeNode(node: OnnxNode, pbf: PbfWriter): void {
  for (const name of node.inputs) pbf.writeStringField(1, name);
  for (const name of node.outputs) pbf.writeStringField(2, name);
  pbf.writeStringField(3, node.outputs.at(-1) as string);
  pbf.writeStringField(4, node.type);
  for (const [name, value] of Object.entries(node.attributes))
    pbf.writeMessage(
      5,
      (_, p) => {
        p.writeStringField(1, name);
        writeAttribute(value, p);
      },
      undefined,
    );
  if (node.domain) pbf.writeStringField(7, node.domain);
}

function writeTensor({ name, value }: { name: string; value: NdArray }, pbf: PbfWriter): void {
  for (const d of value.shape) pbf.writeVarintField(1, d);
  pbf.writeVarintField(2, onnxType[value.dtype]);
  pbf.writeStringField(8, name);
  const { data } = value;
  pbf.writeBytesField(9, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
}

function writePort(port: Port, pbf: PbfWriter): void {
  pbf.writeStringField(1, port.name);
  pbf.writeMessage(
    2,
    (_, type) =>
      type.writeMessage(
        1,
        (__, tensor) => {
          tensor.writeVarintField(1, onnxType[port.dtype]);
          tensor.writeMessage(
            2,
            (___, shape) => {
              for (const d of port.shape)
                shape.writeMessage(1, (____, dim) => dim.writeVarintField(1, d), undefined);
            },
            undefined,
          );
        },
        undefined,
      ),
    undefined,
  );
}

/**
 * ONNX bytes of the graph under `outputs`. Inputs must have distinct names; output names are given.
 * `metadata` goes into the file, for whoever loads it. `inputs` come first among the file's, in
 * this order.
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
      `the name of output "${twice.name}" is taken`,
      "give inputs and outputs names of their own",
    );
  const names = new Map<Tensor, string>();
  const inputs: Port[] = [];
  for (const node of order) {
    if (isInput(node)) {
      const { name, shape, dtype } = node.attributes;
      if (inputs.some((p) => p.name === name))
        fail("usage", `two inputs are called "${name}"`, "give every input its own name");
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
    inputs,
    outputs: made,
  };
}

/**
 * The writer's nodes. An output takes its public name from the node that makes it; inputs,
 * constants and second names need a copy.
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

interface OnnxGraph extends Pick<OnnxModel, "inputs" | "outputs">, Pick<Writer, "initializers"> {
  readonly nodes: readonly OnnxNode[];
}

function writeGraphMessage(
  { nodes, initializers, inputs, outputs }: OnnxGraph,
  pbf: PbfWriter,
): void {
  for (const node of nodes) pbf.writeMessage(1, writeNode, node);
  pbf.writeStringField(2, "diffeo");
  for (const initializer of initializers) pbf.writeMessage(5, writeTensor, initializer);
  for (const port of inputs) pbf.writeMessage(11, writePort, port);
  for (const port of outputs) pbf.writeMessage(12, writePort, port);
}

function modelBytes(graph: OnnxGraph, metadata: Readonly<Record<string, string>>): Uint8Array {
  // Room for all of it: a writer that grows would copy a network's weights again and again.
  const weights = graph.initializers.reduce(
    (sum, { value }) => sum + value.data.byteLength + 256,
    0,
  );
  const pbf = new PbfWriter(new Uint8Array(weights + 256 * graph.nodes.length + 1024));
  pbf.writeVarintField(1, IR_VERSION);
  pbf.writeStringField(2, "diffeo");
  pbf.writeMessage(7, writeGraphMessage, graph);
  for (const domain of new Set(["", ...graph.nodes.map((n) => n.domain)]))
    pbf.writeMessage(
      8,
      (_, opset) => {
        if (domain) opset.writeStringField(1, domain);
        opset.writeVarintField(2, domain ? 1 : OPSET);
      },
      undefined,
    );
  for (const [name, value] of Object.entries(metadata))
    pbf.writeMessage(
      14,
      (_, entry) => {
        entry.writeStringField(1, name);
        entry.writeStringField(2, value);
      },
      undefined,
    );
  return pbf.finish();
}
