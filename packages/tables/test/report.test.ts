/** The report of a study, against cells and places found by hand. */

import { quantile } from "diffeo/host";
import type { ObjectiveName } from "diffeo/matching";
import { describe, expect, it } from "vitest";
import { unitGaussian } from "../src/dkef/evaluate.ts";
import { studyFigures } from "../src/study/figures.ts";
import { studyTable } from "../src/study/report.ts";
import { measures, record } from "./records.ts";

const LOSSES = ["ssm-vr", "gssm-vr"] as const;

/** By seed, SSM-VR and then GSSM-VR. */
const seeds = {
  scoreMatching: [
    [-10, -12, -20],
    [-16, -13, -19],
  ],
  median: [
    [-5, -6, -10],
    [-8, -6, -4],
  ],
  likelihood: [
    [-1, -2, -6],
    [3, -3, -3],
  ],
  plain: [
    [1, 3, 5],
    [2, 7],
  ],
  effectivePlain: [
    [10, 20, 60],
    [6, 8],
  ],
  effective: [
    [1500, 1700, 2100],
    [1200, 1100, 400],
  ],
  exactScoreMatching: [
    [-21, -24, -30],
    [-23, -25, -33],
  ],
  exactLikelihood: [
    [10, 20, 30],
    [110, 118, 132],
  ],
  exactEffective: [
    [3000, 1000, 2000],
    [900, 5000, 4000],
  ],
  stopped: [
    [210, 220, 260],
    [300, 310, 320],
  ],
  curveStart: [
    [0, 3, 6],
    [1, 2, 9],
  ],
} as const;

const records = LOSSES.flatMap((loss, l) =>
  [0, 1, 2].map((seed) => {
    const of = (name: keyof typeof seeds): number => seeds[name][l][seed];
    const ended = l === 1 && seed === 2;
    return record(
      { loss, seed },
      {
        scoreMatching: of("scoreMatching"),
        median: of("median"),
        likelihood: of("likelihood"),
        effective: of("effective"),
        ...(!ended && {
          plain: {
            likelihood: of("plain"),
            effective: of("effectivePlain"),
            samples: l === 0 ? 2000 : 1_000_000,
          },
        }),
      },
      {
        chosenByExact: measures({
          scoreMatching: of("exactScoreMatching"),
          likelihood: of("exactLikelihood"),
          effective: of("exactEffective"),
        }),
        stopped: of("stopped"),
        // After the 10th, 20th … step: c, c − 1 …
        curve: {
          every: 10,
          loss: [],
          exact: Array.from({ length: ended ? 59 : 60 }, (_, i) => of("curveStart") - i),
        },
        ...(l === 0 && seed === 1 && { failure: "the training loss became NaN at step 611" }),
      },
    );
  }),
);

describe("the table of a study", () => {
  const expected = `## two-moons: 2 coordinates, 1620 + 180 + 200 points

| test set, mean ± sd over seeds | ssm-vr | gssm-vr |
| --- | --- | --- |
| runs | 3 | 3 |
| score matching | -14.00 ± 5.29 | -16.00 ± 3.00 |
| its median over points | -7.00 ± 2.65 | -6.00 ± 2.00 |
| log-likelihood, annealed | -3.00 ± 2.65 | -1.00 ± 3.46 |
| log-likelihood, plain | 3.00 ± 2.00 | 4.50 ± 3.54 |
| score matching, chosen by it | -25.00 ± 4.58 | -27.00 ± 5.29 |
| log-likelihood, chosen by score matching | 20.00 ± 10.00 | 120.0 ± 11.14 |
| validation score matching after 200 steps | -16.00 ± 3.00 | -15.00 ± 4.36 |
| after 400 | -36.00 ± 3.00 | -35.00 ± 4.36 |
| after 600 | -56.00 ± 3.00 | -57.50 ± 0.71 |
| log-likelihood, annealed: median over seeds | -2.00 | -3.00 |
| steps until stopped | 230.0 ± 26.46 | 310.0 ± 10.00 |
| runs with less likelihood than a unit Gaussian | 1 | 2 |
| runs with more than 4 nats less by the annealed normaliser than by the plain one | 2 | 1 |
| effective samples, annealed | 1500 – 1700 – 2100 | 400 – 1100 – 1200 |
| effective samples, annealed, chosen by score matching | 1000 – 2000 – 3000 | 900 – 4000 – 5000 |
| effective samples, plain (of 2,000 or 1,000,000) | 10 – 20 – 60 | 6 – 7 – 8 |

| difference paired by seed: mean ± sd, median, wins of the first | gssm-vr − ssm-vr |
| --- | --- |
| score matching | -2.00 ± 3.61, median -1.00, 2 of 3 |
| its median over points | 1.00 ± 4.58, median 0.00, 1 of 3 |
| log-likelihood, annealed | 2.00 ± 2.65, median 3.00, 2 of 3 |
| log-likelihood, plain | 2.50 ± 2.12, median 2.50, 2 of 2 |
| score matching, chosen by it | -2.00 ± 1.00, median -2.00, 3 of 3 |
| log-likelihood, chosen by score matching | 100.0 ± 2.00, median 100.0, 3 of 3 |
| validation score matching after 200 steps | 1.00 ± 2.00, median 1.00, 1 of 3 |
| after 400 | 1.00 ± 2.00, median 1.00, 1 of 3 |
| after 600 | 0.00 ± 1.41, median 0.00, 1 of 2 |

ssm-vr, seed 1: the training loss became NaN at step 611

gssm-vr, seed 0: the annealed normaliser has only 900 effective samples

gssm-vr, seed 2: the annealed normaliser has only 400 effective samples`;

  it("has means, spreads, pairs and warnings as computed by hand", () => {
    expect(studyTable(records)).toBe(`${expected}\n`);
  });

  it("keeps datasets apart", () => {
    const other = record({ dataset: "rings", loss: "sm" }, { scoreMatching: 5 });
    expect(studyTable([...records, other])).toContain(`${expected}\n\n## rings: 2 coordinates`);
  });
});

