/**
 * The verdict on models that are known to be right, and on models that are known to be wrong in one
 * way each: the first are never called wrong, the others always are, by the measure that shows it.
 */
import { category, product, real } from "diffeo/domain";
import { cholesky, lowerSolve, normalShare } from "diffeo/host";
import { key, normal, uniform } from "diffeo/random";
import { describe, expect, it } from "vitest";
import { evaluateTable } from "../../src/measure/evaluate.ts";
import type { Cells, OpenCells, TableDistribution } from "../../src/measure/table-distribution.ts";
import { allFaultsOf, verdictOf } from "../../src/report/text.ts";

const domain = product({ x: real(), y: real(), z: real(), k: category(["a", "b", "c"]) });

/** y = ρx + noise, z = 0.5x + noise, and labels whose chances x settles. */
interface World {
  readonly rho: number;
  readonly spread: number;
  readonly labels: readonly number[];
  /** Decimals of y; densities of rounded numbers are those of the numbers. */
  readonly decimals?: number;
}

const truth: World = { rho: 0.8, spread: 0.6, labels: [0.5, 0.3, 0.2] };
const rounded: World = { ...truth, decimals: 1 };

const logNormal = (v: number, scale: number): number =>
  -((v / scale) ** 2 + Math.log(2 * Math.PI)) / 2 - Math.log(scale);

const labelAt = ({ labels }: World, u: number): string =>
  u < labels[0] ? "a" : u < labels[0] + labels[1] ? "b" : "c";

const rows = (world: World, count: number, seed: number): Cells[] => {
  const { rho, spread, decimals = 12 } = world;
  const z = normal(key(seed), [count, 3], { dtype: "float64" }).data;
  const u = uniform(key(seed), count, { dtype: "float64" }).data;
  return Array.from({ length: count }, (_, i) => {
    const x = z[3 * i];
    const y = Number((rho * x + spread * z[3 * i + 1]).toFixed(decimals));
    return [x, y, 0.5 * x + z[3 * i + 2], labelAt(world, u[i])];
  });
};

/**
 * Mean and variance of number `at` of a row given others, by their two or three by three
 * covariance.
 */
function given({ rho, spread }: World, row: OpenCells, at: number, others: readonly number[]) {
  const covariance = [
    [1, rho, 0.5],
    [rho, rho ** 2 + spread ** 2, 0.5 * rho],
    [0.5, 0.5 * rho, 1.25],
  ];
  const l = cholesky(
    others.flatMap((i) => others.map((j) => covariance[i][j])),
    others.length,
  ) as Float64Array;
  const along = lowerSolve(
    l,
    Float64Array.from(others, (i) => covariance[i][at]),
  );
  const seen = lowerSolve(
    l,
    Float64Array.from(others, (i) => Number(row[i])),
  );
  return {
    mean: along.reduce((s, v, k) => s + v * seen[k], 0),
    variance: along.reduce((s, v) => s - v * v, covariance[at][at]),
  };
}

/** The numbers of a row that are there, before a place. */
const thereIn = (row: OpenCells, before = 3): number[] =>
  [0, 1, 2].filter((i) => i < before && row[i] !== null);

/** The distribution of a world; rows may be those of another. */
const exactDistribution = (world: World, drawsOf: World = world): TableDistribution => ({
  name: "world",
  logLikelihood: (some) =>
    Float64Array.from(some, (row) =>
      thereIn(row).reduce(
        (sum, at) => {
          const { mean, variance } = given(world, row, at, thereIn(row, at));
          return sum + logNormal(Number(row[at]) - mean, Math.sqrt(variance));
        },
        row[3] === null ? 0 : Math.log(world.labels["abc".indexOf(String(row[3]))]),
      ),
    ),
  draw: (count, seed) => rows(drawsOf, count, seed + 900),
  complete: async (some, seed) => {
    const noise = normal(key(seed + 77), [some.length, 4], { dtype: "float64" }).data;
    return some.map((row, i) => {
      const own = [...row];
      for (const at of [0, 1, 2]) {
        if (own[at] !== null) continue;
        const { mean, variance } = given(world, own, at, thereIn(own));
        const found = mean + Math.sqrt(variance) * noise[4 * i + at];
        own[at] = at === 1 ? Number(found.toFixed(world.decimals ?? 12)) : found;
      }
      own[3] ??= labelAt(world, normalShare(noise[4 * i + 3]));
      return own as Cells;
    });
  },
});

