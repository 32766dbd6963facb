/**
 * A density in use, without a fit: its mass on raw rows, its file, and its rows and pictures from
 * the command line.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import type { NdArray } from "diffeo/graph";
import { dkefInit } from "diffeo/model";
import { readSafetensors, writeSafetensors } from "diffeo/node";
import { key, normal } from "diffeo/random";
import { flatten, type Tensors } from "diffeo/train";
import {
  type DensityModel,
  densityPicture,
  measurePoints,
  parseTable,
  sampleRows,
  scoreRows,
  type Table,
} from "diffeo-tables/density";
import { loadDensity, saveDensity } from "diffeo-tables/node";
import { beforeAll, describe, expect, it } from "vitest";
import { testFolder } from "../../../../test/folder.ts";
import { diffeo } from "../run.ts";

const { at, folder } = testFolder("use");

const parameters = dkefInit(key(1), normal(key(2), [6, 2]), { width: 5, logScales: [0, 0.5] });
const fitted = {
  step: 7,
  parameters,
  theta: flatten(parameters),
  alpha: Float64Array.of(1.5, -1, 2, 0.5, -0.75, 1),
};
/** x₁ = 2(a − 1.7·10⁹),  x₂ = ½(a − 1.7·10⁹) + ¼(b + 3) */
const whitening = { mean: [1.7e9, -3], matrix: [2, 0.5, 0, 0.25], logDet: Math.log(0.5) };
const modelWith = (logZ: number): DensityModel => ({
  fitted,
  spec: { loss: "gssm", seed: 3, columns: ["a", "b"], whitening, logZ },
});
const model = modelWith(4.25);

/**
 * The middles of cells × cells cells of [−across, across] × [−up, up] about a place, and the size
 * of a cell.
 */
function grid(
  cells: number,
  across: number,
  up: number,
  [x, y]: readonly number[] = [0, 0],
): { values: Float64Array; cell: number } {
  const middle = (i: number, reach: number): number => ((2 * i + 1) / cells - 1) * reach;
  const values = Float64Array.from({ length: 2 * cells * cells }, (_, k) =>
    k % 2 === 0 ? x + middle(Math.floor(k / 2 / cells), across) : y + middle((k >> 1) % cells, up),
  );
  return { values, cell: (4 * across * up) / cells ** 2 };
}

const rowsOf = (values: Float64Array): Table => ({
  source: "rows",
  columns: ["a", "b"],
  rows: values.length / 2,
  values,
});
const total = (logs: Float64Array): number => logs.reduce((sum, v) => sum + Math.exp(v), 0);

it("has mass 1 over raw rows", async () => {
  const white = grid(200, 12, 12);
  const points: NdArray = {
    shape: [200 ** 2, 2],
    dtype: "float32",
    data: Float32Array.from(white.values),
  };
  const logZ = Math.log(total((await measurePoints(fitted, points)).logDensity) * white.cell);
  const raw = grid(300, 6, 60, whitening.mean);
  const { logDensity } = await scoreRows(modelWith(logZ), rowsOf(raw.values));
  expect(total(logDensity) * raw.cell).toBeCloseTo(1, 5);
});

describe("the file of a model", () => {
  const path = at("model.safetensors");
  beforeAll(() => saveDensity(path, model.spec, fitted));

  it("reproduces the model and its scores", async () => {
    const loaded = await loadDensity(path);
    expect(loaded).toEqual(model);
    const rows = rowsOf(grid(5, 1, 8, whitening.mean).values);
    expect(await scoreRows(loaded, rows)).toEqual(await scoreRows(model, rows));
  });

  const withSpec = (spec: object) => (file: Tensors) => ({
    ...file,
    metadata: { ...file.metadata, spec: JSON.stringify({ ...model.spec, ...spec }) },
  });
  const withArray = (name: string, shape: number[]) => (file: Tensors) => ({
    ...file,
    arrays: { ...file.arrays, [name]: normal(key(4), shape) },
  });
  const settings = /the settings of the model are missing or incomplete.*fit again/;
  it.each<[string, (file: Tensors) => Tensors, RegExp]>([
    [
      "another format",
      (file) => ({ ...file, metadata: { format: "x" } }),
      /is not a density written by diffeo/,
    ],
    ["no settings", (file) => ({ ...file, metadata: { format: file.metadata.format } }), settings],
    [
      "settings cut off",
      (file) => ({ ...file, metadata: { ...file.metadata, spec: '{"loss":' } }),
      settings,
    ],
    ["no whitening", withSpec({ whitening: undefined }), settings],
    ["a short mean", withSpec({ whitening: { ...whitening, mean: [0] } }), settings],
    ["a short matrix", withSpec({ whitening: { ...whitening, matrix: [1, 0, 1] } }), settings],
    ["a normaliser that is not a number", withSpec({ logZ: null }), settings],
    ["a name that is none", withSpec({ columns: ["a", 2] }), settings],
    [
      "a short α",
      withArray("alpha", [5]),
      /alpha has shape \[5\], but the rest of the file needs \[6\].*fit again/,
    ],
    [
      "points of three columns",
      withArray("inducing", [6, 3]),
      /inducing has shape \[6, 3\], but the rest of the file needs \[6, 2\]/,
    ],
    [
      "a layer too wide",
      withArray("w2", [2, 5, 6]),
      /w2 has shape \[2, 5, 6\], but the rest of the file needs \[2, 5, 5\]/,
    ],
    [
      "no mixture",
      ({ arrays: { mixture: _, ...arrays }, metadata }) => ({ arrays, metadata }),
      /"mixture" is missing/,
    ],
  ])("is refused by name with %s", async (_, change, message) => {
    const damaged = at("damaged.safetensors");
    await writeSafetensors(damaged, change(await readSafetensors(path)));
    const error = await loadDensity(damaged).catch((e: unknown) => e);
    expect(error).toMatchObject({ kind: "data", message: expect.stringMatching(message) });
    expect((error as Error).message).toContain(damaged);
  });

  it("is used by commands without loss of digits", async () => {
    const drawn = await sampleRows(model, 30, { steps: 5, key: key(6) });
    const sample = await diffeo(
      "density",
      "sample",
      "--model",
      path,
      "--count",
      "30",
      "--steps",
      "5",
      "--seed",
      "6",
    );
    expect(parseTable(sample.stdout, "samples").values).toEqual(drawn.values);

    writeFileSync(at("rows.csv"), sample.stdout);
    const scored = await scoreRows(model, drawn);
    const score = await diffeo("density", "score", "--model", path, "--data", at("rows.csv"));
    const values = parseTable(score.stdout, "scores").values;
    expect(values.filter((_, i) => i % 3 === 0)).toEqual(scored.logDensity);
    expect(values.filter((_, i) => i % 3 !== 0)).toEqual(scored.score);
  });
});

