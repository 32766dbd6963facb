import {
  bent,
  between,
  count,
  LEAST_HEIGHT,
  positive,
  product,
  real,
  simplex,
} from "diffeo/domain";
import { key, normal } from "diffeo/random";
import { describe, expect, it } from "vitest";
import { bentParts, isBendable, withTails } from "../../src/diffusion/encode/bend.ts";
import { chooseMaps, gainOf, splitRows } from "../../src/diffusion/fit/maps.ts";

const small = { width: 24, blocks: 1, threads: 1 } as const;

describe("a bend fitted to data", () => {
  const z = normal(key("bend"), [4000, 2], { dtype: "float64" }).data;
  // One coordinate of two modes, one of a long tail.
  const w = z.map((v, i) =>
    i % 2 === 0 ? 3 + 0.3 * v + (i % 4 === 0 ? 1 : -1) : 100 * Math.sinh(v),
  );
  const whole = product({ modes: real(), tail: real() });
  const bendsBy = (kind: "sinh" | "spline", values: Float64Array) =>
    Object.values(bentParts(kind, whole, values, () => true)).map(({ spec }) => {
      if (spec?.kind !== "bent") throw new Error("is not bent");
      return spec.bend;
    });

  it("of sinh has a middle of three standard deviations", () => {
    const [bend] = bendsBy("sinh", w);
    if (bend.kind !== "sinh") throw new Error("another kind");
    expect(bend.centre[0]).toBeCloseTo(3, 1);
    expect(bend.scale[0]).toBeCloseTo(3 * Math.sqrt(1 + 0.09), 1);
  });

  it("of a spline maps quantiles of the data to those of a normal distribution", () => {
    const [, bend] = bendsBy("spline", w);
    if (bend.kind !== "spline") throw new Error("another kind");
    // Knots are at x = −3, −2.5, …, 3; w₂ = 100 sinh x there but for sampling.
    let reached = bend.low[0];
    const knots = [reached];
    for (const height of bend.heights[0]) {
      reached += height * (bend.high[0] - bend.low[0]);
      knots.push(reached);
    }
    for (const [k, x] of [-3, -2.5, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 2.5, 3].entries())
      if (Math.abs(x) < 2.2) expect(Math.abs(Math.asinh(knots[k] / 100) - x)).toBeLessThan(0.12);
    // Slopes at knots are the geometric means of those next to them.
    for (const [k, slope] of bend.slopes[0].entries())
      expect(slope ** 2).toBeCloseTo(12 * bend.heights[0][k] * (12 * bend.heights[0][k + 1]), 10);
    // Values that many rows share leave no bin empty.
    const [shared] = bendsBy(
      "spline",
      w.map((v, i) => (i % 10 < 8 ? 0 : v)),
    );
    if (shared.kind !== "spline") throw new Error("another kind");
    expect(Math.min(...shared.heights[0])).toBeGreaterThan(LEAST_HEIGHT);
  });

  it("ignores missing values", () => {
    const holes = w.map((v, i) => (i % 7 === 0 ? Number.NaN : v));
    for (const kind of ["sinh", "spline"] as const)
      expect(JSON.stringify(bendsBy(kind, holes))).not.toContain("null");
  });

  it("is not fitted to bent coordinates, nor to parts that may be exactly 0", () => {
    const once = bent(real(), { kind: "sinh", centre: [0], scale: [1] });
    const asked = [real(), positive(), simplex(3), once, simplex(3, { zeros: 0.1 })].map(
      isBendable,
    );
    expect(asked).toEqual([true, true, true, false, false]);
  });

  it("is fitted to numbers without bounds if their tails are not Gaussian, and to nothing else", () => {
    const kindsOf = (of: ReturnType<typeof product>, values: Float64Array) =>
      Object.values(withTails(of, values)).map(({ spec }) => spec?.kind);
    expect(kindsOf(whole, w)).toEqual(["bent", "bent"]);
    expect(kindsOf(product({ modes: real(), tail: positive() }), w)).toEqual(["real", "positive"]);
    expect(kindsOf(whole, z)).toEqual(["real", "real"]);
    // One value of 4,000 is five deviations out, which a Gaussian's is in one table of 400.
    const far = z.slice();
    far[7] = 5.2;
    expect(kindsOf(whole, far)).toEqual(["bent", "bent"]);
    const near = z.slice();
    near[7] = 4.1;
    expect(kindsOf(whole, near)).toEqual(["real", "real"]);
  });
});

