/**
 * Models of masked cells: words, likelihoods that sum to 1, distributions that are known, given
 * cells.
 */
import {
  between,
  category,
  count,
  empirical,
  integer,
  mixed,
  ordered,
  positive,
  product,
  real,
  simplex,
} from "diffeo/domain";
import { normalPoint } from "diffeo/host";
import { inputOf, openInline, resultsOf } from "diffeo/job";
import { networkOf } from "diffeo/model";
import { fold, key, normal, uniform } from "diffeo/random";
import { afterAll, describe, expect, it } from "vitest";
import {
  areBins,
  binsOfValues,
  cellFinder,
  encodeRows,
  placeIn,
  placeOfShare,
  pointIn,
  slopeIn,
} from "../../src/diffusion/encode/index.ts";
import { exportTable } from "../../src/diffusion/file/export.ts";
import { parseTableModel, serializeTableModel } from "../../src/diffusion/file/model-bytes.ts";
import { fitTable } from "../../src/diffusion/fit/fit.ts";
import { binsOf } from "../../src/diffusion/fit/masked.ts";
import { readWords, wordsOf, writePoint } from "../../src/diffusion/network/index.ts";
import { openTable, type TableModel } from "../../src/diffusion/query/table-model.ts";
import { rowsJobs, tableFitJobs } from "../../src/job/index.ts";

const threads = 1;
const open: TableModel[] = [];
const kept = (model: TableModel): TableModel => {
  open.push(model);
  return model;
};
afterAll(() => Promise.all(open.map((model) => model.dispose())));

/** A model whose network was not trained, of a weight that matters. */
function untrained(columns: Parameters<typeof product>[0], atoms = {}, seed = 1): TableModel {
  const domain = product(columns);
  const n = domain.dimension;
  const z = normal(key("bins"), [200, n], { dtype: "float64" }).data;
  const bins = binsOf({ domain, standard: { mean: [], matrix: [] }, atoms }, z);
  const { inputs, outputs } = wordsOf(domain, atoms, bins);
  const network = { kind: "residual", channels: inputs, outputs, width: 16, blocks: 1 } as const;
  const parameters = networkOf(network).init(key(seed));
  const { output } = parameters as unknown as { output: { w: { data: Float32Array } } };
  output.w.data.forEach((w, i) => {
    output.w.data[i] = 9 * w;
  });
  const matrix = Array.from({ length: n * n }, (_, at) => (at % (n + 1) === 0 ? 1 : 0));
  const standard = { mean: Array<number>(n).fill(0), matrix };
  const training = { seed, rows: 200, step: 1, validation: 1 };
  return kept(
    openTable({ domain, standard, atoms, network, parameters, bins, training }, { threads }),
  );
}

