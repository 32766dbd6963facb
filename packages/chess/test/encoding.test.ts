import { categorical, standardise } from "diffeo/categorical";
import { input, reference } from "diffeo/graph";
import { key, normal } from "diffeo/random";
import { describe, expect, it } from "vitest";
import { EMPTY } from "../src/board/position.ts";
import {
  chessEncoding,
  classShares,
  decodePositions,
  encodePositions,
  requireChess,
} from "../src/diffusion/encoding.ts";
import { somePositions } from "./arbitrary.ts";

const EPSILON = 0.01;
const positions = await somePositions(500);
const encoding = chessEncoding(positions, EPSILON);

/** φ and φ⁻¹ in float64. */
const apply = (
  map: "forward" | "inverse",
  values: Float64Array,
  n: number,
  grid: readonly number[],
  phi = encoding.phi,
) => {
  const x = input(
    "x",
    [values.length / (n * grid.reduce((a, b) => a * b, 1)), ...grid, n],
    "float64",
  );
  return reference([phi[map](x)], new Map([[x, values]]))[0];
};

describe("the code points of a square", () => {
  it("are +c·e_k for a piece and −c·1 for empty, in logits", () => {
    const c = Math.log((1 - 12 * EPSILON) / EPSILON);
    for (let k = 0; k < 13; k++)
      for (let j = 0; j < 12; j++) {
        const logit = encoding.mean[j] + encoding.scale * encoding.points[12 * k + j];
        expect(logit).toBeCloseTo(k === EMPTY ? -c : k === j ? c : 0, 12);
      }
  });

  it("are mapped by φ to the softened one-hot vector, and back", () => {
    // One board whose squares go through the classes in turn.
    const x = new Float64Array(64 * 12);
    for (let square = 0; square < 64; square++)
      x.set(encoding.points.subarray(12 * (square % 13), 12 * (square % 13) + 12), 12 * square);
    const y = apply("forward", x, 12, [8, 8]);
    for (let i = 0; i < y.length; i++) {
      const k = Math.floor(i / 12) % 13;
      expect(y[i]).toBeCloseTo(k === i % 12 ? 1 - 12 * EPSILON : EPSILON, 12);
    }
    const back = apply("inverse", y, 12, [8, 8]);
    for (let i = 0; i < x.length; i++) expect(back[i]).toBeCloseTo(x[i], 10);
  });
});

describe("the encoding of positions", () => {
  const x = encodePositions(encoding, positions);

  it("has mean 0 in every channel and variance 1 over all, to rounding", () => {
    expect(x.length).toBe(500 * 8 * 8 * 12);
    const means = new Float64Array(12);
    let square = 0;
    for (let i = 0; i < x.length; i++) {
      means[i % 12] += x[i] / (x.length / 12);
      square += (x[i] * x[i]) / x.length;
    }
    for (const mean of means) expect(mean).toBeCloseTo(0, 6);
    expect(square).toBeCloseTo(1, 6);
  });

  it("is decoded from x, and from y on the simplex", () => {
    expect(decodePositions(encoding, x).bytes).toEqual(positions.bytes);
    const y = apply("forward", Float64Array.from(x.subarray(0, 20 * 768)), 12, [8, 8]);
    expect(decodePositions(encoding, y, "simplex").bytes).toEqual(
      positions.bytes.slice(0, 20 * 32),
    );
  });

  it("is decoded equally from noisy x and y, as the largest share of the mixture", () => {
    const noisy = normal(key("noise"), [20, 8, 8, 12], { dtype: "float64" }).data.map(
      (z, i) => x[i] + 0.7 * z,
    );
    const y = apply("forward", noisy, 12, [8, 8]);
    const decoded = encoding.decode(noisy);
    expect(encoding.decodeSimplex(y)).toEqual(decoded);
    const fromX = encoding.mixture(noisy);
    const fromY = encoding.mixtureOfSimplex(y);
    for (let i = 0; i < fromX.length; i++) expect(fromX[i]).toBeCloseTo(fromY[i], 6);
    for (let square = 0; square < decoded.length; square++) {
      const shares = fromX.subarray(13 * square, 13 * square + 13);
      expect(shares.reduce((a, b) => a + b)).toBeCloseTo(1, 6);
      expect(shares.indexOf(Math.max(...shares))).toBe(decoded[square]);
    }
  });

  it("is correct for logits of any size", () => {
    const huge = new Float64Array(768).fill(-1e3);
    huge[5] = 1e3;
    expect(encoding.decode(huge)[0]).toBe(5);
    expect([...encoding.mixture(huge).subarray(0, 26)].every(Number.isFinite)).toBe(true);
    expect(encoding.mixture(huge)[5]).toBe(1);
    expect(encoding.mixture(huge)[13 + 12]).toBe(1);
  });

  it("refuses NaN", () => {
    expect(() => encoding.decode(new Float64Array(768).fill(Number.NaN))).toThrow("site 0 is NaN");
  });
});

