import { readFile } from "node:fs/promises";
import { fold, key, uniform } from "diffeo/random";
import { areaUnderCurve } from "diffeo/two-sample";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { parseFen } from "../src/board/fen.ts";
import { materialOf } from "../src/board/material.ts";
import { playouts } from "../src/board/playout.ts";
import { EMPTY, type Positions, pack, range, unpack } from "../src/board/position.ts";
import { PositionSet } from "../src/board/set.ts";
import { covarianceCosine, covarianceError, crossCovariance } from "../src/measure/covariance.ts";
import { aucError, meanError, sdError, shareError } from "../src/measure/errors.ts";
import {
  histogram,
  meanAndSd,
  quantiles,
  totalVariation,
  wasserstein,
} from "../src/measure/histogram.ts";
import { independentSquares, marginalDistance, squareMarginals } from "../src/measure/marginals.ts";
import { measure, measureAll, referenceOf } from "../src/measure/measures.ts";
import { exactCopies, nearestDistances } from "../src/measure/neighbours.ts";
import { statisticsOf } from "../src/measure/statistics.ts";
import { measureTable, statisticsTable } from "../src/measure/table.ts";
import { twoSampleAuc } from "../src/measure/two-sample.ts";
import { readPositions } from "../src/node/read.ts";
import { anyBoard, realData, somePositions, sparseBoard } from "./arbitrary.ts";

const boards = (...fens: string[]): Positions =>
  pack(Uint8Array.from(fens.flatMap((fen) => [...parseFen(fen)])));
const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
const KINGS = "4k3/8/8/8/8/8/8/4K3";
/**
 * One position a game: several are alike, and a two-sample test would learn which games they come
 * from.
 */
const games = playouts(2000, key("games"), { perGame: 1, plies: 60 });

describe("distances of histograms", () => {
  it("have known values for moved masses", () => {
    expect(histogram([0, 1, 1, 9], 4)).toEqual(Float64Array.of(0.25, 0.5, 0, 0.25));
    expect(histogram([7, 0, 7, 1, 7, 1], 2, 1, 2)).toEqual(Float64Array.of(1 / 3, 2 / 3));
    expect(totalVariation([0.5, 0.5, 0], [0, 0.5, 0.5])).toBe(0.5);
    expect(wasserstein([1, 0, 0, 0], [0, 0, 0, 1])).toBe(3);
    expect(wasserstein([0.5, 0, 0.5], [0, 1, 0])).toBe(1);
  });

  it("W₁ of two samples is the mean distance of their sorted values", () => {
    const samples = fc.array(fc.integer({ min: 0, max: 64 }), { minLength: 20, maxLength: 20 });
    fc.assert(
      fc.property(samples, samples, (a, b) => {
        const sort = (v: number[]): number[] => v.slice().sort((x, y) => x - y);
        const paired = sort(a).reduce((sum, x, i) => sum + Math.abs(x - sort(b)[i]), 0) / 20;
        expect(wasserstein(histogram(a, 65), histogram(b, 65))).toBeCloseTo(paired, 10);
      }),
    );
  });

  it("moments and quantiles are those of the sample", () => {
    expect(meanAndSd([2, 4, 4, 4, 5, 5, 7, 9])).toEqual({ mean: 5, sd: 2 });
    expect(quantiles([10, 30, 20], [0, 0.25, 0.5, 1])).toEqual([10, 15, 20, 30]);
  });
});

describe("material", () => {
  it("is counted by type, colour of square, file and value", () => {
    // White: king, queen, bishops on c1 (dark) and f1 (light), pawns a2 and a3. Black: king,
    // knight, rook, bishop f8 (dark).
    const m = materialOf(boards("4kb1r/8/6n1/8/8/P7/P7/2BQKB2"));
    expect([...m.types]).toEqual([2, 0, 2, 0, 1, 1, 0, 1, 1, 1, 0, 1]);
    expect(m.pieces[0]).toBe(10);
    expect([...m.bishops]).toEqual([1, 1, 0, 1]);
    expect([...m.pawnFiles]).toEqual([2, ...new Array(15).fill(0)]);
    expect(m.balance[0]).toBe(2 + 6 + 9 - (3 + 3 + 5));
  });
});

