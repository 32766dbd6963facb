import { product } from "diffeo/domain";
import { afterAll, expect, it } from "vitest";
import { rowsIn } from "../../src/diffusion/encode/rows.ts";
import { parseTableModel, serializeTableModel } from "../../src/diffusion/file/model-bytes.ts";
import { fitTable } from "../../src/diffusion/fit/fit.ts";
import { writtenColumns, writtenRows } from "../../src/diffusion/query/write.ts";
import { inferColumns, layoutOf, namedDomains } from "../../src/diffusion/schema/infer.ts";
import { parseCells } from "../../src/table/cells.ts";

const lines = Array.from(
  { length: 40 },
  (_, i) =>
    `P-${String(i + 1).padStart(3, "0")},b,${(i % 7) + 0.5},${(4096 + 97 * i).toString(16)}`,
);
const table = parseCells(`id,site,x,code\n${lines.join("\n")}\n`, "t.csv");
const inferred = inferColumns(table);
const fitted = await fitTable(rowsIn(table, product(namedDomains(inferred))), {
  columns: namedDomains(inferred),
  layout: layoutOf(inferred),
  steps: 2,
});
const model = parseTableModel(Buffer.concat(serializeTableModel(fitted)));
afterAll(() => Promise.all([fitted.dispose(), model.dispose()]));

it("writes rows in the columns of the table, with constants and new identifiers, also from a file", async () => {
  expect(model.layout).toEqual(fitted.layout);
  expect(writtenColumns(model)).toEqual(["id", "site", "x", "code"]);
  const { rows } = await model.sample({ count: 6 });
  const written = writtenRows(model, rows, { seed: 3 });
  expect(written.map(([id]) => id)).toEqual(["P-041", "P-042", "P-043", "P-044", "P-045", "P-046"]);
  expect(written.map(([, site]) => site)).toEqual(Array(6).fill("b"));
  expect(written.map(([, , x]) => x)).toEqual(rows.map(([x]) => x));
  for (const [, , , code] of written) expect(code).toMatch(/^[0-9a-f]{4}$/);
  expect(new Set(written.map(([, , , code]) => code)).size).toBe(6);
  // Rows in parts are the same rows.
  const rest = writtenRows(model, rows.slice(2), { seed: 3, first: 2 });
  expect(rest).toEqual(written.slice(2));
});
