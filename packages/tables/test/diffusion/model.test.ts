import { affine } from "diffeo/bijector";
import {
  angle,
  between,
  type Cell,
  category,
  count,
  domain,
  ordered,
  positive,
  product,
  real,
  simplex,
} from "diffeo/domain";
import { mul, type NdArray, square, sub } from "diffeo/graph";
import { networkOf } from "diffeo/model";
import { fold, key, normal, uniform } from "diffeo/random";
import { logDensity } from "diffeo/sampler";
import { reverse } from "diffeo/sde";
import { beforeAll, describe, expect, it } from "vitest";
import { mapRows } from "../../src/diffusion/encode/map-rows.ts";
import { standardMap, standardOf } from "../../src/diffusion/encode/standard.ts";
import { parseTableModel, serializeTableModel } from "../../src/diffusion/file/model-bytes.ts";
import { fitTable } from "../../src/diffusion/fit/fit.ts";
import { heldOut } from "../../src/diffusion/fit/prepare.ts";
import { withGraphs } from "../../src/diffusion/network/graphs.ts";
import {
  LAST_LEVEL,
  predictorOf,
  tableScore,
  tableSde,
  timeOf,
} from "../../src/diffusion/network/model.ts";
import type { DrawnRows } from "../../src/diffusion/query/draw.ts";
import { logDensityOf } from "../../src/diffusion/query/likelihood.ts";
import { openTable, type TableModel } from "../../src/diffusion/query/table-model.ts";
import { modelDistribution } from "../../src/measure/table-distribution.ts";

const small = { width: 32, blocks: 1, rate: 5e-3, threads: 1 } as const;

const columns = {
  size: positive(),
  share: between(0, 1),
  span: ordered(["start", "end"]),
  soil: simplex(["sand", "silt", "clay"], { total: 100 }),
  visits: count(),
  ward: category(["a", "b"]),
};

/** Rows whose columns depend on each other: ward b has more visits, and larger sizes. */
function rowsOf(n: number): Cell[][] {
  const z = normal(key("rows"), [n, 6], { dtype: "float64" }).data;
  const u = uniform(fold(key("rows"), 1), [n, 2], { dtype: "float64" }).data;
  return Array.from({ length: n }, (_, i) => {
    const [a, b, c, d, e, f] = z.subarray(6 * i, 6 * i + 6);
    const ward = u[2 * i] < 0.3 ? "b" : "a";
    const parts = [Math.exp(d), Math.exp(0.5 * e), Math.exp(0.3 * d + 0.2 * f)];
    const total = parts.reduce((s, v) => s + v, 0);
    return [
      Math.exp(0.5 * a + (ward === "b" ? 1 : 0)),
      1 / (1 + Math.exp(-b)),
      c,
      c + Math.exp(0.5 * a),
      ...parts.map((v) => (100 * v) / total),
      Math.floor((ward === "b" ? 9 : 3) * (0.5 + u[2 * i + 1])),
      ward,
    ];
  });
}

const bytesOf = (model: TableModel): Uint8Array =>
  Uint8Array.from(serializeTableModel(model).flatMap((part) => Array.from(part)));

/** A model whose network was not trained, of a weight that matters. */
function untrained(of: ReturnType<typeof product>, seed: number): TableModel {
  const n = of.dimension;
  const network = { kind: "residual", channels: n, width: 16, blocks: 2 } as const;
  const parameters = networkOf(network).init(key(seed));
  const { output } = parameters as unknown as { output: { w: { data: Float32Array } } };
  output.w.data.forEach((w, i) => {
    output.w.data[i] = 6 * w;
  });
  const matrix = Array.from({ length: n * n }, (_, at) => (at % (n + 1) === 0 ? 1.3 : 0.1));
  const standard = { mean: Array.from({ length: n }, (_, i) => 0.2 * i), matrix };
  const training = { seed, rows: 100, step: 1, validation: 1 };
  return openTable({ domain: of, standard, network, parameters, training }, { threads: 1 });
}

