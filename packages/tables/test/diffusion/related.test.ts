/**
 * Rules that tables obey: found, specified, and kept by whatever a model writes. Cells are checked
 * against the rules as one states them, not against the code that keeps them.
 */
import { category, derived, positive, product, real } from "diffeo/domain";
import { fold, key, normal, uniform } from "diffeo/random";
import { beforeAll, describe, expect, it } from "vitest";
import { relatedColumns } from "../../src/diffusion/encode/related.ts";
import { resolvedCells } from "../../src/diffusion/encode/related-resolved.ts";
import { settledCells } from "../../src/diffusion/encode/related-settled.ts";
import { rowsIn, rowsOf } from "../../src/diffusion/encode/rows.ts";
import { parseTableModel, serializeTableModel } from "../../src/diffusion/file/model-bytes.ts";
import { fitTable } from "../../src/diffusion/fit/fit.ts";
import type { TableModel } from "../../src/diffusion/query/table-model.ts";
import { writtenColumns, writtenRows } from "../../src/diffusion/query/write.ts";
import { formatRule } from "../../src/diffusion/schema/columns.ts";
import { inferColumns, layoutOf, namedDomains } from "../../src/diffusion/schema/infer.ts";
import { type CellTable, parseCells } from "../../src/table/cells.ts";

const countries: Readonly<Record<string, string>> = {
  Rome: "Italy",
  Milan: "Italy",
  Paris: "France",
  Lyon: "France",
  Oslo: "Norway",
};
const fuels: Readonly<Record<string, readonly string[]>> = {
  car: ["petrol", "electric"],
  van: ["diesel", "electric"],
  bike: ["none", "electric"],
};

const names = "town,country,ordered,shipped,net,tax,total,kind,fuel,status,paid";

/** A table that obeys a rule of each kind. */
function orders(rows: number): CellTable {
  const u = uniform(key("orders"), [rows, 8], { dtype: "float64" }).data;
  const z = normal(fold(key("orders"), 1), [rows, 2], { dtype: "float64" }).data;
  const one = <T>(all: readonly T[], v: number): T => all[Math.floor(v * all.length)];
  const lines = Array.from({ length: rows }, (_, i) => {
    const [a, b, c, d, e, f, g, h] = u.subarray(8 * i, 8 * i + 8);
    const town = one(Object.keys(countries), a * a);
    const ordered = Date.UTC(2022, 0, 1 + Math.floor(600 * b));
    const shipped = ordered + Math.floor(-6 * Math.log(c)) * 86_400_000;
    const net = Math.round(100 * Math.exp(4 + 0.6 * z[2 * i])) / 100;
    const tax = d < 0.8 ? Math.round(20 * net) / 100 : 0;
    const kind = one(Object.keys(fuels), e);
    const status = one(["open", "sent", "paid"], g);
    return [
      ...[town, countries[town]],
      ...[ordered, shipped].map((ms) => new Date(ms).toISOString().slice(0, 10)),
      ...[net, tax, Number((net + tax).toFixed(2))],
      ...[kind, one(fuels[kind], f), status],
      status === "paid" ? Math.round(net * 100 * (0.2 + 0.8 * h)) / 100 : "",
    ].join(",");
  });
  return parseCells(`${names}\n${lines.join("\n")}\n`, "orders");
}

/** How many written rows break each rule. */
function broken(columns: readonly string[], rows: readonly (readonly unknown[])[]) {
  const of = (row: readonly unknown[], name: string): string => String(row[columns.indexOf(name)]);
  const number = (row: readonly unknown[], name: string): number => Number(of(row, name));
  const count = (isBroken: (row: readonly unknown[]) => boolean): number =>
    rows.filter(isBroken).length;
  return {
    label: count((row) => countries[of(row, "town")] !== of(row, "country")),
    order: count((row) => !(of(row, "ordered") <= of(row, "shipped"))),
    sum: count(
      (row) => Math.abs(number(row, "net") + number(row, "tax") - number(row, "total")) > 1e-9,
    ),
    pair: count((row) => !fuels[of(row, "kind")]?.includes(of(row, "fuel"))),
    only: count((row) => (of(row, "paid") === "") === (of(row, "status") === "paid")),
    range: count((row) => number(row, "net") <= 0 || number(row, "tax") < 0),
  };
}