describe("maps of a table", () => {
  it.each([
    [7, 2],
    [200, 40],
    [20_000, 1000],
  ])("are measured on rows that no fit used: of %i on %i", (rows, measured) => {
    const { test, seen } = splitRows(rows);
    expect([test.length, seen.length]).toEqual([measured, rows - measured]);
    expect(new Set([...Array.from(test), ...Array.from(seen)]).size).toBe(rows);
  });

  it("are kept if they improve, and all tried ones are reported", async () => {
    // Two narrow modes and nothing between them, which a spline makes one.
    const z = normal(key("modes"), [600, 2], { dtype: "float64" }).data;
    const rows = Array.from({ length: 600 }, (_, i) =>
      [z[2 * i], z[2 * i + 1]].map((v) => 10 * Math.sign(v) + v),
    );
    const told: string[] = [];
    const { columns, tried } = await chooseMaps(rows, {
      columns: { a: real(), b: real() },
      ...small,
      steps: 42,
      onTried: ({ map }) => told.push(map),
    });
    expect(told).toEqual(["sinh", "spline", "affine flow", "spline flow"]);
    expect(tried[1].kept).toBe(true);
    expect(tried[1].gain).toBeGreaterThan(0.3);
    for (const { kept, gain, error } of tried) if (kept) expect(gain).toBeGreaterThan(2 * error);
    expect(columns.a.spec).toMatchObject({
      kind: "bent",
      domain: { kind: "real" },
      bend: { kind: "spline" },
    });
  });

  it("are chosen after the domains of columns, which the energy score chooses", async () => {
    // Logarithms are Gaussian; a fit of the numbers themselves spreads them over both sides of 0.
    const z = normal(key("logarithms"), 1000, { dtype: "float64" }).data;
    const rows = Array.from(z, (v) => [Math.exp(1.5 * v)]);
    const { columns, tried } = await chooseMaps(rows, {
      columns: { a: real() },
      others: { positive: { a: positive() }, same: { a: real() } },
      ...small,
      steps: 30,
    });
    const [first, same] = tried;
    expect(first).toMatchObject({ map: "positive", kept: true, unit: "energy score" });
    expect(first.gain).toBeGreaterThan(2 * first.error);
    expect(same).toMatchObject({ map: "same", gain: 0, error: 0, kept: false });
    // Questions of maps are then asked of a number above 0.
    expect(tried[2].map).toBe("softplus");
    expect(Object.keys(columns)).toEqual(["a"]);
  });

  it("are tried if there is a choice", async () => {
    const z = normal(key("parts"), [60, 4], { dtype: "float64" }).data.map(Math.exp);
    const rows = Array.from({ length: 60 }, (_, i) => {
      const [a, b, c, d] = z.subarray(4 * i, 4 * i + 4);
      const total = a + b + c;
      return [a / total, b / total, c / total, d, d / (1 + d)];
    });
    const { tried, columns } = await chooseMaps(rows, {
      columns: {
        parts: simplex(3, { map: "isometricLogRatio" }),
        size: positive(),
        share: between(0, 1),
      },
      ...small,
      steps: 1,
    });
    const flows = ["affine flow", "spline flow"];
    const single = ["additiveLogistic", "stickBreaking", "softplus", "sinh", "spline"];
    expect(tried.map(({ map }) => map)).toEqual([...single, ...flows]);
    expect(Object.keys(columns)).toEqual(["parts", "size", "share"]);
    // A flow needs two numbers, of which a whole one is none.
    const counted = await chooseMaps(
      rows.map(([, , , d], i) => [i % 3, d]),
      { columns: { n: count(), d: real() }, ...small, steps: 1 },
    );
    expect(counted.tried.map(({ map }) => map)).toEqual(["sinh", "spline"]);
  });

  it("have as gain the mean of differences, with its standard error", () => {
    const { gain, error } = gainOf(Float64Array.of(1, 2, 3, 6), Float64Array.of(0, 1, 1, 0));
    expect(gain).toBe(2.5);
    // Squares 2.25, 2.25, 0.25 and 12.25 about it, over 3 · 4.
    expect(error).toBeCloseTo(Math.sqrt(17 / 12), 12);
  });
});