describe("bins of a number", () => {
  const values = normal(key("values"), [2000], { dtype: "float64" }).data;
  it.each([
    [40, 2],
    [2000, 63],
  ])("of %i values have invertible positions, and a density of mass 1", (size, number) => {
    const bins = binsOfValues(values.slice(0, size));
    expect(bins.edges).toHaveLength(number - 1);
    let [mass, worst] = [0, 0];
    const [from, to, steps] = [-12, 12, 4000];
    const masses = new Float64Array(bins.edges.length + 1);
    for (let k = 0; k < steps; k++) {
      const z = from + ((k + 0.5) * (to - from)) / steps;
      const { bin, u, logDensity } = placeIn(bins, z);
      masses[bin] += (Math.exp(logDensity) * (to - from)) / steps;
      if (u > 1e-9 && u < 1 - 1e-9) worst = Math.max(worst, Math.abs(pointIn(bins, bin, u) - z));
    }
    for (const one of masses) mass += one;
    expect(mass / masses.length).toBeCloseTo(1, 1);
    expect(worst).toBeLessThan(1e-6);
  });

  it("contain single values if these are frequent, and do not split values", () => {
    const shares = [0.01, 0.2, 0.5, 0.8, 0.99];
    const domain = empirical({ knots: [-0.5, 0.5, 1.5, 10.5, 11.5], shares, step: 1 });
    const [part] = product({ a: domain }).parts;
    const z = (share: number): number => normalPoint(share, 1 - share);
    const found = cellFinder(part)?.(Float64Array.of(z(0.3), z(0.49), z(0.9)));
    expect(Array.from(found?.middle ?? [])).toEqual([z(0.35), z(0.35), z(0.895)]);
    expect(found?.low[1]).toBeCloseTo(z(0.2), 6);
    expect(found?.high[1]).toBeCloseTo(z(0.5), 6);
    const values = Float64Array.from({ length: 6400 }, (_, i) =>
      z(0.01 + (0.98 * (i + 0.5)) / 6400),
    );
    const { edges } = binsOfValues(values, cellFinder(part));
    // Each of the values 0 to 11 has more than half of the rows of one of 64 bins; one more each is
    // beyond.
    const ends = [0.01, 0.2, ...Array.from({ length: 10 }, (_, k) => 0.5 + k / 30), 0.99].map(z);
    expect(edges).toHaveLength(13);
    edges.forEach((edge, k) => {
      expect(edge).toBeCloseTo(ends[k], 5);
    });
  });

  it("have places that are uniform in the rows of training, in the outermost bins too", () => {
    const many = normal(key("many"), [20_000], { dtype: "float64" }).data.map((z) => Math.exp(z));
    const bins = binsOfValues(many);
    expect(bins.outer?.map(({ length }) => length)).toEqual([7, 7]);
    expect(bins.shares?.reduce((sum, share) => sum + share)).toBeCloseTo(1, 12);
    const places = Array.from(many, (z) => placeIn(bins, z));
    for (const some of [places, places.filter(({ bin }) => bin === 0 || bin === 63)]) {
      const u = some.map((place) => place.u).sort((a, b) => a - b);
      const furthest = u.reduce((most, v, i) => Math.max(most, Math.abs(v - i / u.length)), 0);
      expect(furthest).toBeLessThan(some === places ? 0.01 : 0.03);
    }
    // As one piece, the first bin has not half of its rows below its middle.
    const { outer, ...whole } = bins;
    const first = Array.from(many)
      .filter((z) => z < bins.edges[0])
      .sort((a, b) => a - b);
    expect(placeIn(whole, first[first.length >> 1]).u).not.toBeCloseTo(0.5, 1);
    for (const z of [-1, first[3], 0.5, 1, 7, 30]) {
      const { bin, u } = placeIn(bins, z);
      expect(pointIn(bins, bin, u)).toBeCloseTo(z, 6);
    }
  });

  it("are those that a file may hold", () => {
    const bins = binsOfValues(normal(key("few"), [3000], { dtype: "float64" }).data);
    expect(areBins(bins)).toBe(true);
    expect(areBins({ edges: [0, 1], tails: [1, 1] })).toBe(true);
    expect(areBins({ edges: [0, 0], tails: [1, 1] })).toBe(false);
    expect(areBins({ edges: [0, 1], tails: [1, 1], outer: [[], [0.5]] })).toBe(false);
    expect(areBins({ edges: [0, 1], tails: [1, 1], shares: [0.5, 0.5] })).toBe(false);
  });

  it("have a continuous density, and positions that follow it", () => {
    const site = {
      bins: { edges: [0, 1, 3, 4, 5], tails: [1, 1] as const },
      isEven: [true, false, false, false, true, true],
    };
    // Densities 0.2, 0.1, 0.4 of the bins from 0, from 1 and from 3.
    const logits = [0.1, 0.2, 0.2, 0.4, 0.05, 0.05].map(Math.log);
    expect(slopeIn(site, 2, logits, 0)).toBeCloseTo((0.25 - 0.15) / (0.25 + 0.15), 12);
    // Towards a bin that is even, or without end, there is nothing to join.
    expect(slopeIn(site, 1, logits, 0)).toBeCloseTo((0.15 - 0.2) / (0.15 + 0.2), 12);
    expect(slopeIn(site, 4, logits, 0)).toBe(0);
    // Over shares of the rows, the densities are 2, 0.5 and 1.
    const shares = [0.1, 0.1, 0.4, 0.4, 0, 0];
    const shared = { bins: { ...site.bins, shares }, isEven: site.isEven };
    expect(slopeIn(shared, 2, logits, 0)).toBeCloseTo((0.75 - 1.25) / (0.75 + 1.25), 12);
    for (const s of [-0.9, 0, 0.4])
      for (const u of [0.1, 0.5, 0.99])
        expect(placeOfShare(u * (1 - s) + s * u ** 2, s)).toBeCloseTo(u, 12);
  });

  it("are as many as rows allow, and one if there are few values", () => {
    expect(binsOfValues(values.slice(0, 160)).edges).toHaveLength(9);
    expect(binsOfValues(Float64Array.of(0, 0, 0, 0, 1)).edges).toEqual([0.5]);
  });
});

