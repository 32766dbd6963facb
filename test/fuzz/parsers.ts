/** Every parser of the repository, with almost valid inputs. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { modelOf, parseModel, serializeModel } from "diffeo/categorical";
import {
  angle,
  ball,
  between,
  category,
  correlation,
  covariance,
  domainOf,
  integer,
  ordered,
  positive,
  product,
  real,
  simplex,
  sphere,
} from "diffeo/domain";
import { requireDescription } from "diffeo/job";
import { type ChainState, parseChains, serializeChains } from "diffeo/mcmc";
import { dkefInit, networkOf, unetInit } from "diffeo/model";
import { fromOnnx, readOnnxFile } from "diffeo/outside";
import { key, normal } from "diffeo/random";
import { flatten, parseSafetensors, serializeSafetensors } from "diffeo/train";
import {
  boardAt,
  chessSpec,
  formatFen,
  parseCondition,
  parseFen,
  playouts,
  type StudyRecord,
  UNKNOWN,
} from "diffeo-chess";
import {
  decodeDataset,
  type Format,
  parseRecord,
  readPositions,
  writeDataset,
} from "diffeo-chess/node";
import { parseAddress } from "diffeo-queue";
import {
  inferColumns,
  jsonLines,
  literalOf,
  namedDomains,
  parseCells,
  parseTableModel,
  rowsIn,
  serializeTableModel,
} from "diffeo-tables";
import { parseDensity, parseRecords, parseTable, serializeDensity } from "diffeo-tables/density";
import { parquetBytes } from "diffeo-tables/node";
import fc from "fast-check";
import { dataArrays } from "../../packages/diffeo/src/mcmc/data.ts";
import { openParquetReader } from "../../packages/tables/src/node/parquet-reader.ts";
import { parseJsonCells, tableOf } from "../../packages/tables/src/table/json.ts";
import { record } from "../../packages/tables/test/records.ts";
import { bytes, texts, values } from "./mutate.ts";

interface Parser<T = never> {
  readonly input: fc.Arbitrary<T>;
  /** Reads the input, or raises a DiffeoError. */
  readonly parse: (input: T) => unknown;
}

const parser = <T>(input: fc.Arbitrary<T>, parse: (input: T) => unknown): Parser =>
  ({ input, parse }) as unknown as Parser;

const boards = playouts(20, key("fuzz"));
const fens = Array.from({ length: 4 }, (_, i) => `${formatFen(boardAt(boards, i))} w - - 0 1`);
const odds = [
  "\n",
  "\r",
  "\r\n",
  "\0",
  "\ufeff",
  "\u2028",
  "é",
  " ",
  ",",
  ";",
  '"',
  "-1",
  "1e999",
  "NaN",
  "__proto__",
];
const fenTokens = [
  ...odds,
  "/",
  "8",
  "9",
  "k",
  "K",
  "?",
  " w ",
  " b KQkq",
  " e3 ",
  'bm Nf3; id "x";',
  "1/1",
];

/** Rows of a list in some format, read as from standard input. */
const listed = (
  format: Format | undefined,
  good: readonly string[],
  tokens: readonly string[],
): Parser =>
  parser(fc.tuple(texts(good, tokens), fc.boolean()), ([text, skipBad]) =>
    readPositions("-", {
      format,
      skipBad,
      stdin: Readable.from([Buffer.from(text)]),
    }),
  );

const game = `[Event "a"]\n[Result "1-0"]\n\n1. e4 {good} e5 2. Nf3 (2. f4 exf4) Nc6 3. Bb5 $1 a6; end\n4. O-O 1-0\n\n`;
const pgnTokens = [
  ...odds,
  "{",
  "}",
  "(",
  ")",
  "[",
  "]",
  "1.",
  "e4",
  "O-O-O",
  "%",
  "1-0",
  '[FEN "8/8/8/8/8/8/8/8 w"]',
];

/** The bytes of a data set: only files are written. */
async function packed(): Promise<Uint8Array> {
  const folder = mkdtempSync(join(tmpdir(), "diffeo-fuzz-"));
  await writeDataset(join(folder, "a.bin"), boards);
  const found = readFileSync(join(folder, "a.bin"));
  rmSync(folder, { recursive: true });
  return found;
}

