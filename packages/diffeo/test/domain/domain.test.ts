/**
 * Every domain: properties of its map, round trips of cells, values inside, and errors for values
 * outside.
 */
import { affineMatrix, pullVector } from "diffeo/bijector";
import { checkMap } from "diffeo/check";
import {
  angle,
  ball,
  between,
  type Cell,
  category,
  correlation,
  count,
  covariance,
  type Domain,
  domain,
  domainOf,
  empirical,
  integer,
  mixed as mixedNumber,
  ordered,
  positive,
  product,
  real,
  simplex,
  simplexMaps,
  sphere,
} from "diffeo/domain";
import { evaluate } from "diffeo/engine";
import { DiffeoError, type NdArray, type Tensor } from "diffeo/graph";
import { normalPoint, normalShare } from "diffeo/host";
import { fold, key, normal, sampleKeys, uniform } from "diffeo/random";
import { describe, expect, it } from "vitest";

const mixed = product({
  ph: real(),
  sigma: positive(),
  soil: simplex(["sand", "silt", "clay"], { total: 100, map: "isometricLogRatio" }),
  time: ordered(["start", "end"], { above: 0 }),
  ward: category(["a", "b", "c"]),
  visits: count(),
  place: sphere(3),
});

/** 60 % of a column is within a fifth of its range, and one cell of 0.5 has 15 %. */
const amounts = empirical({
  knots: [0.25, 4.75, 5.25, 10.25, 50.25],
  shares: [0.002, 0.3, 0.45, 0.6, 0.998],
  step: 0.5,
  low: -0.25,
});
const rain = mixedNumber([0, -9], amounts);

/** One of each, and of each of its forms. */
const table: readonly (readonly [string, Domain])[] = [
  ["real", real()],
  ["real, three of them", real(3)],
  ["real in quarters from −2 to 1.5", real(1, { step: 0.25, range: [-2, 1.5] })],
  ["positive", positive()],
  ["positive by softplus", positive({ map: "softplus" })],
  ["above −2.5", positive({ above: -2.5 })],
  ["below 7", positive({ below: 7, map: "softplus" })],
  ["between 0 and 120", between(0, 120)],
  ["between −1e-3 and 1e-3", between(-1e-3, 1e-3)],
  ["positive in thousands", positive({ step: 1000 })],
  ["between, in tenths", between(0, 1, { step: 0.1 })],
  ["integer", integer()],
  ["count that was seen from 2 to 9", integer({ least: 0, range: [2, 9] })],
  ["integer from −3 to 5", integer({ least: -3, most: 5 })],
  ["integer up to 4", integer({ most: 4 })],
  ["count", count()],
  ...simplexMaps.map((map) => [`four parts by ${map}`, simplex(4, { map })] as const),
  ["parts that sum to 100", simplex(["sand", "silt", "clay"], { total: 100 })],
  ["parts with zeros, the first the rest", simplex(3, { zeros: 1e-3, rest: 0 })],
  ["two labels", category(["yes", "no"])],
  [
    "five labels by isometricLogRatio",
    category([1, 2, 3, "four", "5"], { map: "isometricLogRatio", soften: 0.05 }),
  ],
  ["ordered", ordered(4)],
  ["ordered in tenths", ordered(3, { step: 0.1 })],
  ["ordered above 2 in halves", ordered(2, { above: 2, step: 0.5 })],
  ["ordered with ties in fives", ordered(["a", "b", "c"], { step: 5, ties: true })],
  ["ordered above 1", ordered(["a", "b", "c"], { above: 1 })],
  ["ordered below 1", ordered(3, { below: 1 })],
  ...simplexMaps.map(
    (map) => [`ordered in (−2, 3) by ${map}`, ordered(3, { above: -2, below: 3, map })] as const,
  ),
  ["one number in (0, 1), ordered", ordered(1, { above: 0, below: 1 })],
  ["empirical", empirical({ knots: [-3, 0, 1], shares: [0.0001, 0.8, 0.9999] })],
  ["empirical in steps", amounts],
  ["mixed", rain],
  ["angle", angle()],
  ["hours of a day", angle({ period: 24, centre: 13.5 })],
  ["ball", ball(3)],
  ["ball of radius 5", ball(2, { radius: 5 })],
  // In R³ the projection of Brownian motion has no drift: nothing that a relative error could be
  // of.
  ["sphere", sphere(4)],
  ["sphere about a direction", sphere(4, { centre: [1, -2, 0, 2] })],
  ["correlation", correlation(3)],
  ["covariance", covariance(3)],
  ["a product", mixed],
];