describe("words", () => {
  it("reproduce the points of every kind of column, and have no value for a missing cell", () => {
    const domain = product({
      size: positive(),
      span: ordered(["start", "end"]),
      soil: simplex(["sand", "silt", "clay"], { total: 100 }),
      ward: category(["a", "b", "c"]),
      visits: count(),
      rain: mixed([0], empirical({ knots: [0.05, 1, 4], shares: [0.01, 0.5, 0.99] })),
    });
    const atoms = { visits: [0, 9] } as const;
    const rows = [
      [2, 0.1, 3, 20, 30, 50, "b", 4, 0],
      [5, -1, 0, 10, 80, 10, "c", 0, 2.5],
      [1, 2, 4, null, null, null, null, 9, 1],
    ];
    const u = Float64Array.from({ length: 3 * domain.noise }, () => 0.5);
    const z = encodeRows(rows, domain, u, atoms);
    const n = domain.dimension;
    const words = wordsOf(
      domain,
      atoms,
      binsOf({ domain, atoms, standard: { mean: [], matrix: [] } }, z),
    );
    const found = readWords(words, z, n);
    rows.forEach((_, i) => {
      const own = z.subarray(i * n, (i + 1) * n);
      const again = own.slice();
      domain.parts.forEach((part, k) => {
        const isThere = !Number.isNaN(own[part.at.x]);
        const values = words.sitesOf[k].map((s) => found.values[i * words.sites.length + s]);
        expect(values.some((v) => v >= 0)).toBe(isThere);
        if (isThere) writePoint(words, found, i, k, again);
      });
      // The number of a point mass is any.
      const free = domain.parts[5].at.x + 1;
      own.forEach((v, j) => {
        if (Number.isNaN(v)) expect(again[j]).toBeNaN();
        else if (j !== free || i === 1) expect(again[j]).toBeCloseTo(v, 9);
      });
    });
    expect(found.values.at(-1)).toBeGreaterThanOrEqual(0);
    expect(found.values[words.sites.length - 1]).toBe(-1);
  });
});

describe("the input of the network", () => {
  it("does not depend on how a value was spread over its interval", () => {
    const shares = [0.01, 0.2, 0.5, 0.99];
    const domain = product({ a: empirical({ knots: [-0.5, 0.5, 1.5, 10.5], shares, step: 1 }) });
    const spread = [0.1, 0.9].map((u) =>
      encodeRows(
        [[0], [4], [9]],
        domain,
        Float64Array.from({ length: 3 }, () => u),
        {},
      ),
    );
    const at = { domain, standard: { mean: [], matrix: [] } };
    const words = wordsOf(domain, {}, binsOf(at, spread[0]));
    const [low, high] = spread.map((z) => readWords(words, z, 1));
    expect(low.within).not.toEqual(high.within);
    expect(low.values).toEqual(high.values);
    low.middle.forEach((u, k) => {
      expect(high.middle[k]).toBeCloseTo(u, 9);
      expect(u).toBeGreaterThan(0);
    });
  });
});

describe("a likelihood", () => {
  it("sums to 1 over labels and integers, and over a missing cell to that of the others", async () => {
    const model = untrained(
      { ward: category(["a", "b", "c"]), visits: integer({ least: 0, most: 3 }) },
      { visits: [0, 3] },
    );
    const rows = ["a", "b", "c"].flatMap((ward) => [0, 1, 2, 3].map((k) => [ward, k]));
    const p = (await model.logLikelihood(rows)).map(Math.exp);
    expect(p.reduce((a, b) => a + b)).toBeCloseTo(1, 5);
    const [b] = (await model.logLikelihood([["b", null]])).map(Math.exp);
    expect(b).toBeCloseTo(
      p.slice(4, 8).reduce((s, v) => s + v),
      5,
    );
    expect(Math.max(...p) / Math.min(...p)).toBeGreaterThan(2);
  });

  it("is a probability at point masses and a density elsewhere, with total mass 1", async () => {
    const rain = mixed([0], empirical({ knots: [0, 1, 4], shares: [0.01, 0.5, 0.99], low: -0.01 }));
    const model = untrained({ rain, share: between(0, 1) });
    const shares = Array.from({ length: 40 }, (_, i) => (i + 0.5) / 40);
    const steps = 80;
    // Rain is integrated in F of its distribution, where it goes on beyond the knots.
    const depths = Array.from({ length: steps }, (_, i) => {
      const f = 0.01 + (0.98 * (i + 0.5)) / steps;
      return f < 0.5
        ? { v: (f - 0.01) / 0.49, slope: 0.49 }
        : { v: 1 + (3 * (f - 0.5)) / 0.49, slope: 0.49 / 3 };
    });
    const dry = await model.logLikelihood(shares.map((s) => [0, s]));
    const wet = await model.logLikelihood(shares.flatMap((s) => depths.map(({ v }) => [v, s])));
    const sum = (values: Float64Array, weight: (i: number) => number): number =>
      values.reduce((s, v, i) => s + Math.exp(v) * weight(i), 0);
    const mass =
      sum(dry, () => 1 / 40) + sum(wet, (i) => 0.98 / steps / depths[i % steps].slope / 40);
    // The rest, about 2 %, is beyond the knots.
    expect(mass).toBeGreaterThan(0.93);
    expect(mass).toBeLessThan(1.04);
  });
});

