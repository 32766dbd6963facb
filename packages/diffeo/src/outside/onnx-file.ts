/**
 * The description of an ONNX file: its ports with types and sizes, its producer, and the operators
 * it needs. It is read from the protocol buffer (onnx.proto) before a runtime opens the file. Files
 * that refer to other files are rejected.
 */
import { type DType, fail } from "../graph/index.ts";
import { refuseExternalData } from "./external-data.ts";
import { fields, packedNumbers, textOf, type WireField } from "./wire.ts";

/** An input or output of a file. */
export interface FilePort {
  readonly name: string;
  /** Its element type, as ONNX names it. */
  readonly type: string;
  /** The sizes; an open size is `null` or its name in the file. Absent if the file has no shape. */
  readonly sizes?: readonly (number | string | null)[];
}

/** The description of an ONNX file: its producer, versions, inputs and outputs. */
export interface OnnxFile {
  readonly producer: string;
  readonly irVersion: number;
  /** The version of ONNX's own operator set. */
  readonly opset: number;
  readonly otherOpsets: Readonly<Record<string, number>>;
  readonly inputs: readonly FilePort[];
  readonly outputs: readonly FilePort[];
  readonly operators: number;
  /** The number of numbers in initializers. */
  readonly parameters: number;
  /** Element types of initializers and ports. */
  readonly types: ReadonlySet<string>;
}

/** ONNX's element types by number. */
const elementTypes = [
  "undefined",
  "float32",
  "uint8",
  "int8",
  "uint16",
  "int16",
  "int32",
  "int64",
  "string",
  "bool",
  "float16",
  "float64",
  "uint32",
  "uint64",
  "complex64",
  "complex128",
  "bfloat16",
];
const typeName = (n: number): string => elementTypes[n] ?? `type ${n}`;

const arrayTypes: readonly string[] = [
  "float32",
  "float64",
  "int32",
  "int64",
  "bool",
] satisfies DType[];
/** Whether arrays of this library can have the type. */
export const isArrayType = (type: string): type is DType => arrayTypes.includes(type);

/** The most axes of an array. */
const MOST_AXES = 16;

interface Found {
  operators: number;
  parameters: number;
  readonly types: Set<string>;
}

/** Reads the description of a file; throws if it is not an ONNX file. */
export function readOnnxFile(bytes: Uint8Array): OnnxFile {
  if (!(bytes instanceof Uint8Array))
    fail("type", "the ONNX file is not a Uint8Array", "pass the bytes of the file");
  if (bytes.length === 0)
    fail("data", "the ONNX file is empty", "export it again, or copy it completely");
  refuseExternalData(bytes); // and graphs that are too deep
  const found: Found = { operators: 0, parameters: 0, types: new Set() };
  let [producer, irVersion, opset] = ["", 0, 0];
  const otherOpsets: Record<string, number> = Object.create(null);
  let graph: GraphPorts | undefined;
  for (const part of fields(bytes)) {
    if (part.field === 1) irVersion = part.number;
    else if (part.field === 2) producer = `${textOf(part.bytes)}${producer && ` ${producer}`}`;
    else if (part.field === 3) producer += ` ${textOf(part.bytes)}`;
    else if (part.field === 7) {
      if (graph) fail("data", "the ONNX file has two graphs", "export it again");
      graph = readGraph(part.bytes, found);
    } else if (part.field === 8) {
      const { domain, version } = readOpset(part.bytes);
      if (domain === "" || domain === "ai.onnx") opset = version;
      else otherOpsets[domain] = version;
    } else if (part.field === 25) for (const inner of fields(part.bytes)) readNode(inner, 7, found);
  }
  if (!graph || graph.outputs.length === 0)
    fail(
      "data",
      "the file does not contain an ONNX graph with an output",
      "give the bytes of an .onnx file",
    );
  const given = new Set(graph.initializers);
  const inputs = graph.inputs.filter(({ name }) => !given.has(name));
  for (const { type } of [...inputs, ...graph.outputs]) found.types.add(type);
  return {
    producer: producer.trim(),
    irVersion,
    opset,
    otherOpsets,
    inputs,
    outputs: graph.outputs,
    ...found,
  };
}

