/**
 * The bytes of an ONNX model as a protocol-buffers message. Field numbers are those of onnx.proto.
 */
import { PbfWriter } from "pbf";
import { type OnnxAttribute, type OnnxModel, onnxType, type Port } from "./emitter.ts";
import type { NdArray } from "./ndarray.ts";

const OPSET = 17;
const IR_VERSION = 8;

/** A node of the file. */
export interface OnnxNode {
  readonly type: string;
  readonly domain: string;
  readonly inputs: readonly string[];
  readonly outputs: string[];
  readonly attributes: Readonly<Record<string, OnnxAttribute>>;
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

/** A graph of the file. */
export interface OnnxGraph extends Pick<OnnxModel, "inputs" | "outputs"> {
  readonly nodes: readonly OnnxNode[];
  readonly initializers: readonly { readonly name: string; readonly value: NdArray }[];
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

/** The bytes of a model file, with its metadata. */
export function modelBytes(
  graph: OnnxGraph,
  metadata: Readonly<Record<string, string>>,
): Uint8Array {
  // The buffer has the final size, because growing would copy the weights of a network repeatedly.
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
