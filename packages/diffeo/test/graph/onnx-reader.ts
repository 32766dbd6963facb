/**
 * Reads files of the ONNX writer by the field numbers of onnx.proto, enough to check their
 * structure.
 */
import { PbfReader } from "pbf";

interface OnnxPort {
  name: string;
  type: number;
  shape: number[];
}

interface OnnxNode {
  type: string;
  domain: string;
  inputs: string[];
  outputs: string[];
}

export interface OnnxFile {
  irVersion: number;
  producer: string;
  opsets: { domain: string; version: number }[];
  nodes: OnnxNode[];
  initializers: { name: string; type: number; shape: number[]; bytes: number }[];
  inputs: OnnxPort[];
  outputs: OnnxPort[];
  metadata: Record<string, string>;
}

const readNode = (tag: number, node: OnnxNode, pbf: PbfReader): void => {
  if (tag === 1) node.inputs.push(pbf.readString());
  else if (tag === 2) node.outputs.push(pbf.readString());
  else if (tag === 4) node.type = pbf.readString();
  else if (tag === 7) node.domain = pbf.readString();
};

const readInitializer = (
  tag: number,
  tensor: OnnxFile["initializers"][number],
  pbf: PbfReader,
): void => {
  if (tag === 1) tensor.shape.push(pbf.readVarint());
  else if (tag === 2) tensor.type = pbf.readVarint();
  else if (tag === 8) tensor.name = pbf.readString();
  else if (tag === 9) tensor.bytes = pbf.readBytes().length;
};

/**
 * ValueInfo { name = 1, type = 2 { tensor = 1 { element type = 1, shape = 2 { dimension = 1 { value
 * = 1 } } } } }
 */
const readPort = (tag: number, port: OnnxPort, pbf: PbfReader): void => {
  if (tag === 1) port.name = pbf.readString();
  else if (tag === 2)
    pbf.readMessage((_, __, type) => {
      type.readMessage((field, ___, tensor) => {
        if (field === 1) port.type = tensor.readVarint();
        else if (field === 2)
          tensor.readMessage((____, _____, shape) => {
            shape.readMessage(
              (______, _______, dimension) => void port.shape.push(dimension.readVarint()),
              undefined,
            );
          }, undefined);
      }, undefined);
    }, undefined);
};

const readGraph = (tag: number, file: OnnxFile, pbf: PbfReader): void => {
  const port = (): OnnxPort => pbf.readMessage(readPort, { name: "", type: 0, shape: [] });
  if (tag === 1)
    file.nodes.push(pbf.readMessage(readNode, { type: "", domain: "", inputs: [], outputs: [] }));
  else if (tag === 5)
    file.initializers.push(
      pbf.readMessage(readInitializer, { name: "", type: 0, shape: [], bytes: 0 }),
    );
  else if (tag === 11) file.inputs.push(port());
  else if (tag === 12) file.outputs.push(port());
};

export const readOnnx = (bytes: Uint8Array): OnnxFile =>
  new PbfReader(bytes).readFields<OnnxFile>(
    (tag, file, pbf) => {
      if (tag === 1) file.irVersion = pbf.readVarint();
      else if (tag === 2) file.producer = pbf.readString();
      else if (tag === 7) pbf.readMessage(readGraph, file);
      else if (tag === 8)
        file.opsets.push(
          pbf.readMessage(
            (field, opset, inner) => {
              if (field === 1) opset.domain = inner.readString();
              else if (field === 2) opset.version = inner.readVarint();
            },
            { domain: "", version: 0 },
          ),
        );
      else if (tag === 14) {
        const pair = pbf.readMessage(
          (_, words: string[], inner) => void words.push(inner.readString()),
          [],
        );
        file.metadata[pair[0]] = pair[1];
      }
    },
    {
      irVersion: 0,
      producer: "",
      opsets: [],
      nodes: [],
      initializers: [],
      inputs: [],
      outputs: [],
      metadata: {},
    },
  );

/**
 * Everything wrong with the file's structure: names used before they exist or made twice, sizes
 * that do not add up.
 */
export function faults(file: OnnxFile): string[] {
  const found: string[] = [];
  const known = new Set<string>();
  const define = (name: string): void => {
    if (known.has(name)) found.push(`${name} is defined twice`);
    known.add(name);
  };
  const width: Readonly<Record<number, number>> = { 1: 4, 6: 4, 7: 8, 9: 1, 11: 8 };
  for (const { name } of file.inputs) define(name);
  for (const { name, type, shape, bytes } of file.initializers) {
    define(name);
    if (bytes !== shape.reduce((n, d) => n * d, width[type]))
      found.push(`${name} has ${bytes} bytes for [${shape}]`);
  }
  for (const { type, domain, inputs, outputs } of file.nodes) {
    // An optional input that is left out has no name.
    for (const name of inputs)
      if (name !== "" && !known.has(name)) found.push(`${type} uses ${name} before it exists`);
    for (const name of outputs) define(name);
    if (!file.opsets.some((o) => o.domain === domain))
      found.push(`${type} is of the domain "${domain}", not imported`);
  }
  for (const { name } of file.outputs)
    if (!known.has(name)) found.push(`nothing makes the output ${name}`);
  return found;
}