describe("a standard", () => {
  it("has mean 0, does not rotate uncorrelated columns, and shrinks correlations by their random part", () => {
    const [n, count] = [3, 12];
    const z = normal(key(1), [count, n], { dtype: "float64" }).data.map(
      (v, i) => [100, 1e-3, 5][i % n] * v + (i % n),
    );
    for (let i = 0; i < z.length; i += n) z[i + 2] += 0.04 * z[i];
    const standard = standardOf(z, n, String);
    const columnOf = (j: number): number[] =>
      Array.from({ length: count }, (_, row) => z[row * n + j]);
    const mean = (values: ArrayLike<number>): number =>
      Array.from(values).reduce((a, b) => a + b) / values.length;
    const u = [0, 1, 2].map((j) => {
      const column = columnOf(j);
      const d = Math.sqrt(mean(column.map((v) => (v - mean(column)) ** 2)));
      expect(standard.mean[j]).toBeCloseTo(mean(column), 12);
      return { d, values: column.map((v) => (v - mean(column)) / d) };
    });
    // The estimator as it is published: variances of the products over the sum of squared
    // correlations.
    const pairs = [0, 1, 2].flatMap((i) => [0, 1, 2].filter((j) => j !== i).map((j) => [i, j]));
    const products = pairs.map(([i, j]) => u[i].values.map((v, row) => v * u[j].values[row]));
    const chance = products.map(
      (w) => (count / (count - 1) ** 3) * w.reduce((a, v) => a + (v - mean(w)) ** 2, 0),
    );
    const gamma = chance.reduce((a, b) => a + b) / products.reduce((a, w) => a + mean(w) ** 2, 0);
    expect(gamma).toBeGreaterThan(0.05);
    expect(gamma).toBeLessThan(0.95);
    // z = mean + x M with x of covariance I has the covariance MᵀM.
    for (let i = 0; i < n; i++)
      for (let j = 0; j < n; j++) {
        const r = mean(u[i].values.map((v, row) => v * u[j].values[row]));
        const found = [0, 1, 2].reduce(
          (a, k) => a + standard.matrix[k * n + i] * standard.matrix[k * n + j],
          0,
        );
        expect(found / (u[i].d * u[j].d)).toBeCloseTo(i === j ? 1 : (1 - gamma) * r, 12);
      }
    const x = mapRows(z, n, standardMap(standard).inverse);
    expect(mapRows(x, n, standardMap(standard).forward)[5]).toBeCloseTo(z[5], 9);
    const far = normal(key(2), [4000, 2], { dtype: "float64" }).data;
    expect(Math.abs(standardOf(far, 2, String).matrix[1])).toBeLessThan(1e-3);
    // Two columns that are one have the eigenvalues 2 and 0, which counts as 10⁻⁴: |M| is √(2·10⁻⁴)
    // of their variance.
    const one = normal(key(3), 60_000, { dtype: "float64" }).data;
    const twice = Float64Array.from({ length: 120_000 }, (_, i) => one[i >> 1]);
    const [a, b, c, d] = standardOf(twice, 2, String).matrix;
    const variance = mean(one.map((v) => v * v)) - mean(one) ** 2;
    expect(((a * d - b * c) / variance) ** 2 / 2e-4).toBeCloseTo(1, 3);
  });

  it("from fewer rows than columns also standardises other rows", () => {
    const n = 60;
    const few = standardOf(normal(key(3), [40, n], { dtype: "float64" }).data, n, String);
    const fresh = mapRows(
      normal(key(4), [40, n], { dtype: "float64" }).data,
      n,
      standardMap(few).inverse,
    );
    expect(fresh.reduce((a, v) => a + v * v, 0) / fresh.length).toBeLessThan(1.5);
  });

  it("names a constant column", () => {
    expect(() =>
      standardOf(
        Float64Array.from({ length: 14 }, (_, i) => (i % 2 === 0 ? i : 0.1)),
        2,
        (i) => `column ${i}`,
      ),
    ).toThrow("column 1 has one value in all rows, to 16 digits");
  });

  it("distinguishes it from values that differ by too little", () => {
    for (const value of [(i: number) => i * 1e-200, (i: number) => 2 ** 60 + 256 * i])
      expect(() =>
        standardOf(
          Float64Array.from({ length: 7 }, (_, i) => value(i)),
          1,
          String,
        ),
      ).toThrow("0 varies by less than numbers of 16 digits can show");
  });
});

