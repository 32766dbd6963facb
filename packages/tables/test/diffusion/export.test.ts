/**
 * Models of tables as ONNX files: opened as any other file is, they say and draw what the model
 * does.
 */
import { expMap } from "diffeo/bijector";
import {
  angle,
  between,
  type Cell,
  category,
  count,
  covariance,
  domain,
  ordered,
  positive,
  real,
  simplex,
  sphere,
} from "diffeo/domain";
import { compile } from "diffeo/engine";
import type { NdArray, Tensor } from "diffeo/graph";
import { fromOnnx } from "diffeo/outside";
import { fold, key, normal } from "diffeo/random";
import { sample } from "diffeo/sampler";
import { reverse, reversePush, vp } from "diffeo/sde";
import * as ort from "onnxruntime-node";
import { beforeAll, describe, expect, it } from "vitest";
import { faults, readOnnx } from "../../../diffeo/test/graph/onnx-reader.ts";
import { exportTable, type TableExportName } from "../../src/diffusion/file/export.ts";
import { fitTable } from "../../src/diffusion/fit/fit.ts";
import { tableMap, tableScore } from "../../src/diffusion/network/model.ts";
import type { TableModel } from "../../src/diffusion/query/table-model.ts";

const columns = {
  height: real(),
  size: positive(),
  share: between(0, 2),
  hours: ordered(["from", "to"], { above: 0, below: 24 }),
  parts: simplex(["sand", "silt", "clay"], { total: 100, zeros: 0.02, rest: "silt" }),
  hits: count(),
  visits: count(),
  ward: category(["north", "south", 3]),
  turn: angle({ period: 360, centre: 20, from: 0 }),
  way: sphere(["east", "north", "up"], { centre: [1, 2, 0] }),
  spread: covariance(2),
};

const rows = Array.from({ length: 200 }, (_, i) => {
  const [a, b, c, d, e, f] = normal(key(i), 6, { dtype: "float64" }).data;
  const [sand, clay] = [Math.exp(c - 2), Math.exp(d - 1)].map(
    (v, _, all) => (100 * v) / (1 + all[0] + all[1]),
  );
  return [
    ...[
      100 * a,
      Math.exp(a + b),
      2 / (1 + Math.exp(-e)),
      6 + 3 * Math.tanh(c),
      15 + 3 * Math.tanh(d),
    ],
    ...(i % 9 === 0 ? [0, 100 - clay, clay] : [sand, 100 - sand - clay, clay]),
    // A few values, which are atoms, and many, which are spread.
    ...[Math.floor(Math.exp(f)), Math.floor(200 * Math.exp(e))],
    ...[a > 0.3 ? "north" : b > 0 ? "south" : 3, 60 * e],
    ...[1 + c, 2 + d, e].map((v) => v / Math.hypot(1 + c, 2 + d, e)),
    ...[1 + a * a, a, 1 + b * b],
  ];
});

// Few steps, each followed by a measurement, and long ones: every weight is away from where it
// began.
const small = {
  steps: 4,
  rate: 0.02,
  width: 24,
  blocks: 1,
  given: false,
  threads: 1,
  seed: 2,
} as const;
const kinds = {
  diffusion: {},
  transformer: { network: "transformer" },
  "diffusion behind a flow": { flow: "affine" },
} as const;

const sde = vp();
const { meanFactor, std } = sde.transition;
const BATCH = 8;

/** m and σ of times, in float64. */
async function levels(times: readonly number[]): Promise<{ m: number[]; sigma: number[] }> {
  const f = compile((t: Tensor) => ({ m: meanFactor(t), sigma: std(t) }), [[null]], {
    device: "reference",
  });
  const { m, sigma } = await f(times);
  await f.dispose();
  return { m: Array.from(m.data, Number), sigma: Array.from(sigma.data, Number) };
}

const bytesOf = (model: TableModel, what: TableExportName): Uint8Array =>
  exportTable(model, { what, batch: BATCH }).bytes;
const metadataOf = (model: TableModel): Record<string, string> =>
  readOnnx(bytesOf(model, "score")).metadata;

/** A file in ONNX Runtime, past all of diffeo: of as many rows as it takes. */
async function opened(bytes: Uint8Array, type: "float32" | "float64") {
  const session = await ort.InferenceSession.create(bytes, {
    intraOpNumThreads: 1,
    logSeverityLevel: 4,
  });
  const array = (values: ArrayLike<number>) =>
    type === "float32" ? Float32Array.from(values) : Float64Array.from(values);
  return async (x: ArrayLike<number>, t?: number): Promise<Float64Array> => {
    const feeds = {
      x: new ort.Tensor(type, array(x), [BATCH, x.length / BATCH]),
      ...(t !== undefined && { t: new ort.Tensor(type, array(new Array(BATCH).fill(t)), [BATCH]) }),
    };
    return Float64Array.from(Object.values(await session.run(feeds))[0].data as Float32Array);
  };
}

/**
 * Points near and far at times from noise to less noise than rows are drawn with, two of each: no
 * multiple of a file's rows.
 */
