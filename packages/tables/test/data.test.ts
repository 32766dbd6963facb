/**
 * From a file to points: reading, pruning, the shuffle, whitening, and the errors of bad tables.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rightSvd } from "diffeo/host";
import { key, normal } from "diffeo/random";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { misses } from "../../diffeo/test/matching/support.ts";
import { preparedTable, uciTable } from "../src/node/datasets.ts";
import { readTable } from "../src/node/table-file.ts";
import { legacyPermutation } from "../src/table/numpy.ts";
import { prepare, prune } from "../src/table/prepare.ts";
import { generate, type SyntheticName, synthetics } from "../src/table/synthetic.ts";
import { parseTable, selectColumns, type Table, without } from "../src/table/table.ts";
import { isSynthetic, isUci } from "../src/table/uci.ts";
import { unwhitenRows, whiteningOf, whitenRows } from "../src/table/whitening.ts";

const uci = fileURLToPath(new URL("../../../../shared/data/uci", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "diffeo-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("the shuffle of NumPy's legacy generator", () => {
  it.each([
    [1599, [20, 5, 1564, 657]],
    [4898, [4357, 1513, 4025, 1380]],
    [5875, [5396, 2695, 575, 5174]],
  ])("begins with these of %i for seed 2019", (n, first) => {
    const order = legacyPermutation(2019, n);
    expect([...order.slice(0, 4)]).toEqual(first);
    expect(order.toSorted()).toEqual(Int32Array.from({ length: n }, (_, i) => i));
  });
});

describe("reading CSV", () => {
  it("accepts the usual delimiters, quotes, and files with or without headers", () => {
    const expected = [1, 2.5, -3e-5, 4];
    for (const text of [
      "a,b\n1,2.5\n-3e-005,4\n",
      '"a";"b"\r\n1;2.5\r\n-3e-5;4',
      "1\t2.5\n\n-3e-5\t4\n",
      "\ufeffa,b\n1 , 2.5\n-3e-5,4",
    ]) {
      const table = parseTable(text, "t");
      expect([...table.values]).toEqual(expected);
      expect(table.rows).toBe(2);
      expect([
        ["a", "b"],
        ["column 1", "column 2"],
      ]).toContainEqual(table.columns);
    }
    expect([...parseTable("a,b\n\u00a01\u00a0,2\t\n", "t").values]).toEqual([1, 2]);
    expect(parseTable("a b c,b\n1,2\n", "t").columns).toEqual(["a b c", "b"]);
    expect(parseTable("1 2 3\n4 5 6\n", "t").columns.length).toBe(3);
    const quoted = parseTable('"a, long, name";"b, other, name"\n1;2\n', "t");
    expect(quoted.columns).toEqual(["a, long, name", "b, other, name"]);
  });

  it("reads the first line as specified", () => {
    const years = "1990,1991\n1,2\n";
    expect(parseTable(years, "t")).toMatchObject({ rows: 2, columns: ["column 1", "column 2"] });
    expect(parseTable(years, "t", undefined, true)).toMatchObject({
      rows: 1,
      columns: ["1990", "1991"],
    });
    const mixed = parseTable("Ann,1\nBob,2\n", "t", without(["1"]), false);
    expect([mixed.rows, [...mixed.values]]).toEqual([2, [1, 2]]);
    expect(parseTable("Ann,1\nBob,2\n", "t", without(["Ann"]), true)).toMatchObject({
      rows: 1,
      columns: ["1"],
    });
    expect(() => parseTable("7,7\n1,2\n", "t", undefined, true)).toThrow(
      /two columns are named "7"/,
    );
    expect(() => parseTable("a,b\n1,2\n", "t", undefined, false)).toThrow(
      /line 1, column 1 .*"a" is not a number/,
    );
  });

  it("ignores columns that are not selected, whatever they contain", () => {
    const kept = parseTable("name,a,b\nAnn,1,2\nBob,3,4\n", "t", without(["name"]));
    expect([kept.columns, [...kept.values]]).toEqual([
      ["a", "b"],
      [1, 2, 3, 4],
    ]);
    expect([...parseTable("a,b\n1,2\n3,4\n", "t", () => [1, 0]).values]).toEqual([2, 1, 4, 3]);
  });

  it.each([
    ["x,y\n1,2\n3,oops\n", /t\.csv, line 3, column 2 \("y"\): "oops" is not a number/],
    ["x,y\n1,\n", /line 2, column 2 \("y"\): the cell is empty/],
    ["x,y\n1,2\n3\n", /line 3 has 1 cell, but there are 2 columns/],
    ["x,y\n1,2\n\n1,NaN\n", /line 4, column 2/],
    ["x,y\n1,0x10\n", /line 2, column 2 \("y"\): "0x10" is not a number/],
    [
      "1,oops\n3,4\n",
      /t\.csv, line 1, column 2: "oops" is not a number, but others .* a line of names/,
    ],
    ["x,y,x\n1,2,3\n", /t\.csv, line 1: two columns are named "x"/],
    ["x,y\n", /a header but no rows/],
    ["", /is empty/],
    ['x,y\n1,"2\n', /t\.csv: /],
  ])("names the place of the error in %j", (text, message) => {
    expect(() => parseTable(text, "t.csv")).toThrow(message);
  });

  it("names a missing file", async () => {
    await expect(readTable("/nowhere.csv")).rejects.toThrow(/nowhere\.csv \(ENOENT\)/);
  });

  it("drops columns by name and by number, and lists the existing ones in an error", () => {
    const table = parseTable("a,b,c\n1,2,3\n4,5,6\n", "t.csv");
    const kept = selectColumns(table, without(["b", "3"]));
    expect([kept.columns, [...kept.values]]).toEqual([["a"], [1, 4]]);
    expect(() => selectColumns(table, without(["d"]))).toThrow(/no column "d".*"a", "b", "c"/);
    expect(() => selectColumns(table, without(["a", "b", "c"]))).toThrow(
      /all 3 columns are dropped/,
    );
  });
});

const table = (columns: readonly string[], rows: readonly (readonly number[])[]): Table => ({
  source: "t.csv",
  columns,
  rows: rows.length,
  values: Float64Array.from(rows.flat()),
});

describe("preparing", () => {
  it("names a constant column, and reports dependent columns", () => {
    const rows = Array.from({ length: 50 }, (_, i) => [i, Math.sin(i), 3]);
    expect(() => prepare(table(["a", "b", "c"], rows), key(1))).toThrow(
      /column 3 \("c"\) is 3 in every row.*Omit the column/,
    );
    const twice = rows.map(([a, b]) => [a, b, 2 * a - b]);
    expect(() => prepare(table(["a", "b", "c"], twice), key(1))).toThrow(/linear combination/);
    expect(() => prepare(table(["a"], [[1], [2], [3]]), key(1))).toThrow(
      /3 rows cannot be divided into three sets/,
    );
    expect(() => prepare(table(["a"], [[1]]), key(1))).toThrow(
      /1 rows cannot be divided into three sets/,
    );
  });

  it("accepts columns of any units", () => {
    const rows = Array.from({ length: 50 }, (_, i) => [Math.cos(7 * i), Math.sin(i)]);
    const inUnits = (unit: number) =>
      table(
        ["a", "b"],
        rows.map(([a, b]) => [1e9 * a, unit * b]),
      );
    expect(whiteningOf(inUnits(1e-5)).logDet - whiteningOf(inUnits(1)).logDet).toBeCloseTo(
      5 * Math.LN10,
      9,
    );
    expect(() => whiteningOf(inUnits(1e-9))).toThrow(
      /differ by a factor of about 10¹⁵ or more in scale/,
    );
  });

  it("prunes the first of two columns that correlate", () => {
    const rows = Array.from({ length: 40 }, (_, i) => [
      Math.cos(7 * i),
      i,
      -3 * i + 0.01 * Math.sin(i),
    ]);
    expect(prune(table(["a", "b", "c"], rows), 0.98).columns).toEqual(["a", "c"]);
  });

  it("whitens tables whose columns differ by ten orders of magnitude, and back", () => {
    const z = normal(key(2), [400, 4], { dtype: "float64" }).data;
    const mixed = z.map((_, i) => {
      const [row, j] = [i - (i % 4), i % 4];
      return 10 ** (3 * j - 5) * (z[row + j] + 0.9 * z[row + ((j + 1) % 4)] + j);
    });
    const whole = { source: "t", columns: ["a", "b", "c", "d"], rows: 400, values: mixed };
    const map = whiteningOf(whole);
    const out = whitenRows(mixed, map);
    for (let j = 0; j < 4; j++)
      for (let k = 0; k <= j; k++) {
        let total = 0;
        for (let i = 0; i < 400; i++) total += out[4 * i + j] * out[4 * i + k];
        expect(total / 400).toBeCloseTo(j === k ? 1 : 0, 9);
      }
    unwhitenRows(out, map).forEach((v, i) => {
      expect(Math.abs(v - mixed[i])).toBeLessThan(1e-9 * 10 ** (3 * (i % 4) - 5) * 100);
    });
  });

  it("uses a tenth for the test and a tenth of the rest for validation, and adds noise once", () => {
    const rows = Array.from({ length: 1599 }, (_, i) => [i, (i * i) % 1599]);
    const quiet = prepare(table(["a", "b"], rows), key(1), { noise: 0 });
    const noisy = prepare(table(["a", "b"], rows), key(1));
    expect([quiet.train.shape[0], quiet.validation.shape[0], quiet.test.shape[0]]).toEqual([
      1296, 144, 159,
    ]);
    const gaps = (noisy.test.data as Float32Array).map(
      (v, i) => v - (quiet.test.data[i] as number),
    );
    expect(Math.sqrt(gaps.reduce((a, b) => a + b * b, 0) / gaps.length)).toBeCloseTo(0.05, 2);
  });

  it("dequantises by the median step of each column, with the run's seed", () => {
    // Steps of 1, 5 and 10, and of 1 and 2.
    const rows = Array.from({ length: 900 }, (_, i) => [[0, 1, 6, 16][i % 4], [0, 1, 3][i % 3]]);
    const of = (seed: number, options = {}) =>
      prepare(table(["a", "b"], rows), key(seed), {
        dequantise: true,
        whiten: false,
        noise: 0,
        ...options,
      }).train.data as Float32Array;
    const plain = of(0, { dequantise: false });
    const spread = of(1);
    const shares = spread.map((v, i) => (v - plain[i]) / [5, 1.5][i % 2]);
    for (const j of [0, 1]) {
      const own = shares.filter((_, i) => i % 2 === j);
      for (const side of [1, -1]) expect(Math.max(...own.map((v) => side * v))).toBeCloseTo(1, 1);
      expect(own.every((v) => Math.abs(v) <= 1)).toBe(true);
      expect(misses(own, 0)).toBeLessThan(4);
      expect(
        misses(
          own.map((v) => v * v),
          1 / 3,
        ),
      ).toBeLessThan(4);
    }
    expect(of(2)).not.toEqual(spread);
    expect(of(1)).toEqual(spread);
  });
});

it("computes singular values of all sizes", () => {
  const values = [1e8, 3, 1e-5];
  // Orthogonal columns times a rotation: A = U Σ Rᵀ.
  const [c, s] = [Math.cos(0.7), Math.sin(0.7)];
  const u = [
    [1, 1, 1],
    [1, -1, 1],
    [1, 1, -1],
    [1, -1, -1],
  ].map((row) => row.map((v) => v / 2));
  const r = [
    [c, -s, 0],
    [s, c, 0],
    [0, 0, 1],
  ];
  const a = u.flatMap((row) =>
    [0, 1, 2].map((j) => row.reduce((t, v, k) => t + v * values[k] * r[j][k], 0)),
  );
  const found = rightSvd(Float64Array.from(a), 3);
  expect(found.values[0] / 1e8).toBeCloseTo(1, 12);
  expect(found.values[1] / 3).toBeCloseTo(1, 7);
  expect(found.values[2] / 1e-5).toBeCloseTo(1, 7);
});

it("accepts only the names of its tables", () => {
  for (const name of ["constructor", "toString"])
    expect([isUci(name), isSynthetic(name)]).toEqual([false, false]);
});

it.each(Object.keys(synthetics) as SyntheticName[])(
  "generates %s, the same for the same key",
  (name) => {
    const one = generate(name, 500, key(1));
    expect(one.values).toEqual(generate(name, 500, key(1)).values);
    expect(one.values.every(Number.isFinite)).toBe(true);
    expect(prepare(one, key(1)).train.shape).toEqual([405, one.columns.length]);
  },
);

describe("a table missing in the folder", () => {
  const own = join(folder, "fetched");
  mkdirSync(own);
  const answer = (body: ConstructorParameters<typeof Response>[0], status = 200) =>
    vi.stubGlobal("fetch", async () => new Response(body, { status }));
  afterEach(() => vi.unstubAllGlobals());

  it("is neither used nor stored if its checksum is wrong", async () => {
    answer("a,b\n1,2\n");
    await expect(uciTable("red-wine", own)).rejects.toThrow(
      /has checksum \w{64} instead of \w{64}.* yourself/s,
    );
    answer(null, 404);
    await expect(uciTable("red-wine", own)).rejects.toThrow(/answered 404/);
    vi.stubGlobal("fetch", () => Promise.reject(new TypeError("fetch failed")));
    await expect(uciTable("red-wine", own)).rejects.toThrow(/cannot be reached/);
    expect(readdirSync(own)).toEqual([]);
  });

  it.runIf(existsSync(uci))("is fetched once, and read from the folder afterwards", async () => {
    answer(readFileSync(join(uci, "winequality-red.csv")));
    const table = await uciTable("red-wine", own);
    answer(null, 404);
    expect(await uciTable("red-wine", own)).toEqual(table);
    expect(table.columns).toHaveLength(11);
  });

  it("is read unchanged from the folder", async () => {
    writeFileSync(join(folder, "winequality-red.csv"), "a,b\n1,2\n");
    await expect(uciTable("red-wine", folder)).rejects.toThrow(/no column "quality"/);
  });
});

describe.runIf(existsSync(uci))("the UCI tables", () => {
  it.each([
    ["red-wine", 11, [1296, 144, 159]],
    ["white-wine", 11, [3969, 440, 489]],
    ["parkinsons", 15, [4760, 528, 587]],
  ] as const)("%s has %i coordinates", async (name, n, sizes) => {
    const { data } = await preparedTable(name, { seed: 1, folder: uci });
    expect(data.n).toBe(n);
    expect([data.train, data.validation, data.test].map((part) => part.shape[0])).toEqual(sizes);
  });

  it("lose Jitter(%), Jitter:RAP, Shimmer and Shimmer:APQ3 to pruning", async () => {
    const { columns } = await uciTable("parkinsons", uci);
    const { columns: all } = await readTable(join(uci, "parkinsons_updrs.data"));
    expect(all.slice(3).filter((name) => !columns.includes(name))).toEqual([
      "Jitter(%)",
      "Jitter:RAP",
      "Shimmer",
      "Shimmer:APQ3",
    ]);
  });
});
