/**
 * Refuses an ONNX file whose tensors lie in other files. A runtime opens whatever path such a
 * tensor names and hands its bytes out as numbers, so a file from elsewhere could read the disk.
 *
 * The walk follows every field of onnx.proto that can hold a tensor, at any depth. Protocol buffers
 * merge messages that occur twice, so each occurrence is checked by itself.
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

/** Graphs in attributes of nodes of graphs: exporters do not write them deeper. */
const DEEPEST = 32;

/** TensorProto: its name, where its numbers lie, and in which file. */
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
      `the ONNX file keeps the numbers of "${name}" in another file`,
      "export it as one file: with onnx.save(model, path, save_as_external_data=False), or external_data=False in torch.onnx.export",
    );
}

function check(message: Message, bytes: Uint8Array, depth: number): void {
  if (message === "tensor") checkTensor(bytes);
  if (depth > DEEPEST)
    fail("data", `the ONNX file has graphs ${depth} deep in each other`, "export it again");
  for (const { field, bytes: inner } of fields(bytes)) {
    const next = Object.hasOwn(leads[message], field) ? leads[message][field] : undefined;
    if (next) check(next, inner, next === "graph" ? depth + 1 : depth);
  }
}

/** Throws where any tensor of the file lies elsewhere. */
export function refuseExternalData(bytes: Uint8Array): void {
  if (isOrtFormat(bytes))
    fail("data", "the file is in ONNX Runtime's own format", "give the .onnx file it was made of");
  check("model", bytes, 0);
}