describe("other categorical data", () => {
  it("use the same code: a sequence of three classes", () => {
    const data = Uint8Array.from([0, 1, 2, 2, 2, 1, 2, 0, 2, 2]);
    const spec = standardise([0.2, 0.2, 0.6], { grid: [5], epsilon: 0.05 });
    const small = categorical(JSON.parse(JSON.stringify(spec)));
    const x = small.encode(data);
    expect(x.length).toBe(20);
    expect(small.decode(x)).toEqual(data);
    expect(x.reduce((a, b) => a + b)).toBeCloseTo(0, 5);
    expect(x.reduce((a, b) => a + b * b, 0) / 20).toBeCloseTo(1, 5);
    const y = apply("forward", Float64Array.from(x), 2, [5], small.phi);
    expect(y[0]).toBeCloseTo(0.9, 6);
    expect(y[1]).toBeCloseTo(0.05, 6);
    expect(small.phi.eventRank).toBe(2);
  });

  it("name errors in their numbers", () => {
    expect(() => standardise([0.5, 0.4], { grid: [2] })).toThrow("sum to 0.9");
    expect(() => standardise([0, 1], { grid: [2] })).toThrow("no spread");
    expect(() => standardise([0.5, 0.5], { grid: [2], epsilon: 0.5 })).toThrow(
      "the softened class does not have the largest share",
    );
    expect(() => encoding.encode(new Uint8Array(64).fill(13, 5))).toThrow(
      "site 5 has class 13 of 13",
    );
    expect(() => encoding.encode(new Uint8Array(65))).toThrow(
      "65 numbers are not complete grids [8, 8]",
    );
    expect(() => standardise(new Array(1025).fill(1 / 1025), { grid: [2], epsilon: 1e-4 })).toThrow(
      "1025 classes",
    );
    const spec = standardise([0.2, 0.2, 0.6], { grid: [5], epsilon: 0.05 });
    expect(() => categorical({ ...spec, mean: [0, Number.NaN] })).toThrow("means 0, NaN and scale");
    expect(() => categorical({ ...spec, scale: Number.POSITIVE_INFINITY })).toThrow(
      "scale Infinity for 2 channels",
    );
    expect(() => encoding.decode(new Float32Array(100))).toThrow("not complete grids [8, 8, 12]");
  });

  it("are not accepted as chess", () => {
    requireChess(encoding);
    const grid = [8, 8];
    const other = standardise([0.2, 0.2, 0.6], { grid });
    expect(() => requireChess(other)).toThrow(
      "the model has 3 classes on a grid [8, 8], so it is not a model of chess",
    );
    expect(() => requireChess({ ...encoding, grid: [8, 4] })).toThrow(
      "13 classes on a grid [8, 4]",
    );
  });

  it("have shares of classes that sum to one", () => {
    expect(classShares(positions).reduce((a, b) => a + b)).toBeCloseTo(1, 12);
  });
});
