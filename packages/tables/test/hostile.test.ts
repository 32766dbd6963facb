/**
 * Files that others wrote: an error names what is wrong in a line, soon, and nothing is made that
 * they do not hold.
 */
import { DiffeoError, type NdArray } from "diffeo/graph";
import { dkefInit } from "diffeo/model";
import { key, normal } from "diffeo/random";
import { flatten, serializeSafetensors } from "diffeo/train";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Fitted } from "../src/dkef/fitted.ts";
import { parseDensity, serializeDensity } from "../src/dkef/model-bytes.ts";
import { parseRecords } from "../src/study/record.ts";
import { parseTable } from "../src/table/table.ts";
import { record } from "./records.ts";

const bytesOf = (parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));

/** Errors say what to do, in few words. */
function expectSaid(f: () => unknown, message: RegExp): void {
  let said: unknown;
  try {
    f();
  } catch (error) {
    said = error;
  }
  expect(said).toBeInstanceOf(DiffeoError);
  expect((said as Error).message).toMatch(message);
  expect((said as Error).message.length).toBeLessThan(1000);
}

const parameters = dkefInit(key("hostile"), normal(key("z"), [5, 2]), { width: 4 });
const fitted: Fitted = {
  step: 3,
  parameters,
  theta: flatten(parameters),
  alpha: Float64Array.of(1, 2, 3, 4, 5),
};
const spec = {
  loss: "ssm",
  seed: 1,
  columns: ["a", "b"],
  whitening: { mean: [0, 0], matrix: [1, 0, 0, 1], logDet: 0 },
  logZ: 0.5,
};
const whole = bytesOf(serializeDensity(spec, fitted));

describe("a density's file", () => {
  const arrays = {
    inducing: parameters.inducing,
    ...parameters.features,
    mixture: parameters.mixture,
    logLambda: parameters.logLambda,
    alpha: { shape: [5], dtype: "float32", data: Float32Array.from(fitted.alpha) } as NdArray,
  };
  const empty = (...shape: number[]): NdArray => ({
    shape,
    dtype: "float32",
    data: new Float32Array(0),
  });
  const made = (changed: Readonly<Record<string, NdArray>>, said: object = spec): Uint8Array =>
    bytesOf(
      serializeSafetensors({
        arrays: { ...arrays, ...changed },
        metadata: { format: "diffeo-dkef-1", step: "3", spec: JSON.stringify(said) },
      }),
    );

  it("is read back exactly", () => {
    expect(parseDensity(whole)).toEqual({ spec, fitted });
  });

  it.each<[string, Uint8Array, RegExp]>([
    [
      "a first layer of [0, 0, 3e7]",
      made({ w1: empty(0, 0, 3e7) }),
      /w1 has shape \[0, 0, 30000000\], but the rest of the file needs/,
    ],
    ["no kernels", made({ logScales: empty(0) }), /it has no points, kernels or features/],
    ["no inducing points", made({ inducing: empty(0, 2) }), /it has no points/],
    ["a width of nothing", made({ w1: empty(3, 2, 0) }), /it has no points, kernels or features/],
    [
      "kernels without end",
      made({ logScales: empty(1e9, 0) }),
      /has shape .*, but the rest of the file needs/,
    ],
    [
      "three columns",
      made({}, { ...spec, columns: ["a", "b", "c"] }),
      /the settings of the model are missing or incomplete/,
    ],
    ["columns that are numbers", made({}, { ...spec, columns: [1, 2] }), /settings of the model/],
    [
      "a mean of null",
      made({}, { ...spec, whitening: { ...spec.whitening, mean: [0, null] } }),
      /settings of the model/,
    ],
    ["a negative seed", made({}, { ...spec, seed: -1 }), /settings of the model/],
  ])("is refused with %s, at once", (_, bytes, message) => {
    const before = process.memoryUsage().rss;
    const began = performance.now();
    expect(() => parseDensity(bytes, "m.safetensors")).toThrow(message);
    expect(performance.now() - began).toBeLessThan(1000);
    expect(process.memoryUsage().rss - before).toBeLessThan(1e8);
  });
});

describe("a record", () => {
  const own = record({ loss: "ssm" }, { scoreMatching: -3 });
  it.each<[string, unknown, RegExp]>([
    [
      "a dataset of ../../evil",
      { ...own, dataset: "../../evil" },
      /"dataset" is not a dataset of a study: "..\/..\/evil"/,
    ],
    ["a dataset of toString", { ...own, dataset: "toString" }, /"dataset" is not a dataset/],
    ["a loss of its own", { ...own, loss: "mine" }, /"loss" is not a loss of a study/],
    ["no curve", { ...own, curve: undefined }, /"curve" is missing/],
    ["a curve of text", { ...own, curve: "long" }, /"curve" is not an object/],
    [
      "no effective samples",
      { ...own, chosen: { ...own.chosen, annealed: { logZ: 1 } } },
      /"chosen.annealed.effectiveSamples" is missing/,
    ],
    ["a seed of 0.5", { ...own, seed: 0.5 }, /"seed" is not an integer: "0.5"/],
    [
      "points of −1",
      { ...own, points: { ...own.points, train: -1 } },
      /"points.train" is negative/,
    ],
    ["something more", { ...own, more: 1 }, /"more" is not a field of a record/],
    ["a number instead", 5, /it is not an object/],
    ["a list in a list", [[own]], /record 1, is not a record of a run/],
  ])("is refused with %s", (_, value, message) => {
    expect(() => parseRecords(JSON.stringify(value), "r.json")).toThrow(message);
  });

  it("is read as a single record and in a list", () => {
    expect(parseRecords(JSON.stringify(own), "r.json")).toEqual([own]);
    expect(parseRecords(JSON.stringify([own, own]), "r.json")).toEqual([own, own]);
  });
});

