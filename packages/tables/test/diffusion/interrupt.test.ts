import { real } from "diffeo/domain";
import { key, normal } from "diffeo/random";
import { describe, expect, it } from "vitest";
import { preparedRows } from "../../src/diffusion/fit/prepare.ts";

describe("the preparation of a table of 200 columns", () => {
  it("stops when its signal is aborted", async () => {
    const [rows, n] = [60, 200];
    const { data } = normal(key("wide"), [rows, n], { dtype: "float64" });
    const columns = Object.fromEntries(Array.from({ length: n }, (_, i) => [`c${i}`, real()]));
    const table = Array.from({ length: rows }, (_, row) =>
      Object.keys(columns).map((_, i) => data[row * n + i]),
    );
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error("enough")));
    await expect(preparedRows(table, columns, 0.1, 0, controller.signal)).rejects.toThrow("enough");
  });
});
