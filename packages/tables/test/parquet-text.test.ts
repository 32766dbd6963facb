/** Parquet files as a page reads them. */
import { describe, expect, it } from "vitest";
import { parquetBytes } from "../src/node/parquet.ts";
import { parquetText } from "../src/table/parquet-text.ts";

const rows = [
  ["x, y", 1.5, "2"],
  ["z", "", "3"],
];
const bytes = await parquetBytes(["name", "size", "count"], rows);
const buffer = (from: Uint8Array): ArrayBuffer => new Uint8Array(from).buffer;

describe("a Parquet file in a page", () => {
  it("is read as CSV", async () => {
    expect(await parquetText(buffer(bytes), "t")).toBe('name,size,count\n"x, y",1.5,2\nz,,3\n');
  });

  it("is refused if it is truncated, or declares more cells than a page can hold", async () => {
    await expect(parquetText(buffer(bytes.subarray(0, 40)), "t")).rejects.toThrow(
      /^t cannot be read as Parquet \(.*\)\. Check that the file is complete/,
    );
    await expect(parquetText(buffer(bytes), "t", 5)).rejects.toThrow("it declares 6 cells");
  });
});