function readOpset(bytes: Uint8Array): { domain: string; version: number } {
  let [domain, version] = ["", 0];
  for (const { field, number, bytes: text } of fields(bytes)) {
    if (field === 1) domain = textOf(text);
    if (field === 2) version = number;
  }
  return { domain, version };
}

interface GraphPorts {
  readonly inputs: FilePort[];
  readonly outputs: FilePort[];
  readonly initializers: string[];
}

function readGraph(bytes: Uint8Array, found: Found): GraphPorts {
  const graph: GraphPorts = { inputs: [], outputs: [], initializers: [] };
  for (const part of fields(bytes)) {
    readNode(part, 1, found);
    if (part.field === 5) graph.initializers.push(readTensor(part.bytes, found));
    // A sparse one: values and indices, each a tensor.
    if (part.field === 15)
      for (const { field, bytes: inner } of fields(part.bytes))
        if (field <= 2) {
          const name = readTensor(inner, found);
          if (field === 1) graph.initializers.push(name);
        }
    if (part.field === 11) graph.inputs.push(readPort(part.bytes));
    if (part.field === 12) graph.outputs.push(readPort(part.bytes));
  }
  return graph;
}

/** Counts a node, and reads the tensors and graphs of its attributes. */
function readNode({ field, bytes }: WireField, own: number, found: Found): void {
  if (field !== own) return;
  found.operators++;
  for (const part of fields(bytes)) {
    if (part.field !== 5) continue;
    for (const { field: kind, bytes: value } of fields(part.bytes)) {
      if (kind === 5 || kind === 10) readTensor(value, found);
      if (kind === 6 || kind === 11) readGraph(value, found);
      if (kind === 22 || kind === 23)
        for (const { field: half, bytes: inner } of fields(value))
          if (half <= 2) readTensor(inner, found);
    }
  }
}

/** The name of a tensor; its numbers are counted. */
function readTensor(bytes: Uint8Array, found: Found): string {
  let [name, size] = ["", 1];
  for (const part of fields(bytes)) {
    if (part.field === 1) for (const d of packedNumbers(part)) size *= d;
    if (part.field === 2) found.types.add(typeName(part.number));
    if (part.field === 8) name = textOf(part.bytes);
  }
  if (Number.isSafeInteger(size) && size > 0) found.parameters += size;
  return name;
}

/** ValueInfoProto: a name, and the type of a tensor. */
function readPort(bytes: Uint8Array): FilePort {
  let [name, type] = ["", "undefined"];
  let sizes: (number | string | null)[] | undefined;
  for (const part of fields(bytes)) {
    if (part.field === 1) name = textOf(part.bytes);
    if (part.field !== 2) continue;
    for (const { field, bytes: tensor } of fields(part.bytes)) {
      if (field !== 1) {
        if (field <= 9) type = "no tensor";
        continue;
      }
      for (const inner of fields(tensor)) {
        if (inner.field === 1) type = typeName(inner.number);
        if (inner.field === 2) sizes = readSizes(inner.bytes, name);
      }
    }
  }
  return { name, type, sizes };
}

function readSizes(bytes: Uint8Array, port: string): (number | string | null)[] {
  const sizes: (number | string | null)[] = [];
  for (const { field, bytes: dimension } of fields(bytes)) {
    if (field !== 1) continue;
    if (sizes.length === MOST_AXES)
      fail(
        "data",
        `port "${port}" of the ONNX file has more than ${MOST_AXES} axes`,
        "export it again",
      );
    let size: number | string | null = null;
    for (const part of fields(dimension)) {
      // Some exporters write an open size as 0 or −1.
      if (part.field === 1) size = part.number > 0 ? part.number : null;
      if (part.field === 2) size = textOf(part.bytes);
    }
    sizes.push(size);
  }
  return sizes;
}