/** y of rows x, on the host. */
const forward = async (own: Domain, x: ArrayLike<number>): Promise<Float64Array> => {
  const rows: NdArray = {
    shape: [x.length / own.dimension, own.dimension],
    dtype: "float64",
    data: Float64Array.from(x),
  };
  return (await evaluate((z: Tensor) => own.map.forward(z), rows)).data as Float64Array;
};
const inverse = async (own: Domain, y: ArrayLike<number>): Promise<Float64Array> => {
  const rows: NdArray = {
    shape: [y.length / own.size, own.size],
    dtype: "float64",
    data: Float64Array.from(y),
  };
  return (await evaluate((z: Tensor) => own.map.inverse(z), rows)).data as Float64Array;
};
const rowsOf = (data: Float64Array, width: number): number[][] =>
  Array.from({ length: data.length / width }, (_, i) =>
    Array.from(data.subarray(i * width, (i + 1) * width)),
  );
const noiseOf = (own: Domain, i: number): number[] =>
  Array.from(uniform(fold(key("u"), i), [own.noise], { dtype: "float64" }).data);

describe.each(table)("%s", (_, own) => {
  it("has a map with all properties", async () => {
    // Further out what closed forms are compared with, autodiff and the determinant of a dense JᵀJ,
    // has too few digits left.
    const report = await checkMap(own.map, {
      event: [own.dimension],
      extreme: own === mixed ? 6 : 12,
    });
    expect(report.properties.filter((property) => !property.pass)).toEqual([]);
  });

  it("starts inside, at φ(0)", async () => {
    expect(own.start).toHaveLength(own.size);
    const [start] = rowsOf(await forward(own, new Float64Array(own.dimension)), own.size);
    own.start.forEach((v, i) => {
      expect(v).toBeCloseTo(start[i], 14);
    });
    expect(own.fault(own.decode(own.start))).toBeUndefined();
  });

  it("reads the cells it writes, which are inside for any x", async () => {
    const x = normal(key("x"), [40, own.dimension], { dtype: "float64" }).data;
    for (const [i, y] of rowsOf(await forward(own, x), own.size).entries()) {
      const cells = own.decode(y);
      expect(own.fault(cells)).toBeUndefined();
      expect(own.decode(own.encode(cells, noiseOf(own, i)))).toEqual(
        cells.map((cell) => (typeof cell === "number" ? expect.closeTo(cell, 10) : cell)),
      );
    }
  });

  it("is the same when read from JSON", async () => {
    const again = domainOf(JSON.parse(JSON.stringify(own.spec)));
    const x = normal(key("json"), [3, own.dimension], { dtype: "float64" }).data;
    const [a, b] = [await forward(own, x), await forward(again, x)];
    expect(b).toEqual(a);
    const plain = (domain: Domain) => {
      const functions = {
        map: 0,
        fault: 0,
        encode: 0,
        decode: 0,
        parts: 0,
        split: 0,
        values: typeof domain.values,
        logUnitOf: typeof domain.logUnitOf,
      };
      return { ...domain, ...functions };
    };
    expect(plain(again)).toEqual(plain(own));
    rowsOf(a, own.size).forEach((y) => {
      expect(again.decode(y)).toEqual(own.decode(y));
    });
  });

  it("refuses too few cells, and cells that are not numbers", () => {
    expect(own.fault([])).toMatch(/^0 values given, \d+ expected$/);
    if (own.kind === "category") return;
    const cells = own.decode(own.start).slice();
    cells[0] = Number.NaN;
    expect(own.fault(cells)).toMatch(/NaN is not a finite number/);
    cells[0] = "x".repeat(1e5);
    expect(own.fault(cells)?.length).toBeLessThan(200);
  });
});