it("a loss that is not in the paper has its column and its marks", async () => {
  const own = record({ loss: "own" as ObjectiveName }, { scoreMatching: -11 });
  expect(studyTable([...records, own])).toMatch(/^\| test set, mean ± sd over seeds \|.* own \|/m);
  expect((await studyFigures([...records, own]))["score-matching"]).toContain(
    "<title>own, seed 0: -11.00</title>",
  );
});

describe("the figures of a study", () => {
  it("have boxes from quartile to quartile and lines at the medians", async () => {
    // The axis: the least and the largest of all six, −20 and −10, and 0.06 of it on either side;
    // 216 pixels from 28 on.
    const y = (v: number): number => 28 + ((-9.4 - v) / 11.2) * 216;
    const svg = (await studyFigures(records))["score-matching"];
    const numbers = (pattern: RegExp): number[][] =>
      [...svg.matchAll(pattern)].map((m) => m.slice(1).map(Number));
    const boxes = numbers(/<rect height="([\d.]+)" width="[\d.]+" y="([\d.]+)"/g);
    const medians = numbers(/stroke-width="2.5"[^>]*><line y2="([\d.]+)" y1="([\d.]+)"/g);
    const dots = numbers(/<circle[^>]* cy="([\d.]+)"[^>]*><title>/g);
    const expectAt = (
      found: readonly (readonly number[])[],
      expected: readonly (readonly number[])[],
    ): void => {
      expect(found.length).toBe(expected.length);
      found.forEach((row, i) => {
        row.forEach((v, j) => {
          expect(v).toBeCloseTo(expected[i][j], 6);
        });
      });
    };
    expectAt(boxes, [
      [(5 / 11.2) * 216, y(-11)],
      [(3 / 11.2) * 216, y(-14.5)],
    ]);
    expectAt(medians, [
      [y(-12), y(-12)],
      [y(-16), y(-16)],
    ]);
    expectAt(
      dots,
      [-10, -12, -20, -16, -13, -19].map((v) => [y(v)]),
    );
  });

  it("draw outliers at the edge, with their values", async () => {
    const many = [1, 2, 3, 4, 5, 500].map((scoreMatching, seed) =>
      record({ loss: "ssm", seed }, { scoreMatching }),
    );
    const svg = (await studyFigures(many))["score-matching"];
    expect(svg.match(/<circle[^>]*><title>/g)).toHaveLength(5);
    expect(svg).toMatch(/<title>ssm, seed 5: 500\.00<\/title>/);
    expect(svg).toMatch(/>\+1</);
  });

  it("show where a unit Gaussian is, if the axis goes there", async () => {
    const near = [-2, 0, 2].map((scoreMatching, seed) =>
      record({ loss: "ssm", seed }, { scoreMatching }),
    );
    expect((await studyFigures(near))["score-matching"]).toContain(">unit Gaussian<"); // −1 in two dimensions
    expect((await studyFigures(records))["score-matching"]).not.toContain("unit Gaussian");
  });
});

it.each([
  [[3, 1, 2], 0.5, 2],
  [[4, 1, 3, 2], 0.25, 1.75],
  [[4, 1, 3, 2], 0.75, 3.25],
  [[10, 0], 0.3, 3],
  [[10, 0], 1, 10],
  [[10, 0], 0, 0],
  [[5], 0.75, 5],
])("of %j the quantile %d is %d", (values, share, expected) => {
  expect(quantile(values, share)).toBeCloseTo(expected, 12);
});

it("computes the likelihood of a unit Gaussian on points", () => {
  // ‖x‖² is 25, 1 and 10: ½‖x‖² is 6 in the mean.
  const points = {
    shape: [3, 2],
    dtype: "float32",
    data: Float32Array.of(3, 4, 0, -1, 3, 1),
  } as const;
  const { scoreMatching, logLikelihood } = unitGaussian(points);
  expect(scoreMatching).toBeCloseTo(4, 12);
  expect(logLikelihood).toBeCloseTo(-6 - Math.log(2 * Math.PI), 12);
});
