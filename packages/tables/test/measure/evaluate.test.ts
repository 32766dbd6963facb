/** An evaluation of distributions that are right, wrong in one way, or copies: it says which. */
import { between, category, count, derived, positive, product, real } from "diffeo/domain";
import { normalShare } from "diffeo/host";
import { key, normal, uniform } from "diffeo/random";
import { describe, expect, it } from "vitest";
import { relatedColumns } from "../../src/diffusion/encode/index.ts";
import type { FittedTable } from "../../src/diffusion/network/index.ts";
import { allCells, knownDomain } from "../../src/diffusion/query/index.ts";
import { tableBaselines } from "../../src/measure/baseline/baselines.ts";
import { evaluateTable } from "../../src/measure/evaluate.ts";
import { copyFaults, rankFaults } from "../../src/measure/faults.ts";
import type { Cells, TableDistribution } from "../../src/measure/table-distribution.ts";
import { allFaultsOf, evaluationText, faultsOf, verdictOf } from "../../src/report/text.ts";

const logNormal = (z: number): number => -(z * z + Math.log(2 * Math.PI)) / 2;

/** Two modes along the first column, the left one with a given mass. */
const modes = (left: number): TableDistribution => ({
  name: "modes",
  logLikelihood: (rows) =>
    Float64Array.from(rows, ([x, y]) => {
      const at = (centre: number) => logNormal((Number(x) - centre) / 0.5) - Math.log(0.5);
      return (
        Math.log(left * Math.exp(at(-2)) + (1 - left) * Math.exp(at(2))) + logNormal(Number(y))
      );
    }),
  draw: (rows, seed) => {
    const z = normal(key(seed + 1000), [rows, 2], { dtype: "float64" }).data;
    const u = uniform(key(seed + 1000), rows, { dtype: "float64" }).data;
    return Array.from({ length: rows }, (_, i) => [
      (u[i] < left ? -2 : 2) + 0.5 * z[2 * i],
      z[2 * i + 1],
    ]);
  },
});

const plane = product({ x: real(), y: real() });
const [training, rows] = [
  modes(0.6).draw(1200, 1),
  modes(0.6).draw(250, 2),
] as readonly (readonly Cells[])[];