describe("cells that are y", () => {
  const plain = table.filter(
    ([name, own]) =>
      own.noise === 0 && own.kind !== "category" && own !== mixed && !name.includes(" in "),
  );
  it.each(plain)("%s: x → cells → x is the identity", async (_, own) => {
    const x = normal(key("round"), [30, own.dimension], { dtype: "float64" }).data;
    const points = rowsOf(await forward(own, x), own.size).flatMap((y) =>
      own.encode(own.decode(y), []),
    );
    (await inverse(own, points)).forEach((v, i) => {
      expect(v).toBeCloseTo(x[i], 8);
    });
  });
});

describe("far out", () => {
  // Matrices that rounding makes singular have no nearest neighbour that is worth the search.
  const kept = table.filter(([, own]) => !["correlation", "covariance"].includes(own.kind));
  it.each(kept)("%s: cells are never outside", async (_, own) => {
    const signs = Array.from(
      normal(key("far"), [60, own.dimension], { dtype: "float64" }).data,
      Math.sign,
    );
    const x = [40, 800].flatMap((far) => signs.map((sign) => sign * far));
    for (const y of rowsOf(await forward(own, x), own.size)) {
      const found = y.every(Number.isFinite) ? own.fault(own.decode(y)) : undefined;
      expect(found).toBeUndefined();
    }
  });
});

describe("cells outside", () => {
  it.each<[string, Domain, Cell[], RegExp]>([
    ["positive", positive(), [0], /^0 is the bound, which is not in the domain$/],
    ["positive", positive(), [-3], /^-3 is not above 0$/],
    ["below", positive({ below: 7 }), [8], /^8 is not below 7$/],
    ["between", between(0, 120), [120], /^120 is the bound/],
    ["between", between(0, 120), [130], /^130 is not between 0 and 120$/],
    ["integer", integer({ least: 1, most: 5 }), [2.5], /^2.5 is not an integer$/],
    ["integer", integer({ least: 1, most: 5 }), [0], /^0 is less than 1$/],
    ["integer", integer({ least: 1, most: 5 }), [6], /^6 is more than 5$/],
    ["count", count(), [2 ** 60], /is not an integer/],
    ["simplex", simplex(3), [0.5, 0.5, 0], /^a part is 0, which is the bound; set `zeros`/],
    ["simplex", simplex(3, { zeros: 0.01 }), [0.5, 0.7, -0.2], /^the part -0.2 is not above 0$/],
    ["simplex", simplex(3, { total: 100 }), [30, 30, 30], /^the parts sum to 90, not 100$/],
    ["category", category(["a", "b"]), ["c"], /^"c" is not one of "a", "b"$/],
    ["category", category([1, 2]), ["1"], /^"1" is not one of 1, 2$/],
    ["ordered", ordered(3), [1, 2, 2], /^2 is not greater than 2$/],
    ["ordered", ordered(2, { above: 0 }), [0, 1], /^0 is not above 0$/],
    ["ordered", ordered(2, { below: 1 }), [0, 1], /^1 is not below 1$/],
    ["empirical", amounts, [-0.5], /^-0.5 is not between -0.25 and Infinity$/],
    ["mixed", rain, [-8], /^-8 is not between -0.25 and Infinity$/],
    ["ball", ball(2), [0.6, 0.8], /^the distance 1 from 0 is not below the radius 1$/],
    ["sphere", sphere(2), [1, 1], /^the vector has length 1\.41\d*, not 1$/],
    ["correlation", correlation(2), [1], /^1 is not a correlation between −1 and 1$/],
    [
      "correlation",
      correlation(3),
      [0.9, 0.9, -0.9],
      /^the correlation matrix is not positive definite$/,
    ],
    ["covariance", covariance(2), [1, 2, 1], /^the matrix is not positive definite$/],
    [
      "a product",
      mixed,
      [5, 1, 30, 30, 30, 1, 2, "a", 3, 0, 0, 1],
      /^sand, silt, clay: the parts sum to 90, not 100$/,
    ],
    [
      "a product",
      mixed,
      [5, 1, 30, 30, 40, 2, 1, "a", 3, 0, 0, 1],
      /^start, end: 1 is not greater than 2$/,
    ],
  ])("of %s %# are reported", (_, own, cells, message) => {
    expect(own.fault(cells)).toMatch(message);
  });
});