describe("marginals", () => {
  it("of one board are certain, and two boards that differ in all squares are at distance 1", () => {
    const p = squareMarginals(boards(KINGS));
    expect(p[4 * 13 + 11]).toBe(1);
    expect(p[60 * 13 + 5]).toBe(1);
    expect(p[0 * 13 + 12]).toBe(1);
    expect(marginalDistance(p, squareMarginals(boards("8/8/8/8/8/8/8/8")))).toBeCloseTo(2 / 64, 12);
    const full = pack(new Uint8Array(64).fill(0));
    expect(
      marginalDistance(squareMarginals(full), squareMarginals(boards("8/8/8/8/8/8/8/8"))),
    ).toBe(1);
  });

  it("are the only statistic that independent squares preserve", () => {
    const drawn = independentSquares(squareMarginals(games), 2000, key(1));
    expect(marginalDistance(squareMarginals(drawn), squareMarginals(games))).toBeLessThan(0.03);
    expect(Math.abs(covarianceCosine(crossCovariance(drawn), crossCovariance(games)))).toBeLessThan(
      0.1,
    );
    expect(independentSquares(squareMarginals(games), 2000, key(1))).toEqual(drawn);
  });
});

describe("the cross-square covariance", () => {
  it("is the covariance of the one-hot vectors between different squares", () => {
    fc.assert(
      fc.property(fc.array(sparseBoard, { minLength: 1, maxLength: 4 }), (list) => {
        const positions = pack(Uint8Array.from(list.flatMap((b) => [...b])));
        const covariance = crossCovariance(positions);
        const oneHot = list.map((b) =>
          Array.from({ length: 768 }, (_, i) => (b[Math.floor(i / 12)] === i % 12 ? 1 : 0)),
        );
        const mean = (f: (row: number[]) => number): number =>
          oneHot.reduce((s, row) => s + f(row), 0) / oneHot.length;
        const means = Array.from({ length: 768 }, (_, i) => mean((row) => row[i]));
        let worst = 0;
        for (let n = 0; n < 3000; n++) {
          const a = (n * 7919) % 768;
          const b = (n * 104729 + 13) % 768;
          const expected =
            Math.floor(b / 12) > Math.floor(a / 12)
              ? mean((row) => row[a] * row[b]) - means[a] * means[b]
              : 0;
          worst = Math.max(worst, Math.abs(covariance[768 * a + b] - expected));
        }
        expect(worst).toBeLessThan(5e-13);
      }),
      { numRuns: 5 },
    );
  });

  it("has cosine 1 and error 0 with itself, and −1 and 2 with its negative", () => {
    const a = crossCovariance(playouts(200, key(1)));
    expect(covarianceCosine(a, a)).toBeCloseTo(1, 12);
    expect(covarianceError(a, a)).toBeLessThan(1e-7);
    expect(
      covarianceCosine(
        a,
        a.map((x) => -x),
      ),
    ).toBeCloseTo(-1, 12);
    expect(
      covarianceError(
        a.map((x) => -x),
        a,
      ),
    ).toBeCloseTo(2, 12);
  });
});

describe("nearest neighbours", () => {
  it("have the Hamming distance of the nearest board", () => {
    const sets = fc.array(fc.oneof(anyBoard, sparseBoard), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        const packed = (list: Uint8Array[]): Positions =>
          pack(Uint8Array.from(list.flatMap((x) => [...x])));
        const hamming = (x: Uint8Array, y: Uint8Array): number =>
          x.filter((k, i) => k !== y[i]).length;
        expect([...nearestDistances(packed(a), packed(b))]).toEqual(
          a.map((x) => Math.min(...b.map((y) => hamming(x, y)))),
        );
      }),
    );
  });

  it("are found if they are nearer by one square, on any rank", () => {
    const off = (count: number, rank: number): number[] =>
      [...parseFen(START)].map((own, i) =>
        i >= 8 * rank && i < 8 * rank + count ? 13 - own : own,
      );
    for (let rank = 0; rank < 8; rank++)
      expect([
        ...nearestDistances(
          boards(START),
          pack(Uint8Array.from([...off(3, rank), ...off(2, rank)])),
        ),
      ]).toEqual([2]);
  });

  it("at distance 0 are copies", () => {
    const training = playouts(300, key("training"));
    const known = PositionSet.of(training);
    expect(exactCopies(range(training, 100, 200), known)).toBe(100);
    expect(exactCopies(boards("8/8/8/8/8/8/8/8"), known)).toBe(0);
    // A view that does not begin at a multiple of four bytes is read as well.
    const shifted = new Uint8Array(33);
    shifted.set(training.bytes.subarray(0, 32), 1);
    expect(exactCopies({ count: 1, bytes: shifted.subarray(1) }, known)).toBe(1);
  });
});

