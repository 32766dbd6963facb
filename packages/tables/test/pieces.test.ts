/** CSV that comes in pieces, cut anywhere, is read as it is whole. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { cellBatches, readCells, readTable } from "diffeo-tables/node";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { testFolder } from "../../../test/folder.ts";
import { cellReader, joinTables, parseCells } from "../src/table/cells.ts";

const { folder } = testFolder("pieces");

const quoted = (cell: string): string => `"${cell.replaceAll('"', '""')}"`;
const cell = fc.oneof(
  fc.integer().map(String),
  fc.constantFrom("", "NA", "a b"),
  fc.stringMatching(/^[a,"\r\nü😀]{0,6}$/u).map(quoted),
);
const lines = fc.record({
  rows: fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 8 }),
  end: fc.constantFrom("\n", "\r\n", "\r"),
  last: fc.boolean(),
});

describe("pieces of CSV", () => {
  it("give the rows and lines of the whole, for any division", () => {
    fc.assert(
      fc.property(lines, fc.array(fc.nat(40), { maxLength: 12 }), ({ rows, end, last }, sizes) => {
        const text =
          [["x", "y"], ...rows].map((row) => row.join(",")).join(end) + (last ? end : "");
        const reader = cellReader("t.csv");
        let rest = text;
        const found = sizes.map((size) => {
          const piece = rest.slice(0, size);
          rest = rest.slice(size);
          return reader.add(piece);
        });
        expect(joinTables([...found, reader.add(rest), reader.end()])).toEqual(
          parseCells(text, "t.csv"),
        );
        // A quote of a cell is doubled; a blank in one is kept, and around one it is not.
        const plain = (own: string): string =>
          own.startsWith('"') ? own.slice(1, -1).replaceAll('""', '"') : own;
        const kept = rows.map((row) => row.map(plain));
        expect(parseCells(text, "t.csv").rows).toEqual(kept);
      }),
      { numRuns: 300 },
    );
  });

  it("of a file give batches of the specified size, with their lines", async () => {
    const path = join(folder, "t.csv");
    const rows = Array.from({ length: 23 }, (_, i) => [
      String(i),
      i % 3 === 0 ? "two\nlines" : "one",
    ]);
    writeFileSync(path, `n,text\n${rows.map(([n, text]) => `${n},${quoted(text)}`).join("\n")}`);
    const whole = await readCells(path);
    expect(whole.rows).toEqual(rows);
    const found = [];
    for await (const batch of cellBatches(path, 10)) found.push(batch);
    expect(found.map((batch) => batch.rows.length)).toEqual([10, 10, 3]);
    expect(joinTables(found)).toEqual(whole);
    expect(whole.lines.slice(0, 4)).toEqual([2, 4, 5, 6]);
  });

  it("are refused if the file is neither UTF-8 nor UTF-16 with a byte order mark", async () => {
    const path = join(folder, "latin.csv");
    writeFileSync(path, Buffer.from("größe,b\n1,2\n", "latin1"));
    const error = `${path} is not text in UTF-8. Save it as CSV in UTF-8.`;
    await expect(readCells(path)).rejects.toThrow(error);
    await expect(readTable(path)).rejects.toThrow(error);
    // A character that is cut in two by the end of the file.
    writeFileSync(path, Buffer.from("größe\n1\nö").subarray(0, -1));
    await expect(readCells(path)).rejects.toThrow("is not text in UTF-8");
    // Excel writes a byte order mark, before UTF-8 and before UTF-16.
    for (const encoding of ["utf8", "utf16le"] as const) {
      writeFileSync(path, Buffer.from("\uFEFFgröße,b\n1,2\n", encoding));
      expect(await readCells(path)).toMatchObject({ columns: ["größe", "b"], rows: [["1", "2"]] });
    }
  });

  it("with errors are refused with the line, also empty ones", async () => {
    const reader = cellReader("t.csv");
    expect(reader.add("a,b\n1,2\n3,")).toMatchObject({ rows: [["1", "2"]] });
    expect(() => reader.add("4,5\n6")).toThrow(
      "t.csv, line 3 has 3 cells, but there are 2 columns",
    );
    expect(() => parseCells("a,b", "t.csv")).toThrow("t.csv has names but no rows");
    expect(() => parseCells("\n\n", "t.csv")).toThrow("t.csv is empty");
    expect(() => parseCells('a,b\n1,"2\n', "t.csv")).toThrow(
      "the quote that opens in line 2 is not closed",
    );
    await expect(readCells(join(folder, "none.csv"))).rejects.toThrow("cannot read");
    await expect(readCells(folder)).rejects.toThrow("EISDIR");
  });
});
