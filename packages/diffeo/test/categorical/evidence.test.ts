/**
 * The evidence of a noised grid: the likelihood of each class at each site, for any map; known
 * sites are one more likelihood.
 */
import { describe, expect, it } from "vitest";
import {
  categorical,
  denoiserOf,
  denoiserScore,
  freshModel,
  knownSites,
  logLikelihoods,
  type ModelSpec,
  sampleGrids,
  standardise,
  sudokuGroups,
} from "../../src/categorical/index.ts";
import { evaluate } from "../../src/engine/index.ts";
import { constant, isNdArray, mapTree, type NdArray, type Tensor } from "../../src/graph/index.ts";
import { fold, key, normal } from "../../src/random/index.ts";

const maps = ["additiveLogistic", "isometricLogRatio", "stickBreaking"] as const;
const shares = [0.1, 0.2, 0.3, 0.4];

describe.each(maps)("%s", (map) => {
  const encoding = categorical(standardise(shares, { grid: [4], map }));
  const { points, classes, channels } = encoding;

  it("puts classes at points of mean 0 and variance 1, which its bijector maps to softened classes", async () => {
    for (let j = 0; j < channels; j++)
      expect(shares.reduce((sum, p, k) => sum + p * points[k * channels + j], 0)).toBeCloseTo(
        0,
        12,
      );
    const square = points.reduce((sum, x, i) => sum + shares[Math.floor(i / channels)] * x * x, 0);
    expect(square / channels).toBeCloseTo(1, 12);
    const y = await evaluate((x: Tensor) => encoding.site.forward(x), {
      ...{ shape: [classes, channels], dtype: "float64", data: Float64Array.from(points) },
    });
    y.data.forEach((v, i) => {
      const own = Math.floor(i / channels) === i % channels;
      expect(Number(v)).toBeCloseTo(own ? 1 - 3 * encoding.epsilon : encoding.epsilon, 10);
    });
  });

  it("reads classes and mixtures from points by the bijector", async () => {
    const x = normal(key(map), [7, 4, channels], { dtype: "float64" });
    const y = await evaluate((z: Tensor) => encoding.phi.forward(z), x);
    const mixture = encoding.mixture(x.data as Float64Array);
    encoding.mixtureOfSimplex(y.data as Float64Array).forEach((p, i) => {
      expect(mixture[i]).toBeCloseTo(p, 6);
    });
    expect(encoding.decode(x.data as Float64Array)).toEqual(
      encoding.decodeSimplex(y.data as Float64Array),
    );
    expect(encoding.decode(encoding.encode(Uint8Array.of(3, 0, 2, 1)))).toEqual(
      Uint8Array.of(3, 0, 2, 1),
    );
  });

  it("has the likelihoods of Bayes' rule", async () => {
    const x = normal(fold(key(map), "noised"), [2, 4, channels], { dtype: "float64" });
    const codes = { shape: [classes, channels], dtype: "float64", data: points } as const;
    const [m, sigma] = [0.6, 0.8];
    const log = await evaluate(
      (z: Tensor) =>
        logLikelihoods(z, constant(codes, z.dtype), {
          m: constant(m, z.dtype),
          sigma: constant(sigma, z.dtype),
        }),
      x,
    );
    for (let site = 0; site < 8; site++) {
      const density = Array.from({ length: classes }, (_, k) =>
        Math.exp(
          -Array.from({ length: channels }, (_, j) => {
            const gap = Number(x.data[site * channels + j]) - m * points[k * channels + j];
            return gap * gap;
          }).reduce((a, b) => a + b) /
            (2 * sigma * sigma),
        ),
      );
      const total = density.reduce((a, b) => a + b);
      density.forEach((p, k) => {
        expect(Number(log.data[site * classes + k])).toBeCloseTo(Math.log(p / total), 9);
      });
    }
  });
});

it("has equal distances between classes only under the isometric log-ratio", () => {
  const spread = (map: (typeof maps)[number]): number => {
    const { points } = categorical(standardise([0.25, 0.25, 0.25, 0.25], { grid: [4], map }));
    const at = (k: number): Float64Array => points.subarray(3 * k, 3 * k + 3);
    const all = [0, 1, 2].flatMap((a) =>
      [1, 2, 3].filter((b) => b > a).map((b) => Math.hypot(...at(a).map((v, j) => v - at(b)[j]))),
    );
    return Math.max(...all) / Math.min(...all);
  };
  expect(spread("isometricLogRatio")).toBeCloseTo(1, 12);
  expect(spread("additiveLogistic")).toBeGreaterThan(1.5);
  expect(spread("stickBreaking")).toBeGreaterThan(1.05);
});

const spec: ModelSpec = {
  parameterisation: "posterior",
  sees: "likelihoods",
  encoding: standardise([0.25, 0.25, 0.25, 0.25], { grid: [4, 4], map: "isometricLogRatio" }),
  network: {
    ...{ kind: "exchangeable", channels: 4, grid: [4, 4], groups: sudokuGroups(2) },
    ...{ width: 8, layers: 2 },
  },
};
const fresh = freshModel(spec, key(1));
const model = {
  ...fresh,
  parameters: mapTree<NdArray, NdArray>(
    fresh.parameters,
    ({ shape }, name) => normal(fold(key("parameters"), name), shape),
    isNdArray,
  ),
};

it("receives known sites without noise, which does not affect the score of the others", async () => {
  const { denoiser } = model;
  const classes: NdArray = {
    ...{ shape: [1, 4, 4], dtype: "int32", data: Int32Array.from({ length: 16 }, (_, i) => i % 4) },
  };
  const mask: NdArray = {
    ...{
      shape: [1, 4, 4],
      dtype: "bool",
      data: Uint8Array.from({ length: 16 }, (_, i) => +(i < 5)),
    },
  };
  const x = normal(key("x"), [1, 4, 4, 3]);
  const other = {
    ...x,
    data: Float32Array.from(x.data, (v, i) => (i < 15 ? -Number(v) : Number(v))),
  };
  const of = async (point: NdArray): Promise<number[]> => {
    const score = await evaluate(
      (z: Tensor, k: Tensor, known: Tensor) =>
        denoiserScore(
          denoiser,
          mapTree<NdArray, Tensor>(model.parameters, (a) => constant(a, z.dtype), isNdArray),
          { classes: k, mask: known },
        )(z, constant(0.4, z.dtype)),
      point,
      classes,
      mask,
    );
    return Array.from(score.data, Number);
  };
  const [a, b] = [await of(x), await of(other)];
  expect(a.slice(15)).toEqual(b.slice(15));
  expect(a.slice(0, 15)).not.toEqual(b.slice(0, 15));
});

it("keeps known sites in samples, with one evaluation per step", async () => {
  const classes = Uint8Array.from({ length: 48 }, (_, i) => (i % 3 === 0 ? i % 4 : 255));
  const drawn = await sampleGrids(model, { count: 3, key: key(3), steps: 5, known: { classes } });
  classes.forEach((k, i) => {
    if (k !== 255) expect(drawn[i]).toBe(k);
  });
  const { mask } = knownSites(model.encoding, classes);
  expect(mask.shape).toEqual([3, 4, 4, 3]);
});

it("refuses options that do not fit together", () => {
  expect(() => denoiserOf({ ...spec, sees: "points" })).toThrow("cannot see points");
  expect(() => denoiserOf({ ...spec, parameterisation: "noise" })).toThrow(
    '`sees` is "likelihoods"',
  );
  expect(() => standardise([0.5, 0.5], { grid: [4], map: "logistic" as "stickBreaking" })).toThrow(
    "unknown `map`",
  );
});
