/** From a table to three sets, row by row, and the distributions of the generated tables. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rightSvd } from "diffeo/host";
import { key, normal } from "diffeo/random";
import { describe, expect, it } from "vitest";
import { misses } from "../../diffeo/test/matching/support.ts";
import { uciTable } from "../src/node/datasets.ts";
import { type PrepareOptions, prepare } from "../src/table/prepare.ts";
import { generate, type SyntheticName, synthetics } from "../src/table/synthetic.ts";
import type { Table } from "../src/table/table.ts";
import { preparationOf, uciSets } from "../src/table/uci.ts";
import { whiteningOf, whitenRows } from "../src/table/whitening.ts";

const uci = fileURLToPath(new URL("../../../../shared/data/uci", import.meta.url));
const bare = { dequantise: false, whiten: false, noise: 0 } as const;

const table = (rows: readonly (readonly number[])[]): Table => ({
  source: "t.csv",
  columns: rows[0].map((_, j) => `c${j + 1}`),
  rows: rows.length,
  values: Float64Array.from(rows.flat()),
});

const partsOf = (whole: Table, options: PrepareOptions, seed = 1): Float32Array[] => {
  const { train, validation, test } = prepare(whole, key(seed), options);
  return [train, validation, test].map(({ data }) => data as Float32Array);
};

describe("the three sets", () => {
  const rows = Array.from({ length: 1599 }, (_, i) => [i, Math.sin(i * i)]);

  it("contain every row once, in the order of NumPy's seed 2019", () => {
    const numbers = partsOf(table(rows), bare).map((part) =>
      Array.from(part).filter((_, i) => i % 2 === 0),
    );
    expect(numbers.flat().toSorted((a, b) => a - b)).toEqual(rows.map(([i]) => i));
    // numpy.random.RandomState(2019).permutation(1599), from 0, 1296 and 1440.
    expect(numbers.map((part) => part.slice(0, 4))).toEqual([
      [20, 5, 1564, 657],
      [925, 536, 1003, 735],
      [835, 1402, 1253, 603],
    ]);
  });

  it("are whitened together, and all have independent noise of standard deviation 0.05", () => {
    const quiet = partsOf(table(rows), { noise: 0 });
    const all = quiet.flatMap((part) => Array.from(part));
    const product = (j: number, k: number): number =>
      rows.reduce((total, _, i) => total + all[2 * i + j] * all[2 * i + k], 0) / rows.length;
    for (const [j, k, expected] of [
      [0, 0, 1],
      [0, 1, 0],
      [1, 1, 1],
    ])
      expect(product(j, k)).toBeCloseTo(expected, 6);
    const noise = partsOf(table(rows), {}).map((part, p) =>
      part.map((v, i) => (v - quiet[p][i]) / 0.05),
    );
    noise.forEach((part, p) => {
      const squares = part.map((v) => v * v);
      const other = noise[(p + 1) % 3];
      const products = part.slice(0, 200).map((v, i) => v * other[i]);
      for (const [values, expected] of [
        [part, 0],
        [squares, 1],
        [products, 0],
      ] as const)
        expect(misses(values, expected)).toBeLessThan(4);
    });
  });

  it("refuse negative noise and a share that is not a number", () => {
    expect(() => prepare(table(rows), key(1), { noise: -1 })).toThrow(
      /the noise is -1\. Give a standard deviation ≥ 0/,
    );
    expect(() => prepare(table(rows), key(1), { test: Number.NaN })).toThrow(
      /cannot be divided into three sets/,
    );
  });
});

describe("whitening", () => {
  const z = Array.from({ length: 60 }, (_, i) => normal(key(i), [4], { dtype: "float64" }).data);
  const inUnits = (...units: readonly number[]): Table =>
    table(z.map((row) => units.map((unit, j) => unit * (row[j] + 0.5 * row[(j + 1) % 4] + 3))));

  it.each([
    [1, 1, 1, 1],
    [1e-3, 20, 7e5, 0.4],
    [1e-9, 1e5, 1, 1],
  ])("has the same bits in any unit: %s", (...units) => {
    const whole = inUnits(...units);
    const { mean, matrix, logDet } = whiteningOf(whole);
    const { values, vectors } = rightSvd(
      whole.values.map((v, i) => v - mean[i % 4]),
      4,
    );
    const scale = values.map((s) => Math.sqrt(60) / s);
    expect(matrix).toEqual(Array.from(vectors, (v, i) => v * scale[i % 4]));
    expect(logDet).toBe(scale.reduce((total, s) => total + Math.log(s), 0));
  });

  it.each([1e200, 1e-200, 1e290, 1e-290])("accepts a table in units of %d", (unit) => {
    const [plain, scaled] = [inUnits(1, 2, 3, 4), inUnits(unit, 2 * unit, 3 * unit, 4 * unit)];
    const [map, other] = [whiteningOf(plain), whiteningOf(scaled)];
    expect((map.logDet - other.logDet) / (4 * Math.log(unit))).toBeCloseTo(1, 12);
    const points = whitenRows(plain.values, map);
    whitenRows(scaled.values, other).forEach((v, i) => {
      expect(v).toBeCloseTo(points[i], 9);
    });
    expect(() => whiteningOf(inUnits(unit, 1, 1, 1))).toThrow(
      /differ by a factor of about 10¹⁵ or more/,
    );
  });

  it("reports if there are not more rows than columns", () => {
    const wide = (rows: number): Table =>
      table(
        Array.from({ length: rows }, (_, i) =>
          Array.from(normal(key(i), [6], { dtype: "float64" }).data),
        ),
      );
    for (const rows of [5, 6])
      expect(() => whiteningOf(wide(rows))).toThrow(
        `t.csv: ${rows} rows are too few for 6 columns`,
      );
    expect(whiteningOf(wide(7)).logDet).toBeGreaterThan(0);
  });
});

describe.runIf(existsSync(uci))("the UCI tables", () => {
  /** Rows of the file in the protocol's columns, without the library. */
  const raw = (name: keyof typeof uciSets): number[][] => {
    const [head, ...lines] = readFileSync(join(uci, uciSets[name].file), "utf8")
      .trim()
      .split(/\r?\n/);
    const cells = (line: string): string[] => line.replaceAll('"', "").split(/[;,]/);
    const dropped = [
      "quality",
      "subject#",
      "age",
      "sex",
      "Jitter(%)",
      "Jitter:RAP",
      "Shimmer",
      "Shimmer:APQ3",
    ];
    const kept = [...cells(head).entries()]
      .filter(([, column]) => !dropped.includes(column))
      .map(([j]) => j);
    return lines.map((line) => {
      const all = cells(line);
      return kept.map((j) => Number(all[j]));
    });
  };
  const read = new Map<string, Promise<Table>>();
  /** A table of the folder, read once. */
  const tableOf = (name: keyof typeof uciSets): Promise<Table> => {
    const found = read.get(name) ?? uciTable(name, uci);
    read.set(name, found);
    return found;
  };

  // numpy.random.RandomState(2019).permutation(N) at the starts of the three sets.
  it.each([
    [
      "red-wine",
      [
        [20, 5, 1564, 657],
        [925, 536, 1003, 735],
        [835, 1402, 1253, 603],
      ],
    ],
    [
      "white-wine",
      [
        [4357, 1513, 4025, 1380],
        [2336, 1222, 3798, 3302],
        [2129, 2073, 2912, 1347],
      ],
    ],
    [
      "parkinsons",
      [
        [5396, 2695, 575, 5174],
        [625, 3302, 4778, 3055],
        [3038, 3552, 279, 4551],
      ],
    ],
  ] as const)(
    "%s: these rows are the first of training, validation and test",
    async (name, expected) => {
      const file = raw(name);
      const parts = partsOf(await tableOf(name), { ...preparationOf(name), ...bare });
      expected.forEach((indices, p) => {
        const rows = indices.flatMap((i) => file[i]);
        expect(parts[p].slice(0, rows.length)).toEqual(Float32Array.from(rows));
      });
    },
  );

  it.each([
    ["red-wine", true],
    ["white-wine", true],
    ["parkinsons", false],
  ] as const)("%s is dequantised: %s", async (name, expected) => {
    const whole = await tableOf(name);
    const plain = partsOf(whole, { ...preparationOf(name), ...bare });
    partsOf(whole, { ...preparationOf(name), whiten: false, noise: 0 }).forEach((part, p) => {
      const moved = part.filter((v, i) => v !== plain[p][i]).length / part.length;
      if (expected) expect(moved).toBeGreaterThan(0.99);
      else expect(moved).toBe(0);
    });
  });
});