describe("the two-sample test", () => {
  it("cannot separate two samples of one distribution, but separates independent squares", () => {
    const [a, b] = [range(games, 0, 1000), range(games, 1000, 2000)];
    expect(Math.abs(twoSampleAuc(materialOf(a), materialOf(b), key(1)) - 0.5)).toBeLessThan(0.05);
    const drawn = independentSquares(squareMarginals(games), 1000, key(2));
    expect(twoSampleAuc(materialOf(drawn), materialOf(b), key(1))).toBeGreaterThan(0.98);
  });

  it.each<[string, readonly string[], readonly string[]]>([
    ["files of pawns", ["4k3/8/8/8/8/8/P7/4K3"], ["4k3/8/8/8/8/8/7P/4K3"]],
    ["bishops' colours", ["4k3/8/8/8/8/8/8/2B1K3"], ["4k3/8/8/8/8/8/8/4KB2"]],
    // White's queen against a knight, or the other way round; both of one side: every count is as
    // often the same.
    [
      "balances of 6 and 12",
      ["4k1n1/8/8/8/8/8/8/3QK3", "3qk3/8/8/8/8/8/8/4K1N1"],
      ["4k3/8/8/8/8/8/8/3QK1N1", "3qk1n1/8/8/8/8/8/8/4K3"],
    ],
  ])("distinguishes %s", (_, these, those) => {
    const of = (fens: readonly string[]) =>
      materialOf(boards(...Array.from({ length: 60 }, (_, i) => fens[i % fens.length])));
    expect(twoSampleAuc(of(these), of(those), key(1))).toBeGreaterThan(0.95);
  });

  it("stays finite for separable boards", () => {
    const few = pack(
      Uint8Array.from(Array.from({ length: 50 }, () => [...parseFen(KINGS)]).flat()),
    );
    const many = pack(
      Uint8Array.from(Array.from({ length: 50 }, () => [...parseFen(START)]).flat()),
    );
    expect(twoSampleAuc(materialOf(few), materialOf(many), key(1))).toBe(1);
  });
});