describe("recorded numbers", () => {
  it.each([
    [real(1, { step: 0.05 }), 1.2751, 1.3],
    [real(1, { step: 0.3 }), 0.9004, 0.9],
    [real(1, { step: 0.1 }), 0.3000001, 0.3],
    [real(1, { step: 1000 }), -1499, -1000],
    [real(1, { step: 0.5 }), -0.2, 0],
    [real(1, { range: [0, 7] }), 7.4, 7],
    [positive({ step: 0.1 }), 0.01, 0.1],
    [positive({ below: 1, step: 0.5 }), 0.9, 0.5],
    [between(0, 100, { step: 1, range: [2, 98] }), 99.7, 98],
    [between(0, 100, { step: 1 }), 99.7, 99],
    [ordered(1, { step: 0.1 }), 0.3000001, 0.3],
    // No multiple is inside.
    [between(0, 1, { step: 5 }), 0.4, 0.4],
    [integer({ least: 0, range: [3, 8] }), 12.3, 8],
  ])("$0.spec: $1 comes out as $2", (own, y, cell) => {
    expect(own.decode([y])).toEqual([cell]);
  });

  it("ordered numbers keep their order and their step, and may be equal if the spec says so", () => {
    const tied = ordered(2, { step: 0.5, ties: true });
    expect(tied.encode([3, 3], [])).toEqual([3, 3.5]);
    expect(tied.decode([3, 3.5])).toEqual([3, 3]);
    expect(tied.decode([3, 3.1])).toEqual([3, 3]);
    expect(tied.decode([2.9, 4.6])).toEqual([3, 4]);
    expect(tied.fault([3, 3])).toBeUndefined();
    expect(tied.fault([3, 2.5])).toMatch(/2.5 is not greater than 3/);
    expect(ordered(2, { step: 0.5 }).decode([3.1, 3.2])).toEqual([3, 3.5]);
    expect(ordered(2, { above: 0, below: 1, step: 0.7 }).decode([0.3, 0.5])).toEqual([0.3, 0.5]);
    expect(() => ordered(2, { ties: true })).toThrow(/`ties` is set without `step`/);
  });

  it.each([
    [() => real(1, { step: -1 }), /`step` is -1/],
    [() => positive({ range: [3, 1] }), /`range` is 3 to 1/],
    [() => integer({ range: [Number.NaN, 1] }), /`range` is NaN to 1/],
  ])("invalid steps and ranges are refused", (make, message) => {
    expect(make).toThrow(message);
  });
});