describe("generated tables", () => {
  const row = (name: SyntheticName, u: readonly number[], z: readonly number[]): number[] =>
    synthetics[name].row(Float64Array.from(u), Float64Array.from(z));
  const [c, s] = [Math.cos(0.6 * Math.PI), Math.sin(0.6 * Math.PI)];

  it.each<[SyntheticName, readonly number[], readonly number[], readonly number[]]>([
    ["two-moons", [0.49, 0.6], [1, -2], [c + 0.08, s - 0.16]],
    ["two-moons", [0.51, 0.6], [1, -2], [1 - c + 0.08, 0.5 - s - 0.16]],
    ["rings", [0.16, 0.3], [2], [1.16 * c, 1.16 * s]],
    ["rings", [0.17, 0.3], [2], [2.16 * c, 2.16 * s]],
    ["rings", [0.49, 0.3], [2], [2.16 * c, 2.16 * s]],
    ["rings", [0.51, 0.3], [2], [3.16 * c, 3.16 * s]],
    ["funnel", [], [2, 1, -1, 3, 0.5, 9], [2, Math.E, -Math.E, 3 * Math.E, Math.E / 2]],
    ["mixture", [0.1], [1, 2, 3, 4, 5], [3 + 0.7, 0.9 + 1.05, 1 + 1.4, -1 + 0.9 + 1.75]],
  ])("%s puts %j and %j where its formula states", (name, u, z, expected) => {
    row(name, u, z).forEach((v, j) => {
      expect(v).toBeCloseTo(expected[j], 12);
    });
  });

  const COUNT = 50_000;
  const noise = 0.08 ** 2;
  /** E f for f of a row. */
  const distributions: readonly (readonly [
    SyntheticName,
    string,
    (row: readonly number[]) => number,
    number,
  ])[] = [
    ["two-moons", "x", ([x]) => x, 1 / 2],
    ["two-moons", "y", ([, y]) => y, 1 / 4],
    ["two-moons", "x²", ([x]) => x * x, 1 + noise],
    ["two-moons", "y²", ([, y]) => y * y, 5 / 8 - 1 / Math.PI + noise],
    ["two-moons", "xy", ([x, y]) => x * y, 1 / 4 - 1 / Math.PI],
    ["rings", "x²", ([x]) => x * x, (1 / 6 + 4 / 3 + 9 / 2 + noise) / 2],
    ["rings", "y²", ([, y]) => y * y, (1 / 6 + 4 / 3 + 9 / 2 + noise) / 2],
    ["rings", "xy", ([x, y]) => x * y, 0],
    [
      "rings",
      "(r − round r)²",
      ([x, y]) => (Math.hypot(x, y) - Math.round(Math.hypot(x, y))) ** 2,
      noise,
    ],
    ["funnel", "x²", ([x]) => x * x, 1],
    ["funnel", "y₁²e^{−x}", ([x, y]) => y * y * Math.exp(-x), 1],
    ["funnel", "y₄²e^{−x}", (r) => r[4] ** 2 * Math.exp(-r[0]), 1],
    ["funnel", "y₁y₂e^{−x}", (r) => r[1] * r[2] * Math.exp(-r[0]), 0],
    ["funnel", "x y₁²e^{−x}", ([x, y]) => x * y * y * Math.exp(-x), 0],
    // Centres at angles 2πk/5, k as likely as any: Σ cos² = Σ sin² = 5/2, and so for their
    // directions.
    ["mixture", "a²", ([a]) => a * a, 4.5 + 0.405 + 0.1225],
    ["mixture", "b²", ([, b]) => b * b, 4.5 + 0.405 + 0.1225],
    ["mixture", "c²", (r) => r[2] ** 2, 1 + 0.405 + 0.1225],
    ["mixture", "d²", (r) => r[3] ** 2, 0.5 + 0.405 + 0.1225],
  ];
  const rowsOf = (name: SyntheticName): number[][] => {
    const { values, columns } = generate(name, COUNT, key(3));
    const n = columns.length;
    return Array.from({ length: COUNT }, (_, i) => Array.from(values.subarray(i * n, (i + 1) * n)));
  };
  const tables = new Map(
    (Object.keys(synthetics) as SyntheticName[]).map((name) => [name, rowsOf(name)]),
  );

  it.each(distributions)("%s has the mean of %s of its formula", (name, _, f, expected) => {
    expect(misses((tables.get(name) as number[][]).map(f), expected)).toBeLessThan(4);
  });
});