function hardPoints(n: number, last: number) {
  const cases = [1, 5, 20].flatMap((far) =>
    [1, 0.3, 0.05, last, 1e-4].flatMap((t) => [[far, t] as const, [far, t] as const]),
  );
  const x = normal(key("x"), [cases.length, n]);
  x.data.forEach((v, i) => {
    x.data[i] = v * cases[Math.floor(i / n)][0];
  });
  return { x, t: Float32Array.from(cases, ([, t]) => t) };
}

const largestOf = (values: readonly number[]): number => Math.max(...values.map(Math.abs));

/** Rows differ by no more than a share of their largest values. */
function expectRows(found: NdArray, expected: NdArray, n: number, share: number): void {
  expect(found.shape).toEqual(expected.shape);
  for (let row = 0; row < expected.shape[0]; row++) {
    const [a, b] = [found, expected].map(({ data }) =>
      Array.from(data.slice(row * n, (row + 1) * n), Number),
    );
    const difference = largestOf(a.map((v, j) => v - b[j]));
    expect(difference, `row ${row}`).toBeLessThanOrEqual(share * largestOf(b));
  }
}

/**
 * Cells that are those expected: numbers to a share of their size or of 1, and floors, in columns
 * that are named so, to one.
 */
function expectCells(
  found: readonly (readonly Cell[])[],
  expected: readonly (readonly Cell[])[],
  share: number,
  floors: readonly number[] = [],
): void {
  expect(found).toHaveLength(expected.length);
  for (const [i, row] of expected.entries())
    for (const [j, cell] of row.entries()) {
      const own = found[i][j];
      if (typeof cell === "string" || typeof own === "string") expect(own).toBe(cell);
      else if (floors.includes(j)) expect(Math.abs(own - cell)).toBeLessThanOrEqual(1);
      else expect(Math.abs(own - cell) / Math.max(1, Math.abs(cell))).toBeLessThan(share);
    }
}

describe.each(Object.entries(kinds))("a model with a network of kind %s", (_, kind) => {
  let model: TableModel;
  let [n, last] = [0, 0];
  beforeAll(async () => {
    model = await fitTable(rows, { columns, ...small, ...kind });
    n = model.domain.dimension;
    last = Number(metadataOf(model).last);
  }, 60_000);

  const scoreFile = () => fromOnnx(bytesOf(model, "score"), { predicts: "score" });

  it("is a score when opened as a file, near and far from data, at every time", async () => {
    const { x, t } = hardPoints(n, last);
    const specs = [[null, n], [null]] as const;
    const own = compile(tableScore(model), specs, { threads: 1 });
    const f = compile(await scoreFile(), specs, { threads: 1 });
    const found = await f(x, t);
    expectRows(found, await own(x, t), n, 1e-6);
    // Where a label is uncertain in little noise, float32 has logits of 10⁴ to tell it by.
    const exact = compile(tableScore(model), specs, { device: "reference", type: "float32" });
    const expected = await exact(x, t);
    expectRows(found, expected, n, 2e-5);

    // s = (m x̂₀ − x)/σ²
    const mean = await fromOnnx(bytesOf(model, "denoise"), { predicts: "x0", sde });
    const g = compile((p: Tensor, times: Tensor) => mean(p, times), specs, { threads: 1 });
    expectRows(await g(x, t), expected, n, 1e-4);
    await Promise.all([own, exact, f, g].map((one) => one.dispose()));
  });

  it("samples through its files the same rows as the model", async () => {
    const how = {
      solver: "dpmSolver2M",
      grid: "logSnr",
      tEnd: last,
      steps: 49,
      denoise: true,
      threads: 1,
      shape: [n],
      count: BATCH,
      key: fold(key(7), "rows"),
    } as const;
    const { rows: expected } = await model.sample({ count: BATCH, seed: 7 });
    const score = await scoreFile();
    const { samples: x } = await sample(reverse(sde, score), how);
    const toRows = await opened(bytesOf(model, "rows"), "float64");
    const y = await toRows(x.data);
    const { decode, size } = model.domain;
    const decoded = (all: ArrayLike<number>): Cell[][] =>
      Array.from({ length: BATCH }, (_, i) =>
        decode(Array.from(all).slice(i * size, (i + 1) * size)),
      );
    // Rounding may take a number that is spread over its bound.
    const floors = [model.domain.columns.indexOf("visits")];
    expectCells(decoded(y), expected, 2e-5, floors);

    const { samples } = await sample(reversePush(sde, tableMap(model), score), how);
    expectCells(decoded(samples.data), expected, 2e-5, floors);
  });

  it("samples by the loop over its files that the documentation describes", async () => {
    const [denoise, x] = [
      await opened(bytesOf(model, "denoise"), "float32"),
      normal(fold(key(7), "start"), [BATCH, n]),
    ];
    const times = [1, 0.2, last];
    const { m, sigma } = await levels(times);
    let p = Float64Array.from(x.data);
    for (let k = 0; k < 2; k++) {
      const mean = await denoise(p, times[k]);
      p = p.map((v, i) => m[k + 1] * mean[i] + (sigma[k + 1] / sigma[k]) * (v - m[k] * mean[i]));
    }
    const found = await denoise(p, last);
    const { samples } = await sample(reverse(sde, await scoreFile()), {
      solver: "dpmSolver2M",
      grid: times,
      denoise: true,
      threads: 1,
      start: x,
      key: key(0),
    });
    expectRows({ shape: [BATCH, n], dtype: "float64", data: found }, samples, n, 1e-4);
  });

  it("lists the positions of columns, and cells follow from y as documented", async () => {
    const metadata = metadataOf(model);
    const parts = JSON.parse(metadata.columns) as {
      name: string;
      columns: string[];
      kind: string;
      y: number[];
    }[];
    const { domain: told } = JSON.parse(metadata.spec) as {
      domain: { parts: { name: string; domain: Spec }[] };
    };
    expect(parts.flatMap((part) => part.columns)).toEqual(model.domain.columns);
    const x = normal(key("any"), [BATCH, n], { dtype: "float64" });
    const y = await (await opened(bytesOf(model, "rows"), "float64"))(x.data);
    const { size, decode } = model.domain;
    for (let i = 0; i < BATCH; i++) {
      const row = Array.from(y.subarray(i * size, (i + 1) * size));
      const cells = parts.flatMap(({ y: [from, to] }, k) =>
        cellsBySpec(row.slice(from, to), told.parts[k].domain),
      );
      expectCells([cells], [decode(row)], 1e-12);
    }
  });
});

