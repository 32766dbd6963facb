/** Columns that are called as what every object has: they are columns as the others, on all ways a table takes. */
import { positive, product, real } from "diffeo/domain";
import { networkOf } from "diffeo/model";
import { key } from "diffeo/random";
import { partOf } from "diffeo-queue";
import { makeTable, parseTableModel, requireGiven } from "diffeo-tables";
import { expect, it } from "vitest";
import { tableFitKind } from "../../src/table/fit-parts.ts";
import { rowsKind } from "../../src/table/parts.ts";

const names = ["__proto__", "constructor", "toString"];
const by = <T>(value: T): Record<string, T> => Object.fromEntries(names.map((name) => [name, value]));
const setting = { release: "1", device: "cpu" };

it("are in the parts of a fit and in the cells that parts of rows are given", () => {
  const fit = { seed: 0, given: true, network: "residual" as const, columns: by({ kind: "real" }) };
  expect(Object.entries(partOf(tableFitKind, fit, setting).parameters.columns as object)).toEqual(
    Object.entries(fit.columns),
  );
  const rows = { first: 0, count: 1, evaluations: 2, seed: 0, given: by(1) };
  expect(Object.entries(partOf(rowsKind, rows, setting).parameters.given as object)).toEqual(Object.entries(by(1)));
});

it("are not given where nobody gave them", () => {
  const network = { kind: "residual", channels: 3, width: 3, blocks: 1 } as const;
  const bytes = makeTable({
    domain: product({ ...by(real()), ...Object.fromEntries([["__proto__", positive()]]) }),
    standard: { mean: [0, 0, 0], matrix: [1, 0, 0, 0, 1, 0, 0, 0, 1] },
    network,
    parameters: networkOf(network).init(key("names")),
    training: { seed: 0, rows: 20, step: 5, validation: 0.5 },
  });
  const model = parseTableModel(Buffer.concat(bytes), "f");
  expect(model.domain.columns).toEqual(names);
  expect(requireGiven(model, {})).toEqual([undefined, undefined, undefined]);
});