describe("reading cells", () => {
  it("an integer is spread uniformly over its interval, and is the floor of the result", () => {
    const own = integer({ least: 0 });
    expect(own.encode([3], [0.25])).toEqual([3.25]);
    expect(own.decode([3.999])).toEqual([3]);
    expect(own.decode([-1e-9])).toEqual([0]);
    const large = 2 ** 53 - 2;
    expect(own.decode(own.encode([large], [0.999]))).toEqual([large]);
  });

  it.each([integer({ least: -3, most: 5 }), integer({ least: 2 }), integer({ most: 4 })])(
    "an integer is inside its map's image, also the first and the last: $spec",
    async (own) => {
      const { least, most } = own.spec as { least?: number; most?: number };
      const ends = [least ?? -40, most ?? 40];
      const y = ends.flatMap((k) => [0.01, 0.99].flatMap((u) => own.encode([k], [u])));
      const x = await inverse(own, y);
      expect(x.every(Number.isFinite)).toBe(true);
      (await forward(own, x)).forEach((v, i) => {
        expect(own.decode([v])).toEqual([ends[i >> 1]]);
      });
    },
  );

  it("a point that rounding moved onto a ball's boundary, or beyond it, is written inside", () => {
    const directions = normal(key("edge"), [300, 3], { dtype: "float64" }).data;
    for (const radius of [1, 5, 0.3]) {
      const own = ball(3, { radius });
      for (let i = 0; i < 900; i += 3) {
        const d = Array.from(directions.subarray(i, i + 3));
        const cells = own.decode(
          d.map((v) => (v * radius * (1 + (i % 7) * Number.EPSILON)) / Math.hypot(...d)),
        );
        expect(own.fault(cells)).toBeUndefined();
      }
    }
  });

  it("a category is softened by ε, and is read from the largest share", () => {
    const own = category(["a", "b", "c"], { soften: 0.02 });
    expect(own.encode(["b"], [])).toEqual([0.01, 0.98]);
    expect(own.encode(["c"], [])).toEqual([0.01, 0.01]);
    expect(
      [
        [0.2, 0.3],
        [0.4, 0.3],
        [0.1, 0.6],
      ].map((y) => own.decode(y)[0]),
    ).toEqual(["c", "a", "b"]);
  });

  it("a zero part is encoded as a small share, and decoded as zero", () => {
    const own = simplex(3, { total: 10, zeros: 0.01 });
    const y = own.encode([0, 4, 6], [0.5, 0.9, 0.9]);
    // 0.05 for the zero, and all of it over 10.05.
    expect(y[0]).toBeCloseTo(0.05 / 10.05, 12);
    expect(y[1]).toBeCloseTo(4 / 10.05, 12);
    const back = own.decode(y) as number[];
    expect(back[0]).toBe(0);
    expect(back[1]).toBeCloseTo(4, 12);
    expect(back.reduce((a, b) => a + b, 0)).toBeCloseTo(10, 12);
  });

  it("a tiny last part is still finite in x", async () => {
    const own = simplex(3);
    const x = await inverse(own, own.encode([0.25, 0.75, 1e-30], []));
    expect([...x].every(Number.isFinite)).toBe(true);
    const first = simplex(3, { rest: 0 });
    const tiny = await inverse(first, first.encode([0.25, 0.75, 1e-300], []));
    expect(tiny[1]).toBeCloseTo(Math.log(1e-300 / 0.25), 10);
  });

  it("rounded cells sum to the total within a tolerance, and are read as shares of their own sum", () => {
    const own = simplex(["a", "b", "c"], { total: 100, tolerance: 2e-3 });
    expect(own.fault([33.3, 33.3, 33.3])).toBeUndefined();
    const [a, b] = own.encode([33.3, 33.3, 33.3], []);
    expect(a).toBeCloseTo(1 / 3, 12);
    expect(b).toBeCloseTo(1 / 3, 12);
  });

  it("an angle is the same after whole turns, and is written within half a turn of its centre", () => {
    const day = angle({ period: 24, centre: 20 });
    for (const hour of [1, 25, -23])
      expect(day.decode(day.encode([hour], []))[0]).toBeCloseTo(25, 10);
    expect(day.decode(day.encode([19], []))[0]).toBeCloseTo(19, 10);
    // Opposite to the centre, the one point that is not in the image: 10⁻⁵ of a radian off.
    expect(Math.abs((day.decode(day.encode([8], []))[0] as number) - 20)).toBeCloseTo(
      12 - (24 * 1e-5) / (2 * Math.PI),
      8,
    );
  });

  it("an angle is written from the given start, wherever its circle is cut", () => {
    const wind = angle({ period: 360, centre: 217, from: 0 });
    // Just before 1000 in a circle that begins there: the sum with a whole turn less a little is
    // rounded to the turn.
    expect(angle({ period: 360, centre: 1000, from: 1000 }).decode([-1e-15, -1])).toEqual([1000]);
    for (const cell of [0, 3, 36, 38, 217, 359.5])
      expect(wind.decode(wind.encode([cell], []))[0]).toBeCloseTo(cell, 9);
    expect(wind.decode(wind.encode([-3], []))[0]).toBeCloseTo(357, 9);
    const before = wind.decode([-Number.MIN_VALUE, -1])[0] as number;
    expect(before >= 0 && before < 360).toBe(true);
  });

  it("the density of an angle is that of its point on the circle, in the angle's units", async () => {
    // x = tan(θ/2): of a uniform angle, q(x) = 1/(π(1 + x²)), and of hours 1/24 each.
    const hours = angle({ period: 24 });
    const x = await inverse(hours, hours.encode([5], []));
    const logDet = await evaluate((z: Tensor) => hours.map.logDet(z), {
      shape: [1, 1],
      dtype: "float64",
      data: x,
    } as NdArray);
    const logQ = -Math.log(Math.PI * (1 + x[0] ** 2)) - (logDet.data[0] as number) + hours.logUnit;
    expect(logQ).toBeCloseTo(-Math.log(24), 12);
  });

  it("a sphere's centre is where x is 0", async () => {
    const own = sphere(3, { centre: [0, 3, 4] });
    for (const v of await inverse(own, own.encode([0, 0.6, 0.8], []))) expect(v).toBeCloseTo(0, 12);
    const pole = own.encode([0, -0.6, -0.8], []);
    for (const v of await inverse(own, pole)) expect(Number.isFinite(v)).toBe(true);
  });
});