describe("a table", () => {
  const LONG = 2e6;
  it.each<[string, string, RegExp]>([
    ["digits without end", "1".repeat(LONG), /header but no rows/],
    ["digits, then none", `${"1".repeat(LONG)}x`, /header but no rows/],
    [
      "a cell without end",
      `a,b\n${"1".repeat(LONG)},2`,
      /"1{60}…" \(2,000,000 characters\) is not a number/,
    ],
    ["a name without end", `${"a".repeat(LONG)},b\n1,2\n3,x`, /line 3, column 2/],
    ["cells without end", ",".repeat(LONG), /more than 100,000 cells/],
    ["a quote without end", `"${"x".repeat(LONG)}`, /the quote that opens in line 1 is not closed/],
    ["quotes without end", '""'.repeat(LONG / 2), /header but no rows/],
    [
      "names without end",
      Array.from({ length: 100_001 }, (_, i) => `n${i}`).join(),
      /more than 100,000 cells/,
    ],
    [
      "the same name at both ends",
      [...Array.from({ length: 50_000 }, (_, i) => `n${i}`), "n0"].join(),
      /named "n0"/,
    ],
  ])("of %s is refused in linear time", (_, text, message) => {
    const began = performance.now();
    expectSaid(() => parseTable(text, "t.csv"), message);
    // 2 MB: quadratic time would be hours.
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  it("takes time and memory in proportion to its rows", () => {
    const lines = (count: number): string =>
      `a,b,c\n${Array.from({ length: count }, (_, i) => `${i},${i / 8},-${i}e-3`).join("\n")}\n`;
    const text = lines(100_000);
    const began = performance.now();
    const { rows, values } = parseTable(text, "t.csv");
    expect(performance.now() - began).toBeLessThan(20_000);
    expect(rows).toBe(100_000);
    expect(values).toEqual(
      Float64Array.from({ length: 300_000 }, (_, at) => {
        const i = Math.floor(at / 3);
        return [i, i / 8, Number(`-${i}e-3`)][at % 3];
      }),
    );
  });

  it("is read back as written, with names of any characters", () => {
    const name = fc
      .string({ minLength: 1, unit: "grapheme" })
      .filter((text) => text.trim() === text);
    const columns = fc.uniqueArray(name, { minLength: 2, maxLength: 6 });
    const number = fc.double({ noNaN: true, noDefaultInfinity: true });
    const tables = columns.chain((names) =>
      fc.tuple(
        fc.constant(names),
        fc.array(fc.array(number, { minLength: names.length, maxLength: names.length }), {
          minLength: 1,
        }),
      ),
    );
    const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
    fc.assert(
      fc.property(
        tables,
        fc.constantFrom(",", ";", "\t"),
        fc.constantFrom("\n", "\r\n", "\r"),
        ([names, rows], d, end) => {
          const text = [names.map(quoted), ...rows].map((cells) => cells.join(d)).join(end);
          const found = parseTable(text, "t.csv", undefined, true);
          expect(found.columns).toEqual(names);
          expect(Array.from(found.values, (v) => v + 0)).toEqual(rows.flat().map((v) => v + 0));
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe("cells", () => {
  it.each<[string, string[], number[]]>([
    ["  1   2 3\n4 5 6  \n", ["column 1", "column 2", "column 3"], [1, 2, 3, 4, 5, 6]],
    ['"a b" c\n1 2\n', ["a b", "c"], [1, 2]],
    ['a , "b\nc" , "d""e"\r\n\r\n 1,2 ,+3\r\n', ["a", "b\nc", 'd"e'], [1, 2, 3]],
    ["a\rb\r", [], []],
    [";1\n2;3", [], []],
  ])("of %j", (text, columns, values) => {
    if (columns.length === 0) return expect(() => parseTable(text, "t")).toThrow(DiffeoError);
    const found = parseTable(text, "t");
    expect([found.columns, [...found.values]]).toEqual([columns, values]);
  });

  it.each([
    ['a,b\n1,"2\n3,4', /the quote that opens in line 2 is not closed/],
    ['a,b\n1,"2"3\n', /t, line 2, column 2: text after a closing quote/],
    ['a,b\n1,2"3\n', /t, line 2, column 2: a quote follows "2"/],
    ['a,"b\n\nc"\n1,x\n', /t, line 4, column 2/],
  ])("of %j give errors with their place", (text, message) => {
    expect(() => parseTable(text, "t")).toThrow(message);
  });
});