/**
 * Rows whose y is missing where x is large, and whose label is at random: for reasons that are
 * seen.
 */
const torn = (all: readonly Cells[]): OpenCells[] =>
  all.map(([x, y, z, k], i) => [x, Number(x) > 0.3 ? null : y, z, i % 3 === 0 ? null : k]);

const faults = async (
  distribution: TableDistribution,
  held: readonly OpenCells[],
  training: readonly OpenCells[],
) => {
  const { evaluation } = await evaluateTable(distribution, domain, {
    rows: held,
    training,
    samples: 800,
  });
  return { evaluation, found: allFaultsOf(evaluation) };
};

describe("a right model", () => {
  it.each([1, 2])("is not reported as wrong (%i)", async (seed) => {
    const { found, evaluation } = await faults(
      exactDistribution(truth),
      rows(truth, 300, seed),
      rows(truth, 500, seed + 50),
    );
    expect(found).toEqual([]);
    expect(verdictOf(evaluation)).toMatch(/no problem found/);
  });

  it.each([4, 5])(
    "is not called wrong where cells are missing for what the row shows (%i)",
    async (seed) => {
      const [held, training] = [torn(rows(truth, 300, seed)), torn(rows(truth, 500, seed + 50))];
      const { found, evaluation } = await faults(exactDistribution(truth), held, training);
      expect(found).toEqual([]);
      expect(evaluation.rows).toBe(300);
      expect(evaluation.torn).toBeGreaterThan(150);
      // The cells that are there are no those of all rows, and no baseline gains by that.
      const y = evaluation.model.columns.find(({ column }) => column === "y");
      expect(y?.distance).toBeGreaterThan(y?.clear ?? 1);
      for (const { gain } of evaluation.likelihood.baselines) expect(gain.mean).toBeGreaterThan(0);
    },
  );

  it("is not reported as wrong for the same rounding as the data", async () => {
    const { found } = await faults(
      exactDistribution(rounded),
      rows(rounded, 300, 6),
      rows(rounded, 500, 56),
    );
    expect(found).toEqual([]);
  });
});

describe("a wrong model", () => {
  const [held, training] = [rows(truth, 300, 7), rows(truth, 500, 57)];

  it("is reported if one column is wrong", async () => {
    const wide = { ...truth, spread: 2.5 };
    const { found, evaluation } = await faults(exactDistribution(wide), held, training);
    expect(found.join("; ")).toMatch(
      /samples has a different distribution from the rows.*: y 0\.\d+/,
    );
    expect(verdictOf(evaluation)).toMatch(/^problems found: /);
  });

  it("is reported if the dependence of columns is wrong", async () => {
    // The same columns, with y independent of x.
    const apart = { ...truth, rho: 0, spread: 1 };
    const { found } = await faults(exactDistribution(apart), held, training);
    expect(found.join("; ")).toMatch(/a classifier distinguishes samples from rows, AUC 0\.\d+/);
    expect(found.join("; ")).toMatch(/nats per row more than the model/);
    expect(found.join("; ")).not.toMatch(/different distribution from the rows/);
  });

  it("is reported if labels are wrong", async () => {
    const { found } = await faults(
      exactDistribution({ ...truth, labels: [0.2, 0.3, 0.5] }),
      held,
      training,
    );
    expect(found.join("; ")).toMatch(/different distribution from the rows.*: k 0\.\d+/);
  });

  it("is reported if only decimals are wrong", async () => {
    const { found } = await faults(
      exactDistribution(rounded, truth),
      rows(rounded, 300, 8),
      rows(rounded, 500, 58),
    );
    expect(found).toEqual([
      expect.stringMatching(/^a classifier distinguishes samples from rows, AUC 0\.9|1\.0/),
    ]);
  });

  it("is reported from rows with missing cells alone", async () => {
    const open = (all: readonly Cells[]): OpenCells[] =>
      all.map((row, i) => row.with(i % 4, null as never) as OpenCells);
    const { found } = await faults(
      exactDistribution({ ...truth, spread: 2.5 }),
      open(held),
      open(training),
    );
    expect(found.join("; ")).toMatch(
      /samples has a different distribution from the rows.*: y 0\.\d+/,
    );
    expect(found.join("; ")).toMatch(/nats per row more than the model/);
  });
});
