import { between, type Cell, category, positive, product, real } from "diffeo/domain";
import { isNdArray, mapTree, type NdArray } from "diffeo/graph";
import { networkOf, type Parameters } from "diffeo/model";
import { key, normal } from "diffeo/random";
import { beforeAll, describe, expect, it } from "vitest";
import { mapRows } from "../../src/diffusion/encode/map-rows.ts";
import { standardOf } from "../../src/diffusion/encode/standard.ts";
import { parseTableModel, serializeTableModel } from "../../src/diffusion/file/model-bytes.ts";
import { fitTable } from "../../src/diffusion/fit/fit.ts";
import { type Flow, intoFlow, outOfFlow } from "../../src/diffusion/network/flow.ts";
import { withGraphs } from "../../src/diffusion/network/graphs.ts";
import { headOf } from "../../src/diffusion/network/head.ts";
import { LAST_LEVEL, tableMap } from "../../src/diffusion/network/model.ts";
import { openTable, type TableModel } from "../../src/diffusion/query/table-model.ts";

const bytesOf = (model: TableModel): Uint8Array =>
  Uint8Array.from(serializeTableModel(model).flatMap((part) => Array.from(part)));

/** Parameters with every array by a function of its name. */
const filled = (
  parameters: Parameters<NdArray>,
  size: (name: string) => number,
): Parameters<NdArray> =>
  mapTree<NdArray, NdArray>(
    parameters,
    (array, name) => ({
      ...array,
      data: (normal(key(name), array.shape).data as Float32Array).map((v) => size(name) * v),
    }),
    isNdArray,
  );

const columns = { size: positive(), share: between(0, 1), ward: category(["a", "b", "c"]) };
const domain = product(columns);
const n = domain.dimension;
const standard = standardOf(
  mapRows(
    Float64Array.from(
      Array.from({ length: 300 }, (_, i) =>
        domain.encode([0.1 * (1 + (i % 17)), (1 + (i % 9)) / 11, "abc"[i % 3]], []),
      ).flat(),
    ),
    domain.size,
    domain.map.inverse,
  ),
  n,
  String,
  // Labels are whitened apart.
  [[2, 4]],
);
const couplings = {
  kind: "couplings",
  channels: n,
  moved: [0, 1],
  couplings: 4,
  width: 8,
  bins: 4,
} as const;
const flow: Flow = {
  network: couplings,
  parameters: filled(networkOf(couplings).init(key(1)), () => 0.4),
};

/**
 * A model whose network says nothing: x of numbers is N(0, I), and all labels are equally likely.
 */
function silent(): TableModel {
  const { outputs } = headOf({ domain, standard });
  const network = { kind: "residual", channels: n, outputs, width: 8, blocks: 1 } as const;
  const parameters = filled(networkOf(network).init(key(2)), (name) =>
    name.includes("output") ? 0 : 1,
  );
  const training = { seed: 0, rows: 100, step: 1, validation: 1 };
  return openTable({ domain, standard, network, parameters, flow, training }, { threads: 1 });
}