/** Files in the styles of several exporters, and one that points to another. */
const onnxFiles = (): Uint8Array[] =>
  ["torch-style", "constant-nodes", "local-function", "branch", "no-shapes", "other-file"].map(
    (name) =>
      readFileSync(
        new URL(`../../packages/diffeo/test/outside/files/${name}.onnx`, import.meta.url),
      ),
  );

const joined = (parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));

/** A file in the safetensors layout with any header before the numbers. */
function withHeader(header: unknown, numbers: Uint8Array): Uint8Array {
  const json = Buffer.from(JSON.stringify(header) ?? "");
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  return joined([length, json, numbers]);
}

/**
 * Changed bytes of a safetensors file, and changed parts of its header and of the spec in its
 * metadata. The file has no checksum, which would refuse every change before anything else is read.
 */
function tensorFiles(whole: Uint8Array): fc.Arbitrary<Uint8Array> {
  const length = Number(new DataView(whole.buffer, whole.byteOffset).getBigUint64(0, true));
  const header = JSON.parse(Buffer.from(whole.subarray(8, 8 + length)).toString());
  delete header.__metadata__?.checksum;
  const numbers = whole.subarray(8 + length);
  const file = withHeader(header, numbers);
  const changed = values([header]).map((other) => withHeader(other, numbers));
  const { spec } = header.__metadata__ ?? {};
  if (spec === undefined) return fc.oneof(bytes([file]), changed);
  const respecified = values([JSON.parse(spec)]).map((other) =>
    withHeader(
      { ...header, __metadata__: { ...header.__metadata__, spec: JSON.stringify(other) } },
      numbers,
    ),
  );
  return fc.oneof(bytes([file]), changed, respecified);
}

function chessModel(): Uint8Array {
  const sizes = { channels: 12, width: 8, multipliers: [1], blocks: 1, groups: 4, outputs: 13 };
  const network = { kind: "unet", ...sizes, position: [8, 8] } as const;
  const spec = { network, parameterisation: "posterior", encoding: chessSpec(boards) } as const;
  const weights = new Float32Array(flatten(unetInit(key(0), network)).length).fill(0.1);
  return joined(serializeModel(modelOf(spec, weights)));
}

function densityModel(): Uint8Array {
  const parameters = dkefInit(key(1), normal(key(2), [6, 2]), { width: 5, logScales: [0, 0.5] });
  const fitted = {
    step: 7,
    parameters,
    theta: flatten(parameters),
    alpha: new Float64Array(6).fill(0.1),
  };
  const whitening = { mean: [0, 0], matrix: [1, 0, 0, 1], logDet: 0 };
  return joined(
    serializeDensity({ loss: "gssm", seed: 3, columns: ["a", "b"], whitening, logZ: 1 }, fitted),
  );
}

const studyRecord: StudyRecord = {
  ...{ method: "eulerMaruyama", w: 1, steps: 1000, count: 400, seed: 7, model: "0123456789ab" },
  ...{
    pieces: { mean: 20, sd: 2 },
    oneKingEach: 0.75,
    pawnsInside: 1,
    feasibleMaterial: 0.875,
    legal: 0.5,
  },
  ...{ exits: 0, clamps: 0, device: "cpu", seconds: 1 },
};

/** A chain of two coordinates after its first draw. */
function chainState(): ChainState {
  const [one, two] = [Float64Array.of(0.5), Float64Array.of(-0, Number.NaN)];
  const draws = {
    value: one,
    energy: one,
    acceptance: one,
    depth: Uint8Array.of(3),
    leaves: Uint32Array.of(7),
  };
  return {
    ...{
      ...draws,
      x: two,
      diverged: Uint8Array.of(0),
      size: 0.1,
      inverseMass: two,
      divergedInWarmup: 1,
    },
    ...{
      undefinedCount: 0,
      undefinedAt: null,
      restart: { done: 2, from: 1, logDensity: -8, logDensityThere: -2 },
      compared: true,
      region: { total: -1, diverged: 1, points: { count: 1, mean: two, squares: two } },
      done: 3,
      at: { x: two, slope: two, value: -1 },
      looks: false,
    },
    average: { centre: 1, count: 2, error: 0, logSize: -0, logMean: Number.NEGATIVE_INFINITY },
    covariance: { count: 2, mean: two, squares: two },
  };
}