const NONE = { label: 0, order: 0, sum: 0, pair: 0, only: 0, range: 0 };

describe("rules between columns", () => {
  const table = orders(400);
  const inferred = inferColumns(table);
  const reasonOf = (name: string): string =>
    inferred.find(({ columns }) => columns[0] === name)?.reason ?? "";

  it("are found if all rows meet them, with the reason", () => {
    expect(reasonOf("country")).toBe("in all rows: each town has one country");
    expect(reasonOf("shipped")).toBe(
      "in all rows: ordered ≤ shipped; ordered and the difference are learned",
    );
    expect(reasonOf("total")).toBe("in all rows: total = net + tax");
    expect(reasonOf("fuel")).toBe(
      "in all rows: 6 of 12 combinations of kind and fuel do not occur",
    );
    expect(reasonOf("paid")).toMatch(
      /; in all rows, only where status is paid; 2\d\d of 400 cells/,
    );
  });

  it("are not found among independent columns, nor if one is only larger", () => {
    const z = normal(key(3), [300, 4], { dtype: "float64" }).data;
    const rows = Array.from({ length: 300 }, (_, i) => {
      const [a, b, c, d] = z.subarray(4 * i, 4 * i + 4);
      // The second is above the first in every row, as a hundred is above one.
      return `${a.toFixed(2)},${(100 + b).toFixed(2)},${"xyz"[i % 3]},${"pqrs"[Math.floor(2 + c) & 3]},${d > 1 ? "" : d.toFixed(2)}`;
    });
    const found = inferColumns(parseCells(`a,b,c,d,e\n${rows.join("\n")}\n`, "t"));
    expect(found.filter(({ domain }) => domain?.spec?.kind === "derived")).toEqual([]);
    expect(found).toHaveLength(5);
  });

  it("are overridden by the specified kind of a column, and can be specified", () => {
    const own = inferColumns(table, ["country=category", "shipped=date"]);
    expect(own.find(({ columns }) => columns[0] === "country")?.kind).toBe("category");
    expect(own.some(({ columns }) => columns[0] === "shipped − ordered")).toBe(false);
    const said = inferColumns(parseCells("a,b\n1,2\n3,3.5\n2,9\n4,5\n1,6\n", "t"), ["a<=b"]);
    expect(said.map(({ columns, reason }) => [columns[0], reason.slice(0, 19)])).toEqual([
      ["a", expect.any(String)],
      ["b − a", expect.any(String)],
      ["b", "as specified: a ≤ b"],
    ]);
    expect(() => inferColumns(parseCells("a,b\n1,2\n3,2.5\n9,11\n", "t"), ["a<=b"])).toThrow(
      /line 3: "b" is 2.5, which is below "a", 3/,
    );
    const strict = "a,b\n1,2\n3,5\n2,9\n4,5\n1,6\n";
    const above = inferColumns(parseCells(strict, "t"), ["a<b"]);
    expect(above.map(({ columns }) => columns[0])).toEqual(["a", "b − a", "b"]);
    expect(above[1].domain?.fault([0])).toBeDefined();
    expect(above[2].reason).toContain("as specified: a < b");
    expect(above.flatMap(({ columns, domain }) => domain && formatRule(columns, domain))).toEqual([
      "a=count",
      undefined,
      "a<b",
    ]);
    expect(() => inferColumns(parseCells("a,b\n1,2\n3,3\n9,11\n", "t"), ["a<b"])).toThrow(
      /line 3: "b" is 3, which is not above "a", 3/,
    );
    const sum = parseCells("a,b,c\n3,1,2\n5,2,4\n", "t");
    expect(() => inferColumns(sum, ["a=b+c"])).toThrow(/line 3: "a" is 5, and b \+ c is 6/);
  });

  describe("in a model", () => {
    const columns = namedDomains(inferred);
    const rows = rowsOf(table, columns);
    let model: TableModel;
    beforeAll(async () => {
      const how = { steps: 60, width: 32, blocks: 1, rate: 5e-3, threads: 1 };
      const fitted = await fitTable(rows, { columns, layout: layoutOf(inferred), ...how });
      // All that follows is of the file.
      const bytes = serializeTableModel(fitted).flatMap((part) => Array.from(part));
      model = parseTableModel(Uint8Array.from(bytes), "the file", { threads: 1 });
      await fitted.dispose();
    });

    it("hold in samples of a hardly trained network", async () => {
      const { rows: drawn } = await model.sample({ count: 300, evaluations: 10 });
      expect(writtenColumns(model)).toEqual(names.split(","));
      expect(broken(writtenColumns(model), writtenRows(model, drawn))).toEqual(NONE);
    });

    it("hold in rows by column names, with the types of the fitted rows", async () => {
      const { objects } = await model.sample({ count: 20, evaluations: 4 });
      expect(Object.keys(objects[0]).sort()).toEqual(names.split(",").sort());
      for (const row of objects) {
        expect(row.country).toBe(countries[String(row.town)]);
        expect(Number(row.total)).toBeCloseTo(Number(row.net) + Number(row.tax), 9);
      }
      const some = Array.from({ length: 30 }, (_, i) => ({
        size: i % 7 === 3 ? null : 1 + (i % 5),
        ward: "ab"[i % 2],
      }));
      const how = { columns: { size: positive(), ward: category(["a", "b"]) }, steps: 2, width: 8 };
      const typed = await fitTable(some, { ...how, blocks: 1, threads: 1 });
      const drawn = await typed.sample({ count: 2, evaluations: 2 });
      // Types: a number and a text, neither of them missing.
      const [size, ward]: [number, string] = [drawn.objects[0].size, drawn.objects[0].ward];
      expect([size, ward]).toEqual(drawn.rows[0]);
      expect(JSON.stringify(drawn)).not.toContain("objects");
      const { objects: filled } = await typed.complete([{ ward: "b" }], {
        draws: 3,
        evaluations: 2,
      });
      expect(filled[0].map((row) => row.ward)).toEqual(["b", "b", "b"]);
      await typed.dispose();
    });

    it("hold given either side of a rule, and keep the given cells", async () => {
      const shipped = Date.UTC(2022, 5, 1) / 86_400_000;
      const given = { country: "France", shipped, total: 90.5, fuel: "electric", paid: 12.5 };
      const { rows: drawn } = await model.sample({ count: 100, evaluations: 10, given });
      const [own, written] = [writtenColumns(model), writtenRows(model, drawn)];
      expect(broken(own, written)).toEqual(NONE);
      for (const row of written)
        expect(
          ["country", "shipped", "total", "fuel", "paid", "status"].map(
            (name) => row[own.indexOf(name)],
          ),
        ).toEqual(["France", "2022-06-01", 90.5, "electric", 12.5, "paid"]);
      const kinds = new Set(written.map((row) => row[own.indexOf("kind")]));
      expect(kinds.size).toBeGreaterThan(1);
    });

    it("hold in completed rows, by draws and by points", async () => {
      const { columns: all } = model.related?.domain ?? model.domain;
      const u = uniform(key("holes"), [60, all.length], { dtype: "float64" }).data;
      const holes = rows
        .slice(0, 60)
        .map((row, i) => row.map((cell, j) => (u[i * all.length + j] < 0.4 ? null : cell)));
      for (const point of [false, true]) {
        const { rows: filled } = await model.complete(holes, { evaluations: 6, point });
        const written = writtenRows(
          model,
          filled.map(([row]) => row),
        );
        expect(broken(writtenColumns(model), written)).toEqual(NONE);
      }
    });

    it("refuse contradictory cells with a sentence", async () => {
      const refused: readonly (readonly [Record<string, string | number>, RegExp])[] = [
        [
          { town: "Rome", country: "France" },
          /"country" is France, and with "town" Rome goes Italy/,
        ],
        [{ country: "Spain" }, /no row has "country" Spain/],
        [{ kind: "bike", fuel: "petrol" }, /no row has "kind" bike and "fuel" petrol together/],
        [{ net: 10, tax: 2, total: 13 }, /"total" is 13, and "net" \+ "tax" is 12/],
        [{ ordered: 19_000, shipped: 18_996 }, /"shipped" is 2022-01-04, which leaves -4 for/],
        [{ status: "open", paid: 5 }, /"paid" is 5, and a row with "status" open has none/],
      ];
      for (const [given, sentence] of refused)
        await expect(model.sample({ count: 1, given })).rejects.toThrow(sentence);
      const odd = parseCells(
        `${names}\nRome,Norway,2022-01-01,2022-01-02,1,0,1,car,petrol,open,\n`,
        "odd",
      );
      expect(() => rowsIn(odd, model.domain, { related: model.related })).toThrow(
        /odd, line 2: "country"/,
      );
    });

    it("add nothing to likelihoods: cells that follow from others have the density 1", async () => {
      const some = rows.slice(0, 5);
      const learned = some.map((row) => row.slice(0, model.domain.cells));
      const how = { evaluations: 20, spread: 1 };
      expect(await model.logLikelihood(some, how)).toEqual(await model.logLikelihood(learned, how));
      // Of a row of which a sum and one part are known the other part is known.
      const at = (name: string): number => (model.related?.domain.columns ?? []).indexOf(name);
      const [row] = some;
      const without = row.map((cell, j) => (j === at("net") ? null : cell));
      expect(await model.logLikelihood([without], how)).toEqual(
        await model.logLikelihood([row], how),
      );
    });
  });
});

