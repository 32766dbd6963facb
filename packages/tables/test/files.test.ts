/** Tables in the forms that people have them in. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, gunzipSync, gzipSync } from "node:zlib";
import { parquetWriteBuffer } from "hyparquet-writer";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packed, parquetBytes, readCells } from "../src/node/index.ts";
import { openParquetReader } from "../src/node/parquet-reader.ts";
import { parseCells } from "../src/table/cells.ts";
import { jsonLines } from "../src/table/json.ts";
import { jsonLiteral, literalOf } from "../src/table/literal.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tables-"));
});
afterAll(() => rm(folder, { recursive: true }));

const lines = (...rows: readonly string[]): string => `${rows.join("\n")}\n`;
const many = (row: (i: number) => string, count = 30): string =>
  lines(...Array.from({ length: count }, (_, i) => row(i)));

describe("a file without a line of names", () => {
  it.each([
    ["numbers", "5.1,3.5,setosa\n4.9,3.0,setosa\n", 3],
    ["numbers and a marker of a missing value", "2,?,38.5,no\n1,3,39.2,yes\n", 4],
    ["numbers with gaps", "39,State-gov,77516,13\n50,Private,,9\n", 4],
    ["labels that occur again", many((i) => `${"ab"[i % 2]},${"xyz"[i % 3]}`), 2],
    ["one column of numbers", many((i) => String((7 * i) % 11)), 1],
  ])("is recognised by %s", (_, text, count) => {
    const { columns, rows, lines: at, isUnnamed } = parseCells(text, "t");
    expect(columns).toEqual(Array.from({ length: count }, (_, j) => `column${j + 1}`));
    expect(rows).toHaveLength(text.trim().split("\n").length);
    expect([at[0], isUnnamed]).toEqual([1, true]);
  });

  it.each([
    ["names", "size,ward\n5.1,n\n4.9,s\n"],
    ["years", "1999,2000,2001\n3,1,2\n5,4,4\n"],
    ["a name and years", "place,1999,2000\na,1,2\nb,4,4\n"],
    ["a number over labels", "1,ward\nn,s\ns,s\n"],
    ["labels below names", many((i) => (i === 0 ? "k,l" : `${"ab"[i % 2]},${"xy"[i % 2]}`))],
  ])("is distinguished from one that has %s", (_, text) => {
    const { columns, isUnnamed } = parseCells(text, "t");
    expect(columns).toEqual(text.split("\n")[0].split(","));
    expect(isUnnamed).toBeUndefined();
  });

  it("gets a name for an unnamed column, as for R's row names", () => {
    expect(parseCells('"","a"\n"1",2\n', "t").columns).toEqual(["column1", "a"]);
  });
});

describe("a file of Excel", () => {
  it("may state its separator, and have decimal commas", () => {
    const table = parseCells("sep=;\r\na;b\r\n1,5;x\r\n", "t");
    expect(table).toMatchObject({ columns: ["a", "b"], rows: [["1,5", "x"]], lines: [3] });
    expect(table.commas).toBe(true);
  });

  it("may be in UTF-16", async () => {
    const path = join(folder, "unicode.txt");
    await writeFile(path, Buffer.from("\uFEFFgröße\tward\n1,5\tn\n", "utf16le"));
    expect(await readCells(path)).toMatchObject({
      columns: ["größe", "ward"],
      rows: [["1,5", "n"]],
    });
  });
});

describe("JSON", () => {
  it("is one object per line, or a list of them; absent fields are missing values", () => {
    const wanted = {
      columns: ["a", "b", "c"],
      rows: [
        ["1.5", "x", ""],
        ["", "", "true"],
      ],
    };
    expect(parseCells('{"a":1.5,"b":"x"}\n\n{"a":null,"c":true}\n', "t")).toMatchObject({
      ...wanted,
      lines: [1, 3],
    });
    expect(parseCells('[{"a":1.5,"b":"x"},\n {"c":true}]', "t")).toMatchObject(wanted);
  });

  it("keeps the digits of numbers, which a float64 would round", () => {
    const text = '{"id":357467202448740519,"x":1.50,"t":"1\\"2","is":true}\n';
    const { columns, rows, literals } = parseCells(text, "t");
    expect(rows).toEqual([["357467202448740519", "1.50", '1"2', "true"]]);
    expect(literals).toEqual([true, true, false, true]);
    const written = rows.map((row) =>
      row.map((cell, j) => (literals?.[j] ? literalOf(cell) : cell)),
    );
    expect(jsonLines(columns, written)).toBe(text);
    expect(parseCells(`[${text}]`, "t").rows).toEqual(rows);
  });

  it("supports texts of any length, and escapes", () => {
    const long = "x".repeat(2 ** 24);
    const cells = [long, "a\\", '\\"1,"', '\\\\"', "7"];
    const text = cells.map((a) => `${JSON.stringify({ 1: a, b: 2 })}\n`).join("");
    expect(parseCells(text, "t").rows).toEqual(cells.map((a) => [a, "2"]));
  });

  it("has its columns in the order of the file, also integer names", () => {
    const { columns, rows } = parseCells('{"b":1,"2020":2}\n{"2019":"\\"c\\":3","b":4}\n', "t");
    expect(columns).toEqual(["b", "2020", "2019"]);
    expect(rows).toEqual([
      ["1", "2", ""],
      ["4", "", '"c":3'],
    ]);
  });

  it.each([
    ["+5", "5"],
    [".5", "0.5"],
    ["5.", "5"],
    ["-007.10e+3", "-7.10e+3"],
    ["+357467202448740519", "357467202448740519"],
    ["-0", "-0"],
    ["000", "0"],
  ])("has %s as %s", (text, wanted) => {
    expect(jsonLiteral({ text })).toBe(wanted);
    expect(Number(JSON.parse(wanted))).toBe(Number(text));
  });

  it("is read back as written", () => {
    const text = jsonLines(
      ["a", "b"],
      [
        [0.1, "x"],
        ["", 'say "hi"'],
      ],
    );
    expect(parseCells(text, "t")).toMatchObject({
      columns: ["a", "b"],
      rows: [
        ["0.1", "x"],
        ["", 'say "hi"'],
      ],
    });
  });

  it.each([
    ['{"a":1}\n{"a":\n', "t, line 2 is not JSON. Give one object per line."],
    ['{"a":[1]}\n', 't, line 1, "a": a list or an object'],
    ['{"a":1}\n[2]\n', "t, line 2 is not an object"],
  ])("is refused if it is not a table: %s", (text, message) => {
    expect(() => parseCells(text, "t")).toThrow(message);
  });
});

describe("Parquet", () => {
  it("is read back as written: integers, numbers, texts and missing values", async () => {
    const columns = ["n", "x", "k"];
    const rows = [
      [3, 0.1, "a"],
      [-7, "", "b,c"],
      [9007199254740991, -2.5e-9, ""],
    ];
    const path = join(folder, "rows.parquet");
    await writeFile(path, await parquetBytes(columns, rows));
    expect(await readCells(path)).toMatchObject({
      columns,
      rows: rows.map((row) => row.map(String)),
      lines: [1, 2, 3],
    });
  });

  it("keeps 64-bit integers and booleans; numbers that a float64 would round are texts", async () => {
    const columns = ["id", "share", "long", "is"];
    const rows = [
      ["357467202448740519", "0.25", "0.25000000000000000012", "true"],
      ["-9223372036854775808", "+.5", "", "false"],
    ].map((row) => row.map((text) => (text === "" ? text : { text })));
    const path = join(folder, "exact.parquet");
    await writeFile(path, await parquetBytes(columns, rows));
    const { rows: read, literals } = await readCells(path);
    expect(read).toEqual([
      ["357467202448740519", "0.25", "0.25000000000000000012", "true"],
      ["-9223372036854775808", "0.5", "", "false"],
    ]);
    expect(literals).toEqual([true, true, false, true]);
  });

  it("is refused in bounded time if it is damaged, and the next file is read", async () => {
    const rows = Array.from({ length: 20 }, (_, i) => [7 * i, i % 3 ? i / 7 : "", "abc"[i % 3]]);
    const good = await parquetBytes(["a", "b", "c"], rows);
    const reader = openParquetReader();
    const problems: string[] = [];
    for (let at = 126; at < 136; at++) {
      const bytes = Uint8Array.from(good);
      bytes[at] = 128;
      const limits = { seconds: 0.3, bytes: 2 ** 29 };
      await reader.read(bytes, "t", limits).catch((error) => problems.push(error.message));
    }
    // Some of these bytes declare so many values that decoding takes minutes.
    expect(problems.join("\n")).toMatch(
      /t cannot be read as Parquet \(reading takes more than .*Check that the file is complete/,
    );
    expect((await reader.read(good, "t")).rows).toHaveLength(20);
    await reader.close();
  });

  it("is refused if a column ends before the others", async () => {
    const good = await parquetBytes(["a"], [[1], [2]]);
    const reader = openParquetReader();
    const problems: string[] = [];
    // Two rows are declared as three, wherever a 2 of the format stands.
    for (const [at, byte] of good.entries())
      if (byte === 4)
        await reader
          .read(
            Uint8Array.from(good, (old, i) => (i === at ? 6 : old)),
            "t",
          )
          .catch((error) => problems.push(error.message));
    expect(problems.join("\n")).toContain("column a has no value in row 3");
    await reader.close();
  });

  it("is reported as truncated", async () => {
    const path = join(folder, "cut.parquet");
    await writeFile(path, (await parquetBytes(["a"], [[1]])).subarray(0, 30));
    await expect(readCells(path)).rejects.toThrow("cannot be read as Parquet");
  });
});

describe("a compressed file", () => {
  const text = `a,b\n${Array.from({ length: 40_000 }, (_, i) => `${i},"x ${i % 7}"\n`).join("")}`;
  const fileOf = async (name: string, bytes: Uint8Array | string): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, bytes);
    return path;
  };

  it("is read by its content: CSV, JSON lines, Parquet", async () => {
    const { columns, rows } = await readCells(await fileOf("a.csv.gz", gzipSync(text)));
    expect([columns, rows.length, rows[39_999]]).toEqual([["a", "b"], 40_000, ["39999", "x 1"]]);
    const json = await fileOf("a.jsonl.gz", gzipSync('{"a":1}\n{"a":2.50}\n'));
    expect((await readCells(json)).rows).toEqual([["1"], ["2.50"]]);
    const parquet = gzipSync(await parquetBytes(["a"], [[1], [2]]));
    expect((await readCells(await fileOf("a.parquet.gz", parquet))).rows).toEqual([["1"], ["2"]]);
  });

  it("is reproduced exactly from several members, with the same bytes each time", async () => {
    async function* pieces(): AsyncGenerator<string> {
      for (let i = 0; i < 4; i++) yield text;
    }
    const bytesOf = async (): Promise<Buffer> => {
      const parts: Uint8Array[] = [];
      for await (const part of packed(pieces())) parts.push(part);
      expect(parts.length).toBeGreaterThan(1);
      return Buffer.concat(parts);
    };
    const bytes = await bytesOf();
    expect(gunzipSync(bytes).toString()).toBe(text.repeat(4));
    expect(Buffer.compare(await bytesOf(), bytes)).toBe(0);
  });

  it("is refused if it is truncated or changed, also if the reader stops early", async () => {
    const bytes = gzipSync(text);
    for (const bad of [
      bytes.subarray(0, bytes.length / 2),
      Buffer.concat([bytes, bytes]).fill(7, 900, 990),
    ])
      await expect(readCells(await fileOf("bad.csv.gz", bad))).rejects.toThrow(
        /is incomplete or damaged/,
      );
    const odd = await fileOf("odd.csv.gz", gzipSync(`a,b\n1\n${text}`));
    await expect(readCells(odd)).rejects.toThrow(/1 cell, but there are 2 columns/);
  });

  it("are refused if their rows do not fit into memory", async () => {
    const path = await fileOf("long.csv.gz", gzipSync(`a,b\n${"1,2\n".repeat(100)}`));
    expect((await readCells(path, 2 * 100 * (64 + 2 * 48))).rows).toHaveLength(100);
    await expect(readCells(path, 2 * 99 * (64 + 2 * 48))).rejects.toThrow(
      /long\.csv\.gz has more than 99 rows of 2 columns, more than fit into memory/,
    );
  });

  it("may be a Parquet file whose pages gzip or Brotli compressed", async () => {
    const columnData = [{ name: "a", data: [1.5, 2.5], type: "DOUBLE" as const }];
    const written = {
      GZIP: (bytes: Uint8Array) => new Uint8Array(gzipSync(bytes)),
      BROTLI: (bytes: Uint8Array) => new Uint8Array(brotliCompressSync(bytes)),
    };
    for (const codec of ["GZIP", "BROTLI"] as const) {
      const bytes = parquetWriteBuffer({ columnData, codec, compressors: written });
      const path = await fileOf(`${codec}.parquet`, new Uint8Array(bytes));
      expect((await readCells(path)).rows).toEqual([["1.5"], ["2.5"]]);
    }
  });
});