const job = {
  ...{
    kind: "chess/boards",
    version: 1,
    release: "0.1.0",
    device: "cpu",
    parameters: { seed: 7, w: [1, 0.9] },
  },
  inputs: { model: "0123456789abcdef".repeat(4) },
};

/** Specs of one domain of every kind, and of all of them together. */
const every = {
  ...{
    a: real(),
    b: positive({ below: 3 }),
    c: between(0, 1),
    d: integer({ least: 0 }),
    e: simplex(["p", "q"]),
  },
  ...{
    f: category(["x", 2]),
    g: ordered(2, { above: 0, below: 1 }),
    h: angle({ period: 24 }),
    i: ball(2),
  },
  ...{ j: sphere(3, { centre: [1, 0, 0] }), k: correlation(3), l: covariance(2) },
};
const domains = [...Object.values(every), product(every)].map(({ spec }) => spec);

/** A model of a table of two columns. */
function tableModel(): Uint8Array {
  const network = { kind: "residual", channels: 2, width: 3, blocks: 1 } as const;
  return joined(
    serializeTableModel({
      domain: product({ a: positive(), b: between(0, 1) }),
      standard: { mean: [0, 1], matrix: [1, 0, 0.5, 1] },
      network,
      parameters: networkOf(network).init(key("table")),
      training: { seed: 0, rows: 20, step: 5, validation: 0.5 },
    }),
  );
}

/** Rows are read, written as JSON lines and read again as the same. */
function jsonRows(text: string): unknown {
  const table = parseJsonCells(text, "f");
  const { columns, rows, literals } = table;
  const written = rows.map((row) => row.map((cell, j) => (literals?.[j] ? literalOf(cell) : cell)));
  const again = parseJsonCells(jsonLines(columns, written), "f");
  for (const [i, row] of rows.entries())
    for (const [j, cell] of row.entries())
      if (again.rows[i][j] !== cell) throw new Error(`${cell} became ${again.rows[i][j]}`);
  return rowsIn(table, product(namedDomains(inferColumns(table))));
}

/** Parquet files of all types of column, and one of a single column. */
async function parquetFiles(): Promise<Uint8Array[]> {
  const rows = Array.from({ length: 20 }, (_, i) => [
    ...[7 * i, i % 3 ? i / 7 : "", "abc"[i % 3]],
    { text: i % 2 ? "true" : "false" },
  ]);
  return [
    await parquetBytes(["a", "b", "c", "d"], rows),
    await parquetBytes(
      ["a"],
      rows.map(([a]) => [a]),
    ),
  ];
}

/** A limit much lower than the default, since one damaged file in some hundred reaches it. */
const FUZZ_LIMITS = { seconds: 0.5, bytes: 2 ** 29 };

/** JSON files: changed values, and changed letters. */
const jsonFile = (good: unknown, parse: (text: string) => unknown): Parser =>
  parser(
    fc.oneof(
      values([good]).map((value) => JSON.stringify(value) ?? ""),
      texts([JSON.stringify(good)], [...odds, "{", "}", "[", "]", ":", "null", "1e400"]),
    ),
    parse,
  );

const array = (data: number[]) => ({
  shape: [data.length],
  dtype: "float32" as const,
  data: Float32Array.from(data),
});

