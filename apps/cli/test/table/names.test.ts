/**
 * Columns that are called as what every object has, columns as the others on all ways a table
 * takes; and columns of a damaged file.
 */
import { between, product, real } from "diffeo/domain";
import { networkOf } from "diffeo/model";
import { key } from "diffeo/random";
import { parseSafetensors, serializeSafetensors } from "diffeo/train";
import { partOf } from "diffeo-queue";
import { parseTableModel, requireGiven, serializeTableModel } from "diffeo-tables";
import { expect, it } from "vitest";
import { tableFitKind } from "../../src/table/fit-parts.ts";
import { rowsKind } from "../../src/table/parts.ts";

const names = ["__proto__", "constructor", "toString"];
const by = <T>(value: T): Record<string, T> =>
  Object.fromEntries(names.map((name) => [name, value]));
const setting = { release: "1", device: "cpu" };

it("are in the parts of a fit and in the cells that parts of rows are given", () => {
  const fit = { seed: 0, given: true, network: "residual" as const, columns: by({ kind: "real" }) };
  expect(Object.entries(partOf(tableFitKind, fit, setting).parameters.columns as object)).toEqual(
    Object.entries(fit.columns),
  );
  const rows = { first: 0, count: 1, evaluations: 2, seed: 0, given: by(1) };
  expect(Object.entries(partOf(rowsKind, rows, setting).parameters.given as object)).toEqual(
    Object.entries(by(1)),
  );
});

/** The bytes of a model of the columns, as a file has them or with its spec changed. */
function model(change: (spec: string) => string = (spec) => spec): Uint8Array {
  const network = { kind: "residual", channels: 3, width: 3, blocks: 1 } as const;
  const bytes = serializeTableModel({
    domain: product({ ...by(real()), ...Object.fromEntries([["__proto__", between(0, 1)]]) }),
    standard: { mean: [0, 0, 0], matrix: [1, 0, 0, 0, 1, 0, 0, 0, 1] },
    network,
    parameters: networkOf(network).init(key("names")),
    training: { seed: 0, rows: 20, step: 5, validation: 0.5 },
  });
  const { arrays, metadata } = parseSafetensors(Buffer.concat(bytes), "f");
  return Buffer.concat(
    serializeSafetensors({ arrays, metadata: { ...metadata, spec: change(metadata.spec) } }),
  );
}

it("are not given where nobody gave them", () => {
  const read = parseTableModel(model(), "f");
  expect(read.domain.columns).toEqual(names);
  expect(requireGiven(read, {})).toEqual([undefined, undefined, undefined]);
});

it("with a domain whose numbers do not go together are a fault of the file", () => {
  const read = (): unknown =>
    parseTableModel(
      model((spec) => spec.replace('"low":0', '"low":2')),
      "a.model",
    );
  expect(read).toThrow(
    expect.objectContaining({
      kind: "data",
      message: expect.stringMatching(
        /^a\.model: the domain of "__proto__" is none \(between: 2 and 1 .* fit again\.$/,
      ),
    }),
  );
});