describe("numbers by a distribution function", () => {
  const U = 400;
  /** E_u of q(y) e^{unit} over the noise of a value, q Gaussian with a mean and a deviation. */
  const chance = (own: Domain, value: number, mean: number, sd: number): number => {
    let sum = 0;
    for (let i = 0; i < U; i++) {
      const y = own.encode([value], [(i + 0.5) / U]);
      const z = (y[y.length - 1] - mean) / sd;
      const q = Math.exp(-(z * z) / 2) / (sd * Math.sqrt(2 * Math.PI));
      sum += q * Math.exp(own.logUnitOf?.([value], y) ?? Number.NaN);
    }
    return sum / U;
  };

  it("a cell has the probability of its interval of y", () => {
    // Edges 1.75 and 2.25 of 2: F = 0.002 + 0.298 (v − 0.25)/4.5.
    const F = (v: number): number => 0.002 + (0.298 * (v - 0.25)) / 4.5;
    expect(0.5 * chance(amounts, 2, 0, 1)).toBeCloseTo(F(2.25) - F(1.75), 12);
    const y = (v: number): number => normalPoint(F(v), 1 - F(v));
    const share = (v: number): number => normalShare((y(v) - 0.4) / 0.7);
    expect(0.5 * chance(amounts, 2, 0.4, 0.7)).toBeCloseTo(share(2.25) - share(1.75), 7);
  });

  it("the probabilities of all cells sum to 1, except for the tails beyond the knots", () => {
    let total = 0;
    for (let k = 0; k <= 20_000; k++) total += 0.5 * chance(amounts, k / 2, 0, 1);
    // w/(w + d) with w = 5 of 0.002.
    expect(total).toBeCloseTo(1 - (0.002 * 5) / (5 + 10_000.25 - 50.25), 9);
  });

  it("an atom has the whole interval of y, whichever value stands for it", () => {
    expect(chance(rain, 0, 0, 1)).toBeCloseTo(1, 12);
    expect(chance(rain, -9, 0.3, 0.8)).toBeCloseTo(1, 3);
    expect(rain.encode([0], [0.3]).slice(0, 2)).not.toEqual(rain.encode([-9], [0.3]).slice(0, 2));
  });

  it("values are written in steps and within the knots, with the frequencies of F", async () => {
    const y = normal(key("amounts"), [20_000, 1], { dtype: "float64" }).data;
    const values = Array.from(y, (v) => amounts.decode([v])[0] as number);
    expect(values.every((v) => Number.isInteger(2 * v) && v >= 0.5 && v <= 50)).toBe(true);
    expect(values.filter((v) => v === 5).length / values.length).toBeCloseTo(0.15, 2);
    expect(amounts.decode([40])).toEqual([50]);
    const tenths = empirical({ knots: [0.05, 1.05], shares: [0.01, 0.99], step: 0.1 });
    for (const v of y.subarray(0, 500))
      expect(String(tenths.decode([v])[0]).length).toBeLessThanOrEqual(3);
  });

  it("use the density if the step is below the precision of y", () => {
    const fine = empirical({ knots: [0, 1, 1e5], shares: [0.01, 0.98, 0.99], step: 1e-9 });
    const y = fine.encode([54_294.072546017], [0.5]);
    // log f/φ(y), where F rises by 0.01 over 10⁵.
    const wanted = Math.log(1e-7) + (y[0] ** 2 + Math.log(2 * Math.PI)) / 2;
    expect(fine.logUnitOf?.([54_294.072546017], y)).toBeCloseTo(wanted, 4);
  });

  it("a model sees their values", async () => {
    const y = [-1.3, 0.2, 2.5];
    const seen = await evaluate((z: Tensor) => (amounts.values as (y: Tensor) => Tensor)(z), {
      shape: [3, 1],
      dtype: "float64",
      data: Float64Array.from(y),
    });
    Array.from(seen.data as Float64Array).forEach((v, i) => {
      expect(Math.abs(v - (amounts.decode([y[i]])[0] as number))).toBeLessThan(0.26);
    });
  });

  it.each([
    [{ knots: [0, 1], shares: [0.1] }, /2 knots and 1 shares/],
    [{ knots: [0, 1], shares: [0, 0.9] }, /leave no probability/],
    [{ knots: [0, 1], shares: [0.1, 0.9], step: 0 }, /`step` is 0/],
    [{ knots: [0, 1], shares: [0.1, 0.9], low: 0 }, /a knot is outside the bounds/],
  ])("%j is refused", (options, message) => {
    expect(() => empirical(options)).toThrow(message);
    expect(() => mixedNumber([0], real())).toThrow(/`other` is of kind real/);
    expect(() => mixedNumber([], amounts)).toThrow(/`atoms` are empty/);
  });
});