export async function parsers(): Promise<Readonly<Record<string, Parser>>> {
  const parquetReader = openParquetReader();
  const plain = { arrays: { a: array([1, 2]), b: array([3]) }, metadata: { note: "ψ" } };
  return {
    fen: parser(
      fc.tuple(texts(fens, fenTokens), fc.boolean(), fc.boolean()),
      ([text, unknown, operations]) => {
        const board = parseFen(text, { unknown, operations });
        // A placement without unknown squares is the same when written and read.
        if (!board.includes(UNKNOWN)) parseFen(formatFen(board));
        return board;
      },
    ),
    condition: parser(
      texts(
        ["pieces<=20", "Q", "q=1", "balance>0", "legal"],
        [...odds, "<", ">=", "!=", "k", "toString"],
      ),
      parseCondition,
    ),
    csv: listed("csv", [`FEN,Evaluation\n${fens.join(",0\n")},0\n`], [...fenTokens, "FEN"]),
    epd: listed("fen", [`${fens.join("\n")}\n`], fenTokens),
    pgn: listed("pgn", [game, game + game], pgnTokens),
    positions: listed(
      undefined,
      [game, `FEN\n${fens.join("\n")}`, fens.join("\r\n")],
      [...pgnTokens, ...fenTokens],
    ),
    onnx: parser(bytes(onnxFiles()), async (file) => {
      const { inputs } = readOnnxFile(file);
      // A runtime must survive the files that the reader accepts. One in ten is tried, since a
      // session takes milliseconds.
      if (inputs.length > 0 && file.reduce((a, b) => a + b, 0) % 10 === 0)
        await fromOnnx(file, { predicts: "score", shape: [2], time: (t) => t });
    }),
    packed: parser(bytes([new Uint8Array(await packed())]), (file) => decodeDataset(file, "f")),
    safetensors: parser(tensorFiles(joined(serializeSafetensors(plain))), (file) => {
      const read = parseSafetensors(file, "f");
      return parseSafetensors(joined(serializeSafetensors(read)), "f");
    }),
    model: parser(tensorFiles(chessModel()), (file) => parseModel(file, "f")),
    density: parser(tensorFiles(densityModel()), (file) => parseDensity(file, "f")),
    tableModel: parser(tensorFiles(tableModel()), (file) => parseTableModel(file, "f")),
    cells: parser(
      texts(
        ["a,b,c\n1,2,x\n3,4,y\n", "a;b\n.2;.8\n.4;.6\n"],
        [...odds, "\t", '"a', "0x10", "1e5", "inf", "0"],
      ),
      (text) => {
        const table = parseCells(text, "f");
        return rowsIn(table, product(namedDomains(inferColumns(table))));
      },
    ),
    jsonLines: parser(
      fc.oneof(
        texts(
          ['{"a":1,"b":"x"}\n{"a":1.50,"b":null}\n', '[{"a":12345678901234567890},{"b":true}]'],
          [...odds, "{", "}", "[", "]", ":", "null", "-0", '\\"', "1E5", '"a"'],
        ),
        values([
          [
            { a: 1, b: "x" },
            { a: -2.5, c: false },
          ],
        ]).map((value) => JSON.stringify(value) ?? ""),
      ),
      jsonRows,
    ),
    parquet: parser(bytes(await parquetFiles()), async (file) => {
      const { columns, rows } = await parquetReader.read(file, "f", FUZZ_LIMITS);
      return tableOf("f", columns, rows);
    }),
    columnRule: parser(
      texts(
        ["a=between:0:120", "a<b", "a+b=100", "b=integer:1:6", "a=angle:360"],
        [...odds, "<", "=", "+", ":", "a", "c"],
      ),
      (rule) => inferColumns(parseCells("a,b\n1,2\n3,4\n", "f"), [rule]),
    ),
    record: jsonFile(studyRecord, (text) => parseRecord(text, "f")),
    densityRecord: jsonFile([record({ loss: "gssm" }, { scoreMatching: -3 })], (text) =>
      parseRecords(text, "f"),
    ),
    domain: parser(values(domains), (spec) => domainOf(spec)),
    chains: jsonFile(
      { ...JSON.parse(serializeChains([chainState()])), checksum: undefined },
      (text) => parseChains(text, "f"),
    ),
    data: parser(
      values([
        {
          y: [
            [1, 2],
            [3, 4],
          ],
          n: 2,
        },
      ]),
      (data) => dataArrays(Object(data), { y: [null, 2], n: [] }),
    ),
    job: parser(values([job]), requireDescription),
    address: parser(
      texts(
        ["redis://host:6379/1", "rediss://me:p%40ss@host", "unix:///run/redis.sock"],
        [...odds, "%", "@", "/", ":", "#"],
      ),
      (text) => parseAddress(text, "secret"),
    ),
    table: parser(
      texts(
        ["a,b\n1,2\n3,4\n", "1;2\n3;4\n", '"x ""y""",z\n1,2\n'],
        [...odds, "\t", "|", '"a', "0x10", "1e5", "inf"],
      ),
      (text) => parseTable(text, "f"),
    ),
  };
}
