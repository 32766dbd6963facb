/**
 * A model of a table as ONNX files from the command line, checked by ONNX and sampled by diffeo
 * sample.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { between, category, positive } from "diffeo/domain";
import { key, normal } from "diffeo/random";
import { fitTable, parseTableModel } from "diffeo-tables";
import { saveTableModel } from "diffeo-tables/node";
import { beforeAll, describe, expect, it } from "vitest";
import { complaintsOfOnnx } from "../../../../packages/diffeo/test/graph/onnx-checker.ts";
import { faults, readOnnx } from "../../../../packages/diffeo/test/graph/onnx-reader.ts";
import { testFolder } from "../../../../test/folder.ts";
import { diffeo, printed } from "../run.ts";

const { at } = testFolder("table-export");
const model = at("soil.model");

beforeAll(async () => {
  const rows = Array.from({ length: 100 }, (_, i) => {
    const [a, b] = normal(key(i), 2, { dtype: "float64" }).data;
    return [1e6 * Math.exp(a), 1e-3 / (1 + Math.exp(-b)), "abc"[i % 3]];
  });
  const columns = { size: positive(), share: between(0, 1e-3), ward: category(["a", "b", "c"]) };
  const how = { steps: 10, width: 16, blocks: 1, given: false, threads: 1 } as const;
  await saveTableModel(model, await fitTable(rows, { columns, ...how }));
}, 60_000);

const words = (...more: string[]): string[] => ["table", "export", "--model", model, ...more];

describe("diffeo table export", () => {
  it.each([
    ["score", ["x", "t"], 4, 1e-5],
    ["denoise", ["x", "t"], 4, 1e-5],
    ["rows", ["x"], 4, 1e-13],
  ] as const)("writes %s, checked in ONNX Runtime", async (what, inputs, size, share) => {
    const out = at(`${what}.onnx`);
    const report = JSON.parse(
      await printed(...words("--out", out, "--what", what, "--batch", "5", "--json")),
    );
    const dtype = what === "rows" ? "float64" : "float32";
    expect(report).toMatchObject({
      file: out,
      inputs: inputs.map((name) => ({ name, dtype, shape: name === "x" ? [5, 4] : [5] })),
      outputs: [{ name: what, dtype, shape: [5, size] }],
    });
    expect(report.largest).toBeGreaterThan(0);
    expect(report.difference).toBeLessThan(share * report.largest);
    const bytes = readFileSync(out);
    const file = readOnnx(bytes);
    expect(faults(file)).toEqual([]);
    expect(complaintsOfOnnx([{ name: what, bytes }])).toEqual([]);
    const { metadata } = file;
    expect(metadata.format).toBe("diffeo-table-1");
    const { domain, standard } = JSON.parse(metadata.spec);
    const own = parseTableModel(readFileSync(model));
    expect(standard).toEqual(own.standard);
    expect(domain.parts.map(({ name }: { name: string }) => name)).toEqual([
      "size",
      "share",
      "ward",
    ]);
    expect(JSON.parse(metadata.columns)).toEqual([
      {
        name: "size",
        columns: ["size"],
        kind: own.domain.parts[0].domain.kind,
        x: [0, 1],
        y: [0, 1],
      },
      {
        name: "share",
        columns: ["share"],
        kind: own.domain.parts[1].domain.kind,
        x: [1, 2],
        y: [1, 2],
      },
      { name: "ward", columns: ["ward"], kind: "category", x: [2, 4], y: [2, 4] },
    ]);
  });

  it("writes the score for 1,024 rows by default, from which diffeo sample samples", async () => {
    const out = at("usual.onnx");
    expect(await printed(...words("--out", out))).toMatch(
      /usual\.onnx: 0\.\d MiB, x \[1024, 4\], t \[1024\] → score \[1024, 4\]\nONNX Runtime compared with plain float64: values up to /,
    );
    const drawn = await printed(
      ...[
        "sample",
        "--score",
        out,
        "--predicts",
        "score",
        "--solver",
        "dpmSolver2M",
        "--grid",
        "logSnr",
      ],
      ...["--steps", "5", "--denoise", "--count", "3", "--threads", "1"],
    );
    const [heading, ...lines] = drawn.trimEnd().split("\n");
    expect(heading).toBe("y1,y2,y3,y4");
    expect(lines).toHaveLength(3);
    for (const line of lines)
      expect(line.split(",").every((cell) => Math.abs(Number(cell)) < 10)).toBe(true);
  });

  it("keeps the model and existing files", async () => {
    const before = readFileSync(model);
    expect(await diffeo(...words("--out", model, "--force"))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("an input of the command. Choose another file"),
    });
    writeFileSync(at("mine.onnx"), "mine");
    expect(await diffeo(...words("--out", at("mine.onnx")))).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/mine\.onnx already exists\. .*--force/),
    });
    expect(readFileSync(at("mine.onnx"), "utf8")).toBe("mine");
    expect((await diffeo(...words("--out", at("mine.onnx"), "--force", "--batch", "1"))).code).toBe(
      0,
    );
    expect(readFileSync(model)).toEqual(before);
  });

  it("refuses with a sentence what it cannot write", async () => {
    for (const [more, message] of [
      [["--what", "given"], "Allowed choices are score, denoise, rows"],
      [["--batch", "0"], "Give an integer from 1"],
    ] as const)
      expect(await diffeo(...words("--out", at("none.onnx"), ...more))).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(message),
      });
    expect(await diffeo(...words())).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--out"),
    });
  });
});