describe("units", () => {
  it.each<[string, Domain, number]>([
    ["parts that sum to 100", simplex(3, { total: 100 }), -2 * Math.log(100)],
    ["numbers in order from 2 to 12", ordered(3, { above: 2, below: 12 }), -3 * Math.log(10)],
  ])("%s: a density of cells is that of y over the volume of a unit", (_, own, expected) => {
    expect(own.logUnit).toBeCloseTo(expected, 12);
    // A step in each free cell moves y by as much as the unit says.
    const at = own.kind === "simplex" ? [20, 30, 50] : [3, 5, 9];
    const [y, moved] = [
      own.encode(at, []),
      own.encode(own.kind === "simplex" ? [21, 30, 49] : [4, 5, 9], []),
    ];
    expect(Math.log(moved[0] - y[0])).toBeCloseTo(expected / own.dimension, 10);
  });
});

it("correlations of four variables have the properties too, as far out as their matrices are regular", async () => {
  const report = await checkMap(correlation(4).map, { event: [6], extreme: 8 });
  expect(report.properties.filter((property) => !property.pass)).toEqual([]);
});

describe("a product", () => {
  it("names its columns, and passes each part its own", () => {
    expect(mixed.columns).toEqual([
      ...[
        "ph",
        "sigma",
        "sand",
        "silt",
        "clay",
        "start",
        "end",
        "ward",
        "visits",
        "place.1",
        "place.2",
        "place.3",
      ],
    ]);
    const cells = [5, 1, 20, 30, 50, 1, 2, "b", 3, 0, 0.6, 0.8];
    expect(mixed.fault(cells)).toBeUndefined();
    expect(mixed.split(cells)).toMatchObject({
      soil: [20, 30, 50],
      time: [1, 2],
      ward: ["b"],
      place: [0, 0.6, 0.8],
    });
    expect([mixed.dimension, mixed.size, mixed.cells, mixed.noise]).toEqual([11, 12, 12, 1]);
    const units = mixed.parts.map(({ domain: own }) => own.logUnit);
    expect(units.filter((unit) => unit !== 0).length).toBeGreaterThan(0);
    expect(mixed.logUnit).toBeCloseTo(
      units.reduce((a, b) => a + b),
      14,
    );
  });

  it("reads each row with its own key", () => {
    const u = uniform(sampleKeys(key(1), 2), [mixed.noise], { dtype: "float64" }).data;
    expect(
      mixed.encode([5, 1, 20, 30, 50, 1, 2, "b", 3, 0, 0.6, 0.8], u.subarray(0, 1))[8],
    ).toBeCloseTo(3 + u[0], 12);
  });

  it("refuses duplicate column names, nested products and an empty list", () => {
    expect(() => product({ a: real(), b: simplex(["a", "c"]) })).toThrow(
      /two columns have the name "a"/,
    );
    expect(() => product({ a: product({ b: real() }) })).toThrow(/"a" is a product/);
    expect(() => product({})).toThrow(/no domains/);
  });
});