describe("a model of masked cells", () => {
  /**
   * y = 1 with chance 0.9 where x > 0 and 0.2 elsewhere, some of y missing; rain in 4 of 10 rows.
   */
  const rows = Array.from({ length: 1500 }, (_, i) => {
    const x = normal(fold(key("x"), i), [1], { dtype: "float64" }).data[0];
    const [u, lost, wet] = uniform(fold(key("u"), i), [3], { dtype: "float64" }).data;
    const y = u < (x > 0 ? 0.9 : 0.2) ? "yes" : "no";
    return [x, lost < 0.1 ? null : y, x + (y === "yes" ? 2 : -2), wet < 0.6 ? 0 : wet];
  });
  const columns = {
    x: real(),
    y: category(["no", "yes"]),
    z: real(),
    rain: mixed([0], empirical({ knots: [0.6, 1], shares: [0.01, 0.99] })),
  };
  const options = {
    columns,
    network: "masked",
    width: 32,
    blocks: 1,
    steps: 400,
    threads,
  } as const;

  it("learns a distribution with missing cells, keeps given cells, and equals its file", async () => {
    const model = kept(await fitTable(rows, options));
    const [up, down] = await Promise.all(
      [1, -1].map(async (x) => (await model.sample({ count: 400, given: { x } })).rows),
    );
    expect(up.every(([x]) => x === 1)).toBe(true);
    const share = (some: typeof up): number => some.filter(([, y]) => y === "yes").length / 400;
    expect(Math.abs(share(up) - 0.9)).toBeLessThan(0.07);
    expect(Math.abs(share(down) - 0.2)).toBeLessThan(0.13);
    // P(y | x) from likelihoods of rows with a missing value.
    const [joint, alone] = await model.logLikelihood([
      [1, "yes", null, null],
      [1, null, null, null],
    ]);
    expect(Math.abs(Math.exp(joint - alone) - 0.9)).toBeLessThan(0.07);
    // x has the standard Gaussian density.
    const alike = await model.logLikelihood([-0.5, 0, 0.5].map((x) => [x, null, null, null]));
    expect(alike.reduce((s, v) => s + Math.exp(v), 0) / 3).toBeCloseTo(0.368, 1);
    // y is filled from z, which is x + 2 or x − 2.
    const { rows: filled } = await model.complete([[-1, null, -3, null]], { draws: 200 });
    const yes = filled[0].filter(([, y]) => y === "yes").length / 200;
    expect(yes).toBeLessThan(0.1);
    expect(filled[0].every(([x, , z]) => x === -1 && z === -3)).toBe(true);

    const { rows: many } = await model.sample({ count: 1000, seed: 2 });
    const dry = many.filter(([, , , rain]) => rain === 0).length / 1000;
    expect(Math.abs(dry - 0.6)).toBeLessThan(0.06);

    const { rows: all } = await model.sample({ count: 30, seed: 5 });
    const { rows: last } = await model.sample({ count: 10, first: 20, seed: 5 });
    expect(last).toEqual(all.slice(20));
    const bytes = Buffer.concat(serializeTableModel(model));
    const again = kept(parseTableModel(bytes, "m", { threads }));
    expect((await again.sample({ count: 30, seed: 5 })).rows).toEqual(all);
    expect(() => exportTable(again)).toThrow(
      "the model is a network of masked cells, which has no score",
    );
    const [[name, found]] = Object.entries(model.bins ?? {});
    const torn = { ...model, bins: { ...model.bins, [name]: { ...found, edges: [9, 9] } } };
    expect(() => parseTableModel(Buffer.concat(serializeTableModel(torn)))).toThrow(
      "its bins are none",
    );
  });

  it("is the same when fitted as a job, and so are its rows", async () => {
    const run = { seed: 3, steps: 4, given: false, network: "masked" } as const;
    const own = kept(await fitTable(rows, { columns, threads, ...run }));
    const inline = openInline({ threads });
    const fits = tableFitJobs(rows, { ...run, columns, seeds: 1 });
    for await (const { value } of resultsOf(inline, fits)) {
      const model = kept(value);
      expect(model.parameters).toEqual(own.parameters);
      const input = inputOf(Buffer.concat(serializeTableModel(own)), own);
      const given = { y: "yes" };
      const jobs = rowsJobs(input, { count: 12, evaluations: 50, seed: 1, given });
      for await (const drawn of resultsOf(inline, jobs))
        expect(drawn.value.rows).toEqual((await model.sample({ count: 12, seed: 1, given })).rows);
    }
  });

  it("refuses a flow", async () => {
    await expect(fitTable(rows, { ...options, flow: "affine" })).rejects.toThrow(
      "a network of masked cells takes no flow",
    );
  });
});
