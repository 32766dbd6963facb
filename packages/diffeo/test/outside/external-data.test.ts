/**
 * Files with a tensor in another file: refused at every place where onnx.proto allows a tensor,
 * before a runtime can open the path.
 */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readOnnxFile } from "../../src/outside/index.ts";

const read = (name: string): Uint8Array =>
  readFileSync(new URL(`./files/${name}.onnx`, import.meta.url));

/** A field of a message: its number, wire type 2 and the bytes. */
const field = (number: number, bytes: Uint8Array): Uint8Array => {
  const tag = (number << 3) | 2;
  const length = Uint8Array.of((bytes.length & 0x7f) | 0x80, bytes.length >> 7);
  const head = tag < 0x80 ? Uint8Array.of(tag) : Uint8Array.of((tag & 0x7f) | 0x80, tag >> 7);
  return Uint8Array.of(...head, ...length, ...bytes);
};
const text = (value: string): Uint8Array => new TextEncoder().encode(value);

const named = field(8, text("lines"));
const located = Uint8Array.of(...named, (14 << 3) | 0, 1); // data_location = EXTERNAL
const pointed = Uint8Array.of(
  ...named,
  ...field(13, Uint8Array.of(...field(1, text("location")), ...field(2, text("/etc/hostname")))),
);

/**
 * The fields from ModelProto to a TensorProto. An attribute holds a tensor (5), tensors (10), or
 * sparse ones (22, 23), whose values (1) and indices (2) are tensors.
 */
const inAttribute = [[5], [10], [22, 1], [22, 2], [23, 1], [23, 2]];
const inGraph = [[5], [15, 1], [15, 2], ...inAttribute.map((path) => [1, 5, ...path])];
const places: number[][] = [
  ...inGraph.map((path) => [7, ...path]),
  ...inGraph.map((path) => [7, 1, 5, 6, ...path]), // a graph of an attribute: If, Loop
  ...inGraph.map((path) => [7, 1, 5, 11, ...path]),
  ...[1, 2].flatMap((half) => inGraph.map((path) => [20, half, ...path])), // TrainingInfoProto
  ...inAttribute.map((path) => [25, 7, 5, ...path]), // a node of a function
  ...inAttribute.map((path) => [25, 11, ...path]), // the default of its attribute
  ...inGraph.map((path) => [25, 11, 6, ...path]),
  ...inGraph.map((path) => [25, 7, 5, 11, ...path]),
];

describe("a tensor in another file is refused", () => {
  it.each(places.map((path) => [path.join(" → ")]))("at the fields %s", (name) => {
    const path = name.split(" → ").map(Number);
    for (const tensor of [located, pointed]) {
      const extra = path.reduceRight<Uint8Array>((inner, number) => field(number, inner), tensor);
      expect(() => readOnnxFile(Uint8Array.of(...read("torch-style"), ...extra))).toThrow(
        'the ONNX file has the numbers of "lines" in another file',
      );
    }
    const harmless = path.reduceRight<Uint8Array>((inner, number) => field(number, inner), named);
    expect(() => readOnnxFile(Uint8Array.of(...read("torch-style"), ...harmless))).not.toThrow(
      /another file/,
    );
  });

  it("in a place that ONNX Runtime would accept: the default of a function's attribute", () => {
    expect(() => readOnnxFile(read("function-default"))).toThrow(/numbers of "A" in another file/);
  });

  it("and so is ONNX Runtime's own format, in bytes that are valid in both formats", () => {
    // Field 2 of ModelProto (its producer), 6 bytes long: a FlatBuffer begins with an offset.
    const head = Uint8Array.of((2 << 3) | 2, 6, 0, 0, ...text("ORTM"));
    expect(() => readOnnxFile(Uint8Array.of(...head, ...read("torch-style")))).toThrow(
      /ONNX Runtime's own format/,
    );
  });
});