describe("a model of a table", () => {
  const rows = rowsOf(2000);
  let model: TableModel;
  beforeAll(async () => {
    model = await fitTable(rows, { columns, ...small, steps: 120 });
  });

  it("samples rows inside the domains, distributed like the training rows", async () => {
    const { rows: drawn, columns: names, evaluations } = await model.sample({ count: 2000 });
    expect(names).toEqual([
      "size",
      "share",
      "start",
      "end",
      "sand",
      "silt",
      "clay",
      "visits",
      "ward",
    ]);
    expect(evaluations).toBe(50);
    for (const row of drawn) expect(model.domain.fault(row)).toBeUndefined();
    const quantile = (of: readonly (readonly Cell[])[], j: number, p: number): number =>
      of.map((row) => row[j] as number).sort((a, b) => a - b)[Math.floor(p * of.length)];
    for (let j = 0; j < 8; j++) {
      const spread = quantile(rows, j, 0.9) - quantile(rows, j, 0.1);
      for (const p of [0.1, 0.5, 0.9])
        expect(
          Math.abs(quantile(drawn, j, p) - quantile(rows, j, p)),
          `column ${j} at ${p}`,
        ).toBeLessThan(j === 7 ? 1.5 : 0.15 * spread);
    }
    const shareOf = (of: readonly (readonly Cell[])[]) =>
      of.filter((row) => row[8] === "b").length / of.length;
    expect(Math.abs(shareOf(drawn) - shareOf(rows))).toBeLessThan(0.06);
    const visits = (of: readonly (readonly Cell[])[], ward: string): number => {
      const some = of.filter((row) => row[8] === ward).map((row) => row[7] as number);
      return some.reduce((s, v) => s + v, 0) / some.length;
    };
    expect(Math.abs(visits(drawn, "b") - visits(rows, "b"))).toBeLessThan(1.2);
  });

  it("samples the same rows for the same seed, also from its bytes", async () => {
    const again = parseTableModel(bytesOf(model), undefined, { threads: 1 });
    const [first, second, other] = await Promise.all([
      model.sample({ count: 20, seed: 3 }),
      again.sample({ count: 20, seed: 3 }),
      model.sample({ count: 20, seed: 4 }),
    ]);
    expect(second.rows).toEqual(first.rows);
    expect(other.rows).not.toEqual(first.rows);
  });

  it("samples, completes and scores on the specified device", async () => {
    const few = { evaluations: 20 };
    const bytes = bytesOf(model);
    const holes = rows
      .slice(0, 3)
      .map((row) => row.with(0, undefined as never).with(8, undefined as never));
    const on = async (device: string): Promise<readonly unknown[]> => {
      const own = parseTableModel(bytes, undefined, { device, threads: 1 });
      const { rows: drawn } = await own.sample({ count: 3, ...few });
      const { rows: given } = await own.sample({ count: 3, given: { share: 0.5 }, ...few });
      const { rows: filled } = await own.complete(holes, few);
      const { rows: likely } = await own.condition(({ share }) => mul(share, 2))({
        particles: 8,
        steps: 5,
      });
      const scores = Array.from(await own.logLikelihood(rows.slice(0, 3), few));
      await own.dispose();
      return [drawn, given, filled, likely, scores].flat(3);
    };
    const [here, there] = [await on("cpu"), await on("reference")];
    expect(there).toHaveLength(here.length);
    // In float64 there, so not to the last digit.
    expect(there).not.toEqual(here);
    for (const [i, cell] of there.entries())
      if (typeof cell === "number")
        expect(Math.abs(cell - (here[i] as number))).toBeLessThan(1e-3 * (1 + Math.abs(cell)));
      else expect(cell).toBe(here[i]);
    const nowhere = parseTableModel(bytes, undefined, { device: "abacus" });
    await expect(nowhere.sample({ count: 1 })).rejects.toThrow('"abacus"');
  });

  it("is standardised by training rows only: held-out numbers change nothing", async () => {
    const some = rows.slice(0, 200);
    const held = new Set(heldOut(some.length).held);
    const other = some.map((row, i) => (held.has(i) ? [1e6, ...row.slice(1)] : row)) as typeof some;
    const fit = { columns, ...small, steps: 1, given: false };
    const [a, b] = [await fitTable(some, fit), await fitTable(other, fit)];
    expect(b.standard).toEqual(a.standard);
  });

  it("can be sampled during the fit, by either network, without effect on the fit", async () => {
    const options = { columns: { a: positive(), b: real() }, ...small, steps: 3 };
    const data = Array.from({ length: 30 }, (_, i) => [i + 1, i % 7]);
    const seen: DrawnRows[] = [];
    const watched = await fitTable(data, {
      ...options,
      onMeasured: async (draw) => void seen.push(await draw({ count: 4, seed: 2, evaluations: 5 })),
    });
    // Three measurements of each network, one of them of the weights that are kept.
    expect(seen).toHaveLength(6);
    for (const { rows: drawn } of seen)
      for (const row of drawn) expect(watched.domain.fault(row)).toBeUndefined();
    expect(seen[2 + watched.training.step].rows).toEqual(
      (await watched.sample({ count: 4, seed: 2, evaluations: 5 })).rows,
    );
    expect(bytesOf(watched)).toEqual(bytesOf(await fitTable(data, options)));
  });

  it("accepts rows by name, and names a row outside of its domain", async () => {
    const options = { columns: { a: positive(), b: real() }, ...small, steps: 1 };
    const good = Array.from({ length: 20 }, (_, i) => ({ b: i % 7, a: i + 1 }));
    const found = await fitTable(good, options);
    expect(found.domain.columns).toEqual(["a", "b"]);
    const bad = good.map((row, i) => (i === 6 ? { ...row, a: -2 } : row));
    await expect(fitTable(bad, options)).rejects.toThrow(/row 7: a: -2 is not above 0/);
    await expect(fitTable([...good, { a: 1 } as never], options)).rejects.toThrow(
      'row 21 has no cell "b"',
    );
    await expect(fitTable(good.slice(0, 4), options)).rejects.toThrow("4 rows are too few");
  });
});