interface Spec {
  readonly kind: string;
  readonly [option: string]: unknown;
}

/** y − 2 a (a·y)/(a·a) for the a that takes (0, …, 0, −1) to a centre. */
function reflected(y: readonly number[], centre: readonly number[]): number[] {
  const a = centre.map((v, i) => v / Math.hypot(...centre) + (i === centre.length - 1 ? 1 : 0));
  const dot = (b: readonly number[]): number => a.reduce((s, v, i) => s + v * b[i], 0);
  return y.map((v, i) => v - (2 * a[i] * dot(y)) / dot(a));
}

/** The document's table. */
function cellsBySpec(y: readonly number[], spec: Spec): Cell[] {
  const number = (name: string, otherwise: number): number =>
    (spec[name] as number | undefined) ?? otherwise;
  if (spec.kind === "bent") return cellsBySpec(y, spec.domain as Spec);
  if (spec.kind === "category") {
    const shares = [...y, 1 - y.reduce((a, b) => a + b, 0)];
    return [(spec.labels as Cell[])[shares.indexOf(Math.max(...shares))]];
  }
  if (spec.kind === "integer")
    return [
      Math.min(Math.max(Math.floor(y[0]), number("least", -Infinity)), number("most", Infinity)),
    ];
  if (spec.kind === "angle") {
    const period = number("period", 2 * Math.PI);
    const cell = number("centre", 0) + (period * Math.atan2(y[0], -y[1])) / (2 * Math.PI);
    const from = number("from", number("centre", 0) - period / 2);
    return [cell - period * Math.floor((cell - from) / period)];
  }
  if (spec.kind === "ordered" && spec.above !== undefined && spec.below !== undefined)
    return y.map((v) => number("above", 0) + v * (number("below", 0) - number("above", 0)));
  if (spec.kind === "sphere" && spec.centre !== undefined)
    return reflected(y, spec.centre as number[]);
  if (spec.kind !== "simplex") return [...y];
  const names = spec.parts as string[];
  const at = spec.rest === undefined ? names.length - 1 : names.indexOf(spec.rest as string);
  const all = [...y.slice(0, at), 1 - y.reduce((a, b) => a + b, 0), ...y.slice(at)];
  const kept = all.map((v) => (v < number("zeros", 0) ? 0 : v));
  const sum = kept.reduce((a, b) => a + b, 0);
  return kept.map((v) => (v / sum) * number("total", 1));
}

describe("exportTable", () => {
  const mine = domain({ kind: "mine", map: expMap(), dimension: 1, fault: () => undefined });

  it("writes maps of custom domains, and their names", async () => {
    const own = rows.map(([, size, share]) => [size, share]);
    const model = await fitTable(own, { columns: { size: mine, share: between(0, 2) }, ...small });
    for (const what of ["score", "denoise", "rows"] as const)
      expect(faults(readOnnx(bytesOf(model, what)))).toEqual([]);
    const { spec, columns: places, process } = metadataOf(model);
    expect(JSON.parse(spec).domain.parts[0]).toEqual({ name: "size", own: "mine" });
    expect(JSON.parse(places)).toEqual([
      { name: "size", columns: ["size"], kind: "mine", x: [0, 1], y: [0, 1] },
      { name: "share", columns: ["share"], kind: "between", x: [1, 2], y: [1, 2] },
    ]);
    expect(process).toBe("VP (linear), t from 0 to 1");
    expect(() => exportTable(model, { what: "toString" as never })).toThrow(
      'a table has no output "toString". Export one of score, denoise, rows',
    );
    expect(() => exportTable(model, { batch: 0 })).toThrow(
      "batch is 0. Give an integer, at least 1",
    );
  });
});