describe("all measures", () => {
  it("are perfect for two boards compared with themselves", () => {
    const two = boards(START, KINGS);
    const m = measure(two, referenceOf(two), { key: key(0) });
    expect(m).toMatchObject({
      count: 2,
      oneKingEach: 1,
      feasibleMaterial: 1,
      legal: 1,
      marginalDistance: 0,
      piecesMean: 17,
      piecesSd: 15,
      piecesDistance: 0,
      typesDistance: 0,
      balanceMean: 0,
      balanceSd: 0,
      bishopPairsOpposite: 1,
      auc: null,
      nearestMedian: 0,
      copies: 1,
      distinct: 1,
    });
    expect(m.covarianceCosine).toBeCloseTo(1, 12);
  });

  it("have known values for known faults", () => {
    const reference = referenceOf(boards(KINGS, KINGS, KINGS, KINGS));
    const m = measure(
      boards(KINGS, KINGS, "4k3/8/8/8/8/8/8/3QK3", "8/8/8/8/8/8/8/4K3"),
      reference,
      { key: key(0) },
    );
    expect(m).toMatchObject({
      oneKingEach: 0.75,
      legal: 0.75,
      piecesMean: 2,
      piecesDistance: 0.5,
      balanceMean: 9 / 4,
      bishopPairsOpposite: null,
      copies: 0.5,
      distinct: 0.75,
      nearest95: 1,
      // Equal boards have no covariance.
      covarianceCosine: null,
      covarianceError: null,
    });
    // Of 64 squares, d1 is off in a quarter of boards and e8 too; of 12 types, Q and k.
    expect(m.marginalDistance).toBeCloseTo(0.5 / 64, 12);
    expect(m.typesDistance).toBeCloseTo(0.5 / 12, 12);
  });

  it("cover the whole range of distances, and an equal number of boards of each kind", () => {
    // 0 to 20 squares off a board that training has.
    const samples = pack(
      Uint8Array.from(
        Array.from({ length: 21 }, (_, k) =>
          [...parseFen(START)].map((own, i) => (i < k ? EMPTY : own)),
        ).flat(),
      ),
    );
    const reference = referenceOf(boards(KINGS, KINGS, START, START, KINGS));
    const m = measure(samples, reference, { key: key(0) });
    expect([m.nearest5, m.nearestMedian, m.nearest95]).toEqual([1, 10, 16]);
    expect(m.errors.auc).toBe(aucError(m.auc as number, 5, 21));
    // Half of too few real ones are set apart.
    expect(measureAll(samples, range(games, 0, 30), { key: key(0) }).real.count).toBe(15);
  });

  it("are reproducible, with those of real positions and independent squares", async () => {
    const positions = await somePositions(6000);
    const options = { key: key("columns"), neighbours: 100 };
    const [samples, real] = [range(positions, 0, 1000), range(positions, 1000, 6000)];
    const all = measureAll(samples, real, options);
    expect(measureAll(samples, real, options)).toEqual(all);
    for (const column of [all.samples, all.real]) {
      expect(column.legal).toBe(1);
      expect(column.covarianceCosine).toBeGreaterThan(0.85);
      expect(column.bishopPairsOpposite).toBe(1);
      expect(column.copies).toBe(0);
    }
    expect(all.independent.legal).toBeLessThan(0.3);
    expect(Math.abs(all.independent.covarianceCosine as number)).toBeLessThan(0.15);
    expect(all.independent.auc).toBeGreaterThan(0.97);
    const table = measureTable(all);
    expect(table).toMatch(/^measure +samples +real +independent\n/);
    expect(table).toMatch(/strictly legal +1\.000 ± 0\.\d{3} +1\.000 +0\.\d{3}\n/);
    expect(table).toMatch(
      /\n1,000 samples are too few for a square's marginal, .*: most of the distance may be chance\n/,
    );
    expect(table).toMatch(
      /\n1,000 samples are too few for the AUC: with fewer than 2,000 it underestimates the difference\n$/,
    );
  });
});

describe("standard errors", () => {
  /**
   * The spread of a figure over many samples of a distribution, to 1/√(2·2,000) of itself: the
   * errors are held to three times that.
   */
  const spread = (
    figure: (sample: number[]) => number,
    distribution: (u: Float32Array) => number[],
    size: number,
  ): number => {
    const figures = Array.from({ length: 2000 }, (_, i) =>
      figure(distribution(uniform(fold(key("errors"), i), [size]).data as Float32Array)),
    );
    return meanAndSd(figures).sd;
  };

  it("equal the spread of the measures over samples", () => {
    const mean = (v: readonly number[]): number => meanAndSd(v).mean;
    const coins = (u: Float32Array): number[] => Array.from(u, (x) => (x < 0.9 ? 1 : 0));
    expect(spread(mean, coins, 400) / shareError(0.9, 400)).toBeCloseTo(1, 1);
    const skewed = (u: Float32Array): number[] => Array.from(u, (x) => x ** 3);
    const much = skewed(uniform(key("much"), [100_000]).data as Float32Array);
    expect(spread(mean, skewed, 400) / meanError(meanAndSd(much).sd, 400)).toBeCloseTo(1, 1);
    const sd = (v: readonly number[]): number => meanAndSd(v).sd;
    expect(spread(sd, skewed, 400) / (sdError(much) * Math.sqrt(much.length / 400))).toBeCloseTo(
      1,
      1,
    );
  });

  it("are right for the AUC of scores with the distribution that the formula assumes", () => {
    // Exponential scores with means 1 and 3: A = 3/4.
    const area = (v: readonly number[]): number => areaUnderCurve(v.slice(0, 100), v.slice(100));
    const scores = (u: Float32Array): number[] =>
      Array.from(u, (x, i) => -Math.log1p(-x) * (i < 100 ? 1 : 3));
    expect(spread(area, scores, 200) / aucError(0.75, 100, 100)).toBeCloseTo(1, 1);
  });

  it("are positive for a share of 0, and zero for equal values", () => {
    expect(shareError(1, 200)).toBeCloseTo(1 / 203, 3);
    expect(sdError([2, 2, 2])).toBe(0);
  });
});