describe("a flow as the last part of a table's map", () => {
  it("gives rows the density of N(0, I) in its x, by the change of variables", async () => {
    const model = silent();
    const rows: Cell[][] = [
      [0.4, 0.3, "a"],
      [2.5, 0.9, "c"],
      [30, 0.01, "b"],
    ];
    const scores = await model.logLikelihood(rows, { evaluations: 800 });
    // y = (size, share) by way of x: differences of φ itself, with the label's coordinates held.
    const numbers = (x: readonly number[], label: Float64Array): Float64Array =>
      mapRows(Float64Array.from([...x, ...label]), n, tableMap(model).forward).subarray(0, 2);
    for (const [i, row] of rows.entries()) {
      const x = mapRows(
        Float64Array.from(domain.encode(row, [])),
        domain.size,
        tableMap(model).inverse,
      );
      const [a, b] = x;
      const label = x.subarray(2);
      const h = 1e-6;
      const along = [0, 1].map((j) => {
        const at = (by: number) => numbers([a + (j === 0 ? by : 0), b + (j === 1 ? by : 0)], label);
        const [up, down] = [at(h), at(-h)];
        return [(up[0] - down[0]) / (2 * h), (up[1] - down[1]) / (2 * h)];
      });
      const volume = Math.log(Math.abs(along[0][0] * along[1][1] - along[0][1] * along[1][0]));
      // Rows are data at the last level: the density of m x there, times m a number.
      const m2 = 1 / (1 + Math.exp(-LAST_LEVEL));
      const wanted =
        -Math.log(2 * Math.PI) + Math.log(m2) - (m2 * (a * a + b * b)) / 2 - volume - Math.log(3);
      expect(scores[i]).toBeCloseTo(wanted, 4);
    }
  });

  it("has an exact inverse, and does not change labels", async () => {
    const w = normal(key(5), [50, n], { dtype: "float64" }).data.map((v) => 2 * v);
    const [x, back] = await withGraphs({ threads: 1 }, async (graphs) => {
      const through = await intoFlow(flow, w, graphs);
      return [through.x, await outOfFlow(flow, through.x, graphs)];
    });
    for (let i = 0; i < w.length; i++) {
      expect(back[i]).toBeCloseTo(w[i], 10);
      if (i % n >= 2) expect(x[i]).toBe(w[i]);
    }
    expect(Math.abs(x[0] - w[0])).toBeGreaterThan(1e-3);
  });

  it("samples rows from its x, the same from a file", async () => {
    const model = silent();
    const { rows } = await model.sample({ count: 400 });
    for (const row of rows) expect(domain.fault(row)).toBeUndefined();
    const y = Float64Array.from(rows.flatMap((row) => domain.encode(row, [])));
    const x = mapRows(y, domain.size, tableMap(model).inverse);
    for (const j of [0, 1]) {
      const own = x.filter((_, i) => i % n === j);
      const mean = own.reduce((s, v) => s + v, 0) / own.length;
      const variance = own.reduce((s, v) => s + (v - mean) ** 2, 0) / own.length;
      expect(Math.abs(mean)).toBeLessThan(0.2);
      expect(Math.abs(variance - 1)).toBeLessThan(0.3);
    }
    const again = parseTableModel(bytesOf(model), undefined, { threads: 1 });
    expect((await again.sample({ count: 20 })).rows).toEqual(
      (await model.sample({ count: 20 })).rows,
    );
    expect(again.flow?.network).toEqual(couplings);
  });

  it("is refused if it changes a label, or is incomplete", () => {
    const model = silent();
    const other = { ...flow, network: { ...couplings, moved: [0, 2] } };
    expect(() => parseTableModel(bytesOf({ ...model, flow: other }))).toThrow(
      "its flow is not one of its numbers",
    );
    const { couplings: all } = flow.parameters as unknown as { couplings: unknown[] };
    const short = {
      network: couplings,
      parameters: { couplings: all.slice(1) } as unknown as Parameters<NdArray>,
    };
    expect(() => parseTableModel(bytesOf({ ...model, flow: short }))).toThrow("of this size");
  });
});

describe("a fit with a flow", () => {
  // A bent pair: b is a² and noise, which no map of single columns straightens.
  const z = normal(key("banana"), [1200, 2], { dtype: "float64" }).data;
  const rows = Array.from({ length: 1200 }, (_, i) => [
    z[2 * i],
    z[2 * i] ** 2 + 0.3 * z[2 * i + 1],
  ]);
  const own = {
    columns: { a: real(), b: real() },
    width: 24,
    blocks: 1,
    rate: 5e-3,
    threads: 1,
    given: false,
  } as const;
  let model: TableModel;
  beforeAll(async () => {
    model = await fitTable(rows, { ...own, flow: "affine", steps: 150 });
  });

  it("learns a bent distribution", async () => {
    const plain = await fitTable(rows, { ...own, steps: 150 });
    const test = rows.slice(0, 200);
    const mean = (logs: Float64Array): number => logs.reduce((s, v) => s + v, 0) / logs.length;
    const [bent, straight] = [
      mean(await model.logLikelihood(test)),
      mean(await plain.logLikelihood(test)),
    ];
    // log N(a) + log N(b − a²; 0.3²) has the mean −log 2π − log 0.3 − 1.
    const truth = -Math.log(2 * Math.PI) - Math.log(0.3) - 1;
    expect(bent).toBeGreaterThan(straight);
    expect(Math.abs(bent - truth)).toBeLessThan(0.35);
  });

  it("maps rows with the noise of its training to coordinates with mean square 1", async () => {
    // Of T stretched by e^a the loss is ½ e^{2a} E x² − a: at its least, E x² is what log|det J|
    // counts for.
    const { domain: own, standard: by } = model;
    const w = mapRows(
      Float64Array.from(rows.flat()),
      2,
      tableMap({ domain: own, standard: by }).inverse,
    );
    const noise = normal(key(9), [1200, 2], { dtype: "float64" }).data;
    const { x } = await withGraphs({ threads: 1 }, (graphs) =>
      intoFlow(
        model.flow as Flow,
        w.map((v, i) => v + 0.6 * noise[i]),
        graphs,
      ),
    );
    for (const j of [0, 1]) {
      const squares = x.filter((_, i) => i % 2 === j).map((v) => v * v);
      expect(Math.abs(squares.reduce((s, v) => s + v, 0) / squares.length - 1)).toBeLessThan(0.1);
    }
  });

  it("needs two numbers", async () => {
    const labels = Array.from({ length: 40 }, (_, i) => [i % 7, i % 3 === 0 ? "a" : "b"]);
    const of = { a: real(), ward: category(["a", "b"]) };
    await expect(
      fitTable(labels, { ...own, columns: of, flow: "affine", steps: 2 }),
    ).rejects.toThrow("a flow of 1 coordinates");
  });
});