describe("a custom domain", () => {
  const own = domain({
    kind: "above the diagonal",
    map: affineMatrix([
      [1, 0],
      [1, 2],
    ]),
    dimension: 2,
    fault: ([a, b]) => (b === b + a * 0 ? undefined : "no"),
  });
  it("consists of a map and a test of membership", async () => {
    expect(own.start).toEqual([0, 0]);
    expect(own.decode([1, 2])).toEqual([1, 2]);
    const { data } = await evaluate((x: Tensor) => pullVector(own.map, x, x), [[1, 3]]);
    expect([...data]).toEqual([1, 1]);
    const both = product({ own, other: real() });
    expect(both.columns).toEqual(["own.1", "own.2", "other"]);
    expect(both.spec).toBeUndefined();
  });
  it("has the size of its map", () => {
    expect(() => domain({ ...own, size: 3 })).toThrow(/gives 2 coordinates, `size` is 3/);
  });
});

describe("invalid options", () => {
  it.each<[() => Domain, RegExp]>([
    [() => positive({ above: 0, below: 1 }), /both `above` and `below` are given/],
    [() => positive({ above: Number.NaN }), /the bound is NaN/],
    [() => positive({ map: "toString" as "exp" }), /unknown `map` "toString"/],
    [() => between(1, 1), /the interval from 1 to 1 is empty/],
    [() => between(0, Number.POSITIVE_INFINITY), /is empty or unbounded/],
    [() => integer({ least: 0.5 }), /least is 0.5/],
    [() => integer({ least: 3, most: 2 }), /`least` is 3, `most` is 2/],
    [() => simplex(1), /the number of parts is 1/],
    [() => simplex(["a", "a"]), /two parts have the same name/],
    [() => simplex(3, { total: 0 }), /`total` is 0/],
    [() => simplex(3, { rest: 3 }), /`rest` is 3, which is not one of the parts/],
    [() => simplex(3, { zeros: 0.5 }), /`zeros` is 0.5/],
    [() => simplex(3, { map: "constructor" as "stickBreaking" }), /unknown `map` "constructor"/],
    [() => category(["a"]), /the number of labels is 1/],
    [() => category(["a", "a"]), /two labels are the same/],
    [() => category(["a", "b"], { soften: 0.5 }), /`soften` is 0.5/],
    [() => ordered(0), /the number of values is 0/],
    [() => ordered(2, { above: 1, below: 1 }), /is empty or unbounded/],
    [() => angle({ period: 0 }), /`period` is 0/],
    [() => angle({ from: Number.NaN }), /`from` is NaN/],
    [() => ball(2, { radius: -1 }), /`radius` is -1/],
    [() => sphere(1), /parts is 1/],
    [() => sphere(2, { centre: [0, 0] }), /not a direction/],
    [() => correlation(1), /order is 1/],
  ])("%s", (make, message) => {
    expect(make).toThrow(message);
    expect(make).toThrow(DiffeoError);
  });
});

describe("specs from files", () => {
  it.each<[unknown]>([
    [null],
    [{ kind: "toString" }],
    [{ kind: "between", low: 0 }],
    [{ kind: "between", low: 0, high: 1, more: 2 }],
    [{ kind: "correlation", order: 1e6 }],
    [{ kind: "ball", size: 1e9 }],
    [{ kind: "product", parts: [] }],
    [{ kind: "product", parts: [{ name: "a", domain: { kind: "product", parts: [] } }] }],
    [{ kind: "category", labels: [null, "a"] }],
  ])("%j is refused", (value) => {
    expect(() => domainOf(value, "model.json")).toThrow(/^model.json is not a domain/);
  });
});