describe("an evaluation of a table's model", () => {
  it("finds no problem with the true distribution", async () => {
    const { evaluation, drawn } = await evaluateTable(modes(0.6), plane, {
      rows,
      training,
      seed: 3,
    });
    expect(drawn).toHaveLength(1250);
    expect([...faultsOf(evaluation), ...rankFaults(evaluation), ...copyFaults(evaluation)]).toEqual(
      [],
    );
    expect(verdictOf(evaluation)).toBe("no problem found; the model is better than every baseline");
    const { likelihood, calibration, model, clusters, privacy } = evaluation;
    expect(likelihood.baselines.map(({ name }) => name)).toEqual([
      "Gaussian",
      "Gaussian copula",
      "independent columns",
    ]);
    // A difference of means is the mean of differences.
    for (const { mean, gain } of likelihood.baselines)
      expect(gain.mean).toBeCloseTo(likelihood.mean - mean, 10);
    // Columns are independent here: what knows their distributions loses little, a Gaussian more
    // than a third of a nat.
    expect(likelihood.baselines[2].gain.mean).toBeLessThan(0.05);
    expect(likelihood.baselines[0].gain.mean).toBeGreaterThan(0.3);
    expect(calibration.ranks).toHaveLength(250);
    expect(calibration.distance).toBeLessThan(calibration.chance * 1.3);
    expect(Math.abs((model.auc?.value ?? 0) - 0.5)).toBeLessThan(0.08);
    expect(clusters.masses).toHaveLength(2);
    expect(privacy?.among).toBe(1200);
    expect(evaluationText(evaluation)).toMatch(
      /^250 rows not used in training, 1,250 sampled; .* 1,200 training rows\n/,
    );
    expect(evaluationText(evaluation)).not.toContain("random directions");
    const estimated = { ...evaluation, likelihood: { ...likelihood, probes: 16 } };
    expect(evaluationText(estimated)).toContain(
      "without bias: the divergence of each row with 16 random directions",
    );
  });

  it("reports wrong masses of modes: 97 % instead of 60 %", async () => {
    const { evaluation } = await evaluateTable(modes(0.97), plane, { rows, training });
    const faults = faultsOf(evaluation);
    expect(faults.join("; ")).toMatch(
      /97 % of the samples are in a cluster with (59|60|61) % of the rows/,
    );
    expect(faults[0]).toMatch(
      /^a Gaussian copula has a log-likelihood of -\d\.\d+, 0\.\d+ ± 0\.\d+ nats per row more than the model/,
    );
    expect(faults.join("; ")).toMatch(
      /harder to distinguish from data than the model's, AUC 0\.\d+ compared with 0\.\d+/,
    );
    expect(evaluationText(evaluation).trimEnd().split("\n").at(-1)).toBe(
      `problems found: ${allFaultsOf(evaluation).join("; ")}`,
    );
    // The model is too sure of the left mode: rows of the right one rank too low.
    expect(rankFaults(evaluation)).toEqual([
      expect.stringMatching(
        /^(39|40|41) % of the rows are at most as likely as the least likely \d\.\d % of the samples$/,
      ),
    ]);
    expect(evaluation.calibration.distance).toBeGreaterThan(2 * evaluation.calibration.chance);
  });

  it("detects a model that repeats its rows", async () => {
    const copies: TableDistribution = {
      ...modes(0.6),
      draw: (n) => Array.from({ length: n }, (_, i) => training[i % 1200]),
    };
    const { evaluation } = await evaluateTable(copies, plane, { rows, training });
    expect(faultsOf(evaluation)).toEqual([]);
    expect(copyFaults(evaluation).join("; ")).toMatch(
      /100 % of the samples equal a training row.*nearer.*100 % of pairs/,
    );
  });

  it("reports if the evaluated rows are training rows", async () => {
    const { evaluation } = await evaluateTable(modes(0.6), plane, {
      rows: training.slice(0, 60),
      training: training.slice(0, 200),
    });
    const lines = evaluationText(evaluation).trimEnd().split("\n");
    expect(lines[0]).toMatch(/^60 rows mostly used in training, /);
    expect(lines.at(-1)).toMatch(
      /^not a test on new rows: 100\.0 % of these are training rows, cell by cell\. Evaluate on/,
    );
  });

  it("fits baselines to other folds if there are no training rows", async () => {
    const { evaluation } = await evaluateTable(modes(0.6), plane, { rows });
    expect(evaluation.privacy).toBeUndefined();
    expect(evaluation.training).toBe(0);
    const distributions = tableBaselines(plane, training);
    const scores = await distributions[0].logLikelihood(rows);
    const mean = scores.reduce((s, v) => s + v, 0) / rows.length;
    expect(evaluation.likelihood.baselines[0].mean).toBeCloseTo(mean, 1);
    expect(evaluationText(evaluation)).toContain("unknown: the training rows were not given");
    await expect(evaluateTable(modes(0.6), plane, { rows: rows.slice(0, 12) })).rejects.toThrow(
      "12 rows are too few to fit",
    );
  });

  it("supports columns of every kind, and gives the same numbers for the same seed", async () => {
    const domain = product({
      size: positive(),
      share: between(0, 1),
      visits: count(),
      ward: category(["n", "s"]),
    });
    const all = Array.from({ length: 400 }, (_, i): Cells => {
      const [a, b, c] = normal(key(i), 3, { dtype: "float64" }).data;
      return [
        Math.exp(a),
        normalShare(0.6 * a + 0.8 * b),
        Math.floor(Math.exp(c)),
        b > 0.3 ? "n" : "s",
      ];
    });
    const [seen, held] = [all.slice(0, 300), all.slice(300)];
    const copula = tableBaselines(domain, seen)[1];
    const { evaluation } = await evaluateTable(copula, domain, {
      rows: held,
      training: seen,
      seed: 4,
    });
    expect(evaluation.likelihood.baselines[1].gain.mean).toBe(0);
    expect(evaluation.model.columns.map(({ column }) => column).sort()).toEqual([
      "share",
      "size",
      "visits",
      "ward",
    ]);
    expect(faultsOf(evaluation)).toEqual([]);
    expect(
      (await evaluateTable(copula, domain, { rows: held, training: seen, seed: 4 })).evaluation,
    ).toEqual(evaluation);
  });

  it("names the columns of the table where a difference is learned", async () => {
    const gap = "end − start";
    const { domain, related } = relatedColumns({
      start: real(),
      [gap]: positive(),
      end: derived(real(), {
        by: "sum",
        from: ["start", gap],
        ranges: [
          [-4, 4],
          [0, 9],
        ],
      }),
    });
    const layout = { columns: ["start", "end"], fillers: {} };
    const model = { domain, related, layout } as unknown as FittedTable;
    const rows = (modes(0.6).draw(300, 5) as readonly Cells[]).map(
      ([x, y]): Cells => [y, Math.exp(Number(x) / 4)],
    );
    const independent = tableBaselines(domain, rows)[2];
    const { evaluation } = await evaluateTable(
      {
        ...independent,
        shown: { domain: knownDomain(model), cells: (some) => allCells(model, some) },
      },
      domain,
      { rows: rows.slice(0, 80), training: rows.slice(80) },
    );
    const { likelihood, model: own, baselines } = evaluation;
    expect(likelihood.rows).toBe(80);
    for (const { columns, correlations } of [own, ...baselines]) {
      expect(columns.map(({ column }) => column).sort()).toEqual(["end", "start"]);
      expect(correlations.worst.map((pair) => pair.columns)).toEqual([["start", "end"]]);
    }
  });
});