describe("columns that follow from others", () => {
  const { related } = relatedColumns({
    start: real(),
    gap: positive(),
    end: derived(real(), {
      by: "sum",
      from: ["start", "gap"],
      ranges: [
        [0, 10],
        [0.5, 9],
      ],
      range: [1, 12],
    }),
    town: category(["a", "b", "c"]),
    land: derived(category(["x", "y"]), {
      by: "label",
      from: "town",
      labels: ["a", "b", "c"],
      cells: ["x", "x", "y"],
    }),
  });
  if (!related) throw new Error("there are some");

  it("are determined by the known cells", () => {
    expect(settledCells(related, [1, null, "c", 4, null])).toEqual([1, 3, "c", 4, "y"]);
    expect(settledCells(related, [null, null, null, 4, "y"])).toEqual([null, null, "c", 4, "y"]);
    expect(settledCells(related, [null, null, null, 4, "x"])).toEqual([null, null, null, 4, "x"]);
    expect(settledCells(related, [5, null, null, 4, null])).toMatch(/leaves -1 for "gap"/);
  });

  it("change samples only as far as the rules require", () => {
    const y = (town: number): number[] => [0, 0, ...[0, 1].map((k) => (k === town ? 1 : 0)), 0, 0];
    // end given: start is what the gap leaves, and the gap gives way where start is out of range.
    const given = [null, null, null, 8, null];
    expect(resolvedCells(related, given, [5, 3, "b", 0, ""], y(1))).toEqual([5, 3, "b", 8, "x"]);
    expect(resolvedCells(related, given, [5, 9, "b", 0, ""], y(1))).toEqual([0, 8, "b", 8, "x"]);
    // Nothing given: the sum stays within what was seen.
    const none = [null, null, null, null, null];
    expect(resolvedCells(related, none, [9, 6, "c", 0, ""], y(2))).toEqual([9, 3, "c", 12, "y"]);
    // A label of the given land that is nearest to what was drawn.
    const land = [null, null, null, null, "x"];
    expect(resolvedCells(related, land, [1, 2, "c", 0, ""], y(2))[2]).toMatch(/^[ab]$/);
  });

  it("must follow from single existing columns", () => {
    const end = derived(real(), { by: "sum", from: ["start", "gap"] });
    expect(() => relatedColumns({ start: real(), end })).toThrow(/follows from "gap"/);
    expect(() => derived(product({ a: real() }), { by: "sum", from: ["a"] })).toThrow(/derived/);
  });
});