it("is conditioned by the names of columns, in any position, and by its seed", async () => {
  const model = untrained(product({ turn: angle(), b: real() }), 3);
  const near = model.condition(({ b }) => mul(square(sub(b, 0.5)), -0.5 / 0.05 ** 2));
  const draws = async (seed: number) => (await near({ particles: 100, steps: 20, seed })).rows;
  const rows = await draws(1);
  expect(Math.abs(rows.reduce((s, [, b]) => s + Number(b), 0) / rows.length - 0.5)).toBeLessThan(
    0.1,
  );
  expect(await draws(1)).toEqual(rows);
  expect(await draws(2)).not.toEqual(rows);
});

describe("a likelihood", () => {
  it("agrees with the adaptive flow to 10⁻³ nats in 100 evaluations", async () => {
    const model = untrained(product({ a: real(), b: real(), c: real() }), 2);
    const x = normal(key(5), [40, 3], { dtype: "float64" });
    const field = { name: "rows", n: 3, predict: predictorOf(model) };
    const found = await withGraphs({ threads: 1 }, (graphs) =>
      logDensityOf(graphs, field, { x: x.data }),
    );
    const m = 1 / Math.sqrt(1 + Math.exp(-LAST_LEVEL));
    const noised: NdArray = { ...x, data: x.data.map((v) => m * v) };
    const exact = await logDensity(reverse(tableSde, tableScore(model)), noised, {
      tStart: timeOf(LAST_LEVEL),
      tolerance: 1e-7,
      type: "float32",
      threads: 1,
    });
    const gaussian = Array.from({ length: 40 }, (_, i) =>
      x.data
        .subarray(3 * i, 3 * i + 3)
        .reduce((s, v) => s - (v * v + Math.log(2 * Math.PI)) / 2, 0),
    );
    let moved = 0;
    found.forEach((value, i) => {
      const wanted = Number(exact.logDensity.data[i]) + 3 * Math.log(m);
      expect(Math.abs(value - wanted)).toBeLessThan(1e-3);
      moved = Math.max(moved, Math.abs(value - gaussian[i]));
    });
    // The network says something.
    expect(moved).toBeGreaterThan(0.3);
  });

  it("estimated by random directions has no bias, and its noise falls as 1/√K", async () => {
    const model = untrained(product({ a: real(), b: real(), c: real(), d: real() }), 2);
    const [count, row] = [1200, [0.4, -0.3, 1, 0.2]];
    const copies = Array.from({ length: count }, () => row);
    const [exact] = await model.logLikelihood([row], { evaluations: 40 });
    const deviations: number[] = [];
    for (const probes of [1, 3]) {
      const found = await model.logLikelihood(copies, { evaluations: 40, probes });
      const mean = found.reduce((s, v) => s + v, 0) / count;
      const deviation = Math.sqrt(found.reduce((s, v) => s + (v - mean) ** 2, 0) / count);
      expect(deviation).toBeGreaterThan(0.02);
      expect(Math.abs(mean - exact)).toBeLessThan((4 * deviation) / Math.sqrt(count));
      deviations.push(deviation);
    }
    // Of 1,200 values a deviation is known to 2 to 5 %.
    expect(deviations[0] / deviations[1] / Math.sqrt(3)).toBeCloseTo(1, 0.7);
    // As many directions as coordinates are those of the coordinates.
    const [all] = await model.logLikelihood([row], { evaluations: 40, probes: 4 });
    expect(all).toBe(exact);
  });

  it("is estimated in an evaluation of more than 64 coordinates, and not below", () => {
    const distribution = (n: number) =>
      modelDistribution(
        untrained(
          product(Object.fromEntries(Array.from({ length: n }, (_, i) => [`c${i}`, real()]))),
          1,
        ),
      );
    expect(distribution(64).probes).toBeUndefined();
    expect(distribution(65).probes).toBe(16);
  });

  it("integrates to one over the cells", async () => {
    const model = untrained(product({ a: positive(), b: between(0, 10) }), 4);
    // The mean over a grid of z = (log a, logit b/10) of density times a b (1 − b/10), and the area
    // of the grid.
    const side = 56;
    const [low, high] = [-8, 9];
    const at = (i: number): number => low + ((i + 0.5) * (high - low)) / side;
    const cells: [number, number][] = [];
    for (let i = 0; i < side; i++)
      for (let j = 0; j < side; j++) cells.push([Math.exp(at(i)), 10 / (1 + Math.exp(-at(j)))]);
    const found = await model.logLikelihood(cells);
    let total = 0;
    cells.forEach(([a, b], i) => {
      total += Math.exp(found[i]) * a * b * (1 - b / 10);
    });
    expect(total * ((high - low) / side) ** 2).toBeCloseTo(1, 2);
  });

  it("uses enough evaluations", async () => {
    const model = untrained(product({ a: real() }), 1);
    await expect(model.logLikelihood([[0]], { evaluations: 12 })).rejects.toThrow("at least 13");
  });
});