it("draws no picture of a single row, which has no range", async () => {
  const one = rowsOf(Float64Array.of(1.7e9, -3));
  await expect(densityPicture(one, [model])).rejects.toThrow(
    /rows: column "a" is 1700000000 in every row/,
  );
});

it("draws densities and scores at the right places", async () => {
  const svg = await densityPicture(rowsOf(Float64Array.of(1.7e9 - 2, -7, 1.7e9 + 2, 1)), [model]);
  const [, points, field] = svg.split("<g transform");
  expect(points).toContain('d="M34.6 265.4h0M265.4 34.6h0"'); // 0.15 of the range on each side, up being up
  const [side, cells] = [300, 100];
  const at = (x: number, y: number): number[] => [
    1.7e9 - 2.6 + (5.2 * x) / side,
    2.2 - (10.4 * y) / side,
  ];
  const middles = Array.from({ length: cells * cells }, (_, i) => [
    (i % cells) + 0.5,
    Math.floor(i / cells) + 0.5,
  ]);
  const { logDensity } = await scoreRows(
    model,
    rowsOf(
      Float64Array.from(middles.flatMap(([x, y]) => at((x * side) / cells, (y * side) / cells))),
    ),
  );
  // The darkest of 40 shades has at least (39.5/40)² of what 50 of 10,000 cells exceed.
  const dark = new Set<number>();
  const [, darkest] = /fill="rgb\(12,44,97\)" d="([^"]*)"/.exec(field) ?? [];
  for (const [, x, y, width] of darkest.matchAll(/M([\d.]+) ([\d.]+)h([\d.]+)/g))
    for (let k = 0; k < Math.round((Number(width) - 0.3) / 3); k++)
      dark.add(Math.round((Number(y) / 3) * cells + Number(x) / 3) + k);
  const least = logDensity.toSorted()[9950] + 2 * Math.log(39.5 / 40);
  logDensity.forEach((v, i) => {
    if (Math.abs(v - least) > 1e-4) if (dark.has(i) !== v > least) expect.fail(`cell ${i}`);
  });
  // Arrows go where the density grows, across and up.
  const [, arrows] = / d="([^"]*)" fill="none"/.exec(field) ?? [];
  const ends = [...arrows.matchAll(/M(\S+) ([^L]+)L(\S+) ([^M]+)M[^M]*/g)].map((found) =>
    found.slice(1).map(Number),
  );
  expect(ends).toHaveLength(17 * 17);
  for (const axis of [0, 1]) {
    const long = ends.filter((end) => Math.abs(end[2 + axis] - end[axis]) > 0.3);
    expect(long.length).toBeGreaterThan(50);
    const densities = async (step: number): Promise<Float64Array> => {
      const places = long.flatMap((end) => {
        const middle = [(end[0] + end[2]) / 2, (end[1] + end[3]) / 2];
        middle[axis] += step * Math.sign(end[2 + axis] - end[axis]);
        return at(middle[0], middle[1]);
      });
      return (await scoreRows(model, rowsOf(Float64Array.from(places)))).logDensity;
    };
    const [behind, ahead] = [await densities(-1), await densities(1)];
    expect(ahead.filter((v, i) => v <= behind[i])).toHaveLength(0);
  }
});

describe("an unwritable path", () => {
  // Whatever begins to work on these ends with an error of its own.
  const lost = at("lost.safetensors");
  beforeAll(async () => {
    const { logZ: _, ...spec } = model.spec;
    await saveDensity(lost, spec, { ...fitted, alpha: fitted.alpha.map(() => 3e38) });
    writeFileSync(at("file"), "");
    writeFileSync(at("table.csv"), "a,b\n1,2\n3,4\n");
    writeFileSync(at("winequality-red.csv"), "a,b\n1,2\n");
    mkdirSync(at("study/table.md"), { recursive: true });
  });

  it.each([
    ["fit", ["--data", "rings", "--inducing", "5000", "--out", at("file")]],
    ["score", ["--model", lost, "--data", at("table.csv"), "--out", at("file/score.csv")]],
    ["sample", ["--model", lost, "--out", at("file/sample.csv")]],
    ["picture", ["--models", lost, "--data", at("table.csv"), "--out", at("file/picture")]],
    [
      "study",
      [
        "--data",
        folder,
        "--datasets",
        "red-wine",
        "--losses",
        "ssm",
        "--seeds",
        "1",
        "--out",
        at("study"),
      ],
    ],
  ])("is reported by %s before the work", async (command, args) => {
    const result = await diffeo("density", command, ...args);
    expect([result.code, result.stderr]).toEqual([
      1,
      expect.stringMatching(/^diffeo: cannot write /),
    ]);
  });
});