describe("statistics", () => {
  it("have known values for two boards", () => {
    const s = statisticsOf(boards(START, KINGS), Uint8Array.of(0, 1));
    expect(s.pieces).toMatchObject({ mean: 17, sd: 15 });
    expect(s.pieces.histogram_2_to_32).toEqual([0.5, ...new Array(29).fill(0), 0.5]);
    expect(s.mean_count_by_type).toMatchObject({ P: 4, q: 0.5, K: 1 });
    expect(s.square_marginals.e1).toEqual([0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    expect(s.square_marginals.a1).toEqual([0.5, 0, 0, 0, 0.5, 0, 0, 0, 0, 0, 0, 0, 0]);
    expect(s.share_white_to_move).toBe(0.5);
    expect(s.bishops).toMatchObject({
      white_pair_share: 0.5,
      white_pair_opposite: 1,
      one_each_share: 0,
    });
    expect(statisticsOf(boards(START)).share_white_to_move).toBeUndefined();
    expect(statisticsTable(s)).toContain("pieces, mean (SD)");
  });
});

if (realData) {
  const files = realData;
  describe("the public data set", () => {
    let read: Awaited<ReturnType<typeof readPositions>>;
    beforeAll(async () => {
      read = await readPositions(files.positions);
    });

    it("has the statistics in its statistics file, digit by digit", async () => {
      const { positions, sides } = read;
      const wanted = JSON.parse(await readFile(files.statistics, "utf8"));
      const { source, ...rest } = wanted;
      expect(source).toBe("positions.csv.gz");
      expect(statisticsOf(positions, sides)).toMatchObject(rest);
    });

    it("has measures near the published floor and those of independent squares", () => {
      // The published column looked for neighbours among 100,000 positions: those that are left of
      // these.
      const positions = range(read.positions, 0, 105_000);
      const { real, independent } = measureAll(range(positions, 0, 5000), positions, {
        key: key(5),
        neighbours: 100,
      });
      expect(real).toMatchObject({ oneKingEach: 1, legal: 1, bishopPairsOpposite: 1, copies: 0 });
      expect(real.marginalDistance).toBeLessThan(0.013);
      expect(real.covarianceCosine).toBeGreaterThan(0.98);
      expect(real.balanceSd).toBeCloseTo(1.7, 0);
      expect(Math.abs((real.auc as number) - 0.5)).toBeLessThan(0.03);
      // Standard errors at n = 5,000: 0.0056 for 0.192 and 0.005 for 0.144.
      expect(Math.abs(independent.oneKingEach - 0.192)).toBeLessThan(0.02);
      expect(Math.abs(independent.legal - 0.144)).toBeLessThan(0.02);
      expect(Math.abs(independent.piecesDistance - 2.85)).toBeLessThan(0.15);
      expect(Math.abs(independent.typesDistance - 0.265)).toBeLessThan(0.01);
      expect(Math.abs(independent.balanceSd - 13.7)).toBeLessThan(0.5);
      expect(Math.abs((independent.bishopPairsOpposite as number) - 0.53)).toBeLessThan(0.04);
      expect(independent.auc).toBeGreaterThan(0.995);
      expect(Math.abs(independent.nearestMedian - 16)).toBeLessThanOrEqual(1);
    });
  });
}

describe("a set of positions", () => {
  it("contains each board once and finds all of them", () => {
    // More than its first table holds.
    const positions = independentSquares(squareMarginals(games), 3000, key("set"));
    const set = new PositionSet();
    const classes = unpack(positions);
    const every = (step: number): boolean[] =>
      Array.from({ length: Math.ceil(3000 / step) }, (_, i) =>
        set.add(classes.subarray(64 * step * i, 64 * (step * i + 1))),
      );
    expect(every(1)).toEqual(new Array(3000).fill(true));
    expect(every(7)).toEqual(new Array(429).fill(false));
    expect(set.positions()).toEqual(positions);
  });
});
