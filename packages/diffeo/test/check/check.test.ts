import { describe, expect, it } from "vitest";
import {
  additiveLogistic,
  bijector,
  each,
  sigmoidMap,
  stereographic,
  tanhMap,
  timeAffine,
  unitBall,
} from "../../src/bijector/index.ts";
import { checkMap, type MapReport, type Property } from "../../src/check/index.ts";
import {
  abs,
  add,
  clip,
  exp,
  log,
  mul,
  neg,
  sigmoid,
  softplus,
  sub,
  sum,
  type Tensor,
  take,
} from "../../src/graph/index.ts";

const failed = ({ properties }: MapReport): string[] =>
  properties.filter((property) => !property.pass).map((property) => property.name);

/** The logistic map, from three functions. */
const logistic = {
  name: "logistic",
  forward: (x: Tensor) => sigmoid(x),
  inverse: (y: Tensor) => sub(log(y), log(sub(1, y))),
  logDet: (x: Tensor) => neg(sum(add(softplus(x), softplus(neg(x))), -1)),
};
const wrong = (changes: object) => checkMap(bijector({ ...logistic, ...changes }), { event: [3] });

describe("checkMap", () => {
  it("accepts a map of three functions at typical points, and reports if it needs log space", async () => {
    const report = await checkMap(bijector(logistic), { event: [3] });
    // φ(20) rounds to 1 in float32, from where no inverse leads back: only a closed form of J⁻¹
    // helps there.
    expect(failed(report)).toEqual(["|x| = 20: finite in float32, where the value fits"]);
    expect(report.pass).toBe(false);
    expect(report.properties.at(-1)?.remedy).toMatch(
      /not finite: J⁻¹v, J⁻ᵀu, J⁻¹Tr.*, pushed score; a closed form/,
    );
    expect((await checkMap(sigmoidMap(), { event: [3] })).pass).toBe(true);
  });

  it("catches a wrong inverse, with the point", async () => {
    const report = await wrong({ inverse: (y: Tensor) => sub(log(y), log(sub(1.0001, y))) });
    expect(report.pass).toBe(false);
    const [property] = report.properties;
    expect(property).toMatchObject({
      name: "φ⁻¹(φ(x)) = x",
      pass: false,
      remedy: "the inverse is not that of the map",
    });
    const { x, y } = property.where;
    expect(Math.max(...y.map((v, i) => Math.abs(v - 1 / (1 + Math.exp(-x[i])))))).toBeLessThan(
      1e-14,
    );
    const off = Math.max(...y.map((v, i) => Math.abs(Math.log(v) - Math.log(1.0001 - v) - x[i])));
    expect(property.worst).toBeCloseTo(off / Math.max(1, ...x.map(Math.abs)), 10);
  });

  it("catches a wrong log-determinant", async () => {
    const report = await wrong({ logDet: (x: Tensor) => neg(sum(softplus(x), -1)) });
    expect(failed(report)).toContain("log|det J| = log|det| of the dense J");
    expect(failed(report)).not.toContain("φ⁻¹(φ(x)) = x");
  });

  it("catches a log-determinant that is off by a constant, which the score does not reveal", async () => {
    const report = await wrong({ logDet: (x: Tensor) => add(logistic.logDet(x), 0.1) });
    expect(failed(report).filter((property) => !property.startsWith("|x|"))).toEqual([
      "log|det J| = log|det| of the dense J",
    ]);
  });

  it("catches a singular Jacobian", async () => {
    const report = await wrong({ forward: (x: Tensor) => take(sigmoid(x), [0, 1, 1], -1) });
    expect(failed(report)).toContain("J⁻¹J v = v");
    const property = report.properties.find((p) => p.name.startsWith("log|det J| = "));
    expect(property).toMatchObject({ pass: false, worst: Number.POSITIVE_INFINITY });
    expect(property?.remedy).toMatch(/J is singular/);
  });

  it("catches a map that clips", async () => {
    const report = await wrong({ forward: (x: Tensor) => clip(sigmoid(x), 0.3, 0.7) });
    expect(failed(report)).toContain("φ⁻¹(φ(x)) = x");
  });

  it("catches each wrong closed form by its property", async () => {
    const ball = unitBall();
    const twice =
      (f: ((...args: never[]) => Tensor) | undefined) =>
      (...args: never[]) =>
        mul((f as (...a: never[]) => Tensor)(...args), 2);
    for (const [part, property] of [
      ["pushVector", "J v: closed form = autodiff"],
      ["pullCovector", "Jᵀu: closed form = autodiff"],
      ["pullVector", "J⁻¹v: closed form = autodiff"],
      ["pushCovector", "J⁻ᵀu: closed form = autodiff"],
      ["gradLogDet", "∇ log|det J|: closed form = autodiff"],
      ["itoTrace", "Tr[GᵀHG], matrix G: closed form = autodiff"],
      ["pullItoTrace", "J⁻¹Tr[GᵀHG], matrix G: closed form = autodiff"],
    ] as const) {
      const report = await checkMap({ ...ball, [part]: twice(ball[part]) }, { event: [3] });
      expect(failed(report)).toContain(property);
      expect(report.properties.find((p) => p.name === property)?.remedy).toContain(
        `the map's own ${part} disagrees`,
      );
    }
  });

  it("tolerates the rounding of its reference values, not that of a closed form", async () => {
    // Eight digits lost where nothing cancels; and where all of it does, 1e-12 too much:
    // J⁻¹Tr[GᵀHG] is 0 for scalar G on a sphere in R³, which autodiff finds to 1e-16.
    const large = (x: Tensor): Tensor => mul(add(abs(x), 1), 1e8);
    for (const [phi, wrong] of [
      [unitBall(), (x: Tensor, right: Tensor) => sub(add(right, large(x)), large(x))],
      [stereographic(), (x: Tensor, right: Tensor) => add(right, mul(x, 1e-12))],
    ] as const) {
      const right = phi.pullItoTrace as NonNullable<typeof phi.pullItoTrace>;
      const pullItoTrace: typeof right = (x, g, t) => wrong(x, right(x, g, t));
      expect(failed(await checkMap({ ...phi, pullItoTrace }, { event: [2] }))).toContain(
        "J⁻¹Tr[GᵀHG], scalar G: closed form = autodiff",
      );
      expect(failed(await checkMap(phi, { event: [2] }))).toEqual([]);
    }
  });

  it("catches a wrong time derivative", async () => {
    const phi = timeAffine({ scale: (t) => exp(t) });
    const report = await checkMap(
      { ...phi, timeDerivative: (x, t) => phi.forward(mul(x, 1.01), t) },
      { event: [2] },
    );
    expect(failed(report)).toEqual(
      expect.arrayContaining(["∂ₜφ: closed form = autodiff", "∂ₜφ = finite differences"]),
    );
  });

  it("catches a map that is not elementwise but claims to be", async () => {
    const report = await checkMap({ ...additiveLogistic(), coordinatewise: true }, { event: [3] });
    expect(failed(report)).toContain("J is diagonal, as the map claims");
  });

  it("reports wrong shapes by the map's function", async () => {
    await expect(checkMap(tanhMap(), { event: [2, 3] })).rejects.toThrow(
      /acts on events of 1 axes, but \[2, 3\] has 2/,
    );
    await expect(wrong({ logDet: (x: Tensor) => x })).rejects.toThrow(
      /logDet of "logistic" maps shape \[2, 3, 3\] to \[2, 3, 3\]\. Return shape \[2, 3\]/,
    );
    await expect(wrong({ forward: (x: Tensor) => sum(x, 0) })).rejects.toThrow(
      /forward of "logistic" maps .* Keep the batch axes/,
    );
    await expect(wrong({ forward: (x: Tensor) => add(x, [1, 2]) })).rejects.toThrow(
      /forward of "logistic" failed on a batch of \[2, 3\]: add/,
    );
    await expect(checkMap(each(tanhMap(), 2), { event: [8, 8, 12] })).rejects.toThrow(
      /768 coordinates/,
    );
  });

  it("is reproducible, and runs without ONNX Runtime", async () => {
    const [a, b] = [
      await checkMap(tanhMap(), { event: [2] }),
      await checkMap(tanhMap(), { event: [2] }),
    ];
    expect(a).toEqual(b);
    const reference = await checkMap(tanhMap(), { event: [2], count: 4, device: "reference" });
    expect(reference.pass).toBe(true);
  });
});

it("checks properties of the caller too", async () => {
  const oddness: Property = {
    name: "φ(−x) = −φ(x)",
    sides: (phi, { x, t }) => [phi.forward(neg(x), t), neg(phi.forward(x, t))],
    tolerance: 1e-12,
    floor: 1,
    remedy: "the map is not odd",
  };
  expect((await checkMap(tanhMap(), { event: [2], more: [oddness] })).pass).toBe(true);
  expect(failed(await checkMap(sigmoidMap(), { event: [2], more: [oddness] }))).toEqual([
    oddness.name,
  ]);
});
