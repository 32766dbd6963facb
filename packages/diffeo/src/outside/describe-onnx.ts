import type { OnnxFile } from "./onnx-file.ts";
import type { PredictionOptions } from "./prediction.ts";
import type { Ports, TimeForm } from "./wiring.ts";

const whole = (n: number): string => n.toLocaleString("en");

/** The result of the checks of a file. */
export interface Seen {
  readonly form: TimeForm | undefined;
  /** The number of rows of a run, if the file fixes it. */
  readonly rows: number | undefined;
  readonly doubt: string | undefined;
}

export function described(
  { producer, opset, irVersion, operators, parameters, types, otherOpsets }: OnnxFile,
  { x, t, output }: Ports,
  { form, rows, doubt }: Seen,
  { predicts, sde }: PredictionOptions,
): string {
  const port = ({
    name,
    type,
    sizes,
  }: {
    name: string;
    type: string;
    sizes?: readonly unknown[];
  }): string =>
    `"${name}", ${type} ` +
    `${sizes ? `[${sizes.map((d) => d ?? "any").join(", ")}]` : "of unknown shape"}`;
  const others = Object.entries(otherOpsets).map(([domain, version]) => `${domain} ${version}`);
  const read = {
    "[batch]": "one time per row",
    "[batch, 1]": "one time per row, in a column",
    "[1]": "one time for all rows",
    "[]": "one time for all rows",
  };
  return [
    `${producer || "ONNX"}: opset ${[opset, ...others].join(", ")}, IR version ${irVersion}, ` +
      `${whole(operators)} operators, ${whole(parameters)} parameters ` +
      `(${[...types].sort().join(", ")})`,
    `x: ${port(x)}`,
    t
      ? `t: ${port(t)}${form ? `, ${read[form]}` : ""}`
      : "t: none; the output does not depend on time",
    `${predicts}: ${port(output)}${predicts !== "score" && sde ? `, a score by ${sde.name}` : ""}`,
    form
      ? `checked: batches of ${rows === undefined ? "2 and 3" : `2 and 3, as runs of ${rows}`} ` +
        "agree"
      : "not checked yet, because the shape of an event is not known",
    ...(doubt === undefined ? [] : [doubt]),
  ].join("\n");
}