describe("the bytes of a model", () => {
  const model = untrained(product({ a: positive(), b: between(0, 1) }), 1);

  it("are refused if something does not fit", () => {
    const rest = { ...model, standard: { mean: [0], matrix: [1] } };
    expect(() => parseTableModel(bytesOf(rest))).toThrow("its standard is not that of its columns");
    const flat = { ...model, standard: { mean: [0, 0], matrix: [1, 2, 1, 2] } };
    expect(() => parseTableModel(bytesOf(flat), "some.model")).toThrow(/some.model: its standard/);
    const other = { ...model, network: { ...model.network, width: 17 } as TableModel["network"] };
    expect(() => parseTableModel(bytesOf(other), "some.model")).toThrow(/some.model: /);
    const huge = { ...model, network: { ...model.network, width: 1e9 } as TableModel["network"] };
    expect(() => parseTableModel(bytesOf(huge))).toThrow("exceeds the limit of");
    expect(() => parseTableModel(new Uint8Array(4))).toThrow("it has only 4 bytes");
  });

  it("name a custom domain, which must be given again", () => {
    const own = domain({
      kind: "mine",
      map: affine({ scale: 2 }),
      dimension: 1,
      fault: () => undefined,
    });
    const bytes = bytesOf(untrained(product({ a: positive(), mine: own }), 1));
    expect(() => parseTableModel(bytes, "some.model")).toThrow(
      'some.model: "mine" has a custom domain, "mine", which the file does not hold',
    );
    expect(() => parseTableModel(bytes, "some.model", { columns: { mine: real() } })).toThrow(
      "does not hold",
    );
    const again = parseTableModel(bytes, "some.model", { columns: { mine: own } });
    expect(again.domain.parts.map(({ domain: { kind } }) => kind)).toEqual(["positive", "mine"]);
    expect(again.domain.parts[1].domain).toBe(own);
  });
});
