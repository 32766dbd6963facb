/**
 * Rejects ONNX files with tensors in other files. A runtime would open any path that such a tensor
 * names and return its bytes as numbers, so an untrusted file could read the disk.
 *
 * The check visits every field of onnx.proto that can contain a tensor, at any depth. Protocol
 * buffers merge repeated messages, so each occurrence is checked.
 */
import { fail } from "../graph/index.ts";
import { fields, textOf } from "./wire.ts";

type Message =
  | "model"
  | "training"
  | "function"
  | "graph"
  | "node"
  | "attribute"
  | "sparse"
  | "tensor";

/** The fields of each message of onnx.proto that lead to a tensor, by their numbers. */
const leads: Readonly<Record<Message, Readonly<Record<number, Message>>>> = {
  model: { 7: "graph", 20: "training", 25: "function" },
  training: { 1: "graph", 2: "graph" },
  function: { 7: "node", 11: "attribute" },
  graph: { 1: "node", 5: "tensor", 15: "sparse" },
  node: { 5: "attribute" },
  attribute: { 5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse" },
  sparse: { 1: "tensor", 2: "tensor" },
  tensor: {},
};

/** The greatest depth of graphs in attributes of nodes; exporters write fewer levels. */
const DEEPEST = 32;

/** The fields of TensorProto: its name, the location of its numbers, and their file. */
const [NAME, EXTERNAL_DATA, DATA_LOCATION] = [8, 13, 14];

/** The letters "ORTM" at byte 4: a FlatBuffer that ONNX Runtime would read as its own format. */
const isOrtFormat = (bytes: Uint8Array): boolean =>
  bytes.length >= 8 && textOf(bytes.subarray(4, 8)) === "ORTM";

function checkTensor(bytes: Uint8Array): void {
  let [name, external] = ["", false];
  for (const { field, number, bytes: text } of fields(bytes)) {
    if (field === NAME) name = textOf(text).slice(0, 200);
    if (field === EXTERNAL_DATA || (field === DATA_LOCATION && number !== 0)) external = true;
  }
  if (external)
    fail(
      "data",
      `the ONNX file has the numbers of "${name}" in another file`,
      "export it as one file: with onnx.save(model, path, save_as_external_data=False), or " +
        "external_data=False in torch.onnx.export",
    );
}

function check(message: Message, bytes: Uint8Array, depth: number): void {
  if (message === "tensor") checkTensor(bytes);
  if (depth > DEEPEST)
    fail("data", `the ONNX file has graphs nested ${depth} levels deep`, "export it again");
  for (const { field, bytes: inner } of fields(bytes)) {
    const next = Object.hasOwn(leads[message], field) ? leads[message][field] : undefined;
    if (next) check(next, inner, next === "graph" ? depth + 1 : depth);
  }
}

/** Throws if a tensor of the file is in another file. */
export function refuseExternalData(bytes: Uint8Array): void {
  if (isOrtFormat(bytes))
    fail(
      "data",
      "the file is in ONNX Runtime's own format",
      "give the .onnx file from which it was made",
    );
  check("model", bytes, 0);
}
