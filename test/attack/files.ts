/**
 * Files: tables as CSV, JSON lines and Parquet, gzip, ONNX, safetensors, chains and run folders.
 */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { parquetBytes } from "diffeo-tables/node";
import { at, attack, diffeo, type How, patience } from "./attack.ts";

const rows = (n: number): string[] =>
  Array.from({ length: n }, (_, i) => `${i % 7},${(i * 37) % 101},${"pqr"[i % 3]}`);
const plain = `a,b,c\n${rows(40).join("\n")}\n`;
const quick = ["--steps", "1", "--no-evaluate", "--no-given", "--force", "--threads", "1"];

/** A model to give hostile tables to, and draws of one. */
export async function makeModel(): Promise<void> {
  writeFileSync(at("good.csv"), plain);
  const { code, stderr } = await diffeo([
    ...["table", "fit", "good.csv", "--out", "good.model", "--steps", "20", "--threads", "1"],
    "--no-evaluate",
  ]);
  if (code !== 0) throw new Error(stderr);
}

const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, "utf16le");
const deep = (n: number): string => `${"[".repeat(n)}${"]".repeat(n)}`;

/** Texts that are not tables, or hard to read. */
const texts: Readonly<Record<string, string | Uint8Array>> = {
  "utf16.csv": utf16(plain),
  "utf16be.csv": utf16(plain).swap16(),
  "latin1.csv": Buffer.from(plain.replaceAll("p", "é"), "latin1"),
  "overlong.csv": Buffer.concat([Buffer.from(plain), Buffer.from([0xc0, 0x80, 0x2c, 0x31, 0x0a])]),
  "surrogate.csv": Buffer.concat([Buffer.from("a,b\n1,"), Buffer.from([0xed, 0xa0, 0x80, 0x0a])]),
  "header-only.csv": "a,b,c\n",
  "newlines.csv": "\n".repeat(100_000),
  "commas.csv": ",".repeat(200_000),
  "quotes.csv": '"'.repeat(100_001),
  "open-quote.csv": `a,b\n"1,2\n${"3,4\n".repeat(5000)}`,
  "one-cell.csv": "x".repeat(3_000_000),
  "long-name.csv": `${"n".repeat(1_000_000)},b\n1,2\n3,4\n`,
  "columns.csv": `${Array.from({ length: 20_000 }, (_, i) => `c${i}`).join(",")}\n1\n2\n`,
  "ragged.csv": `a,b,c\n1\n1,2,3,4,5\n${plain}`,
  "same-names.csv": `a,a,a\n${rows(30).join("\n")}\n`,
  "proto.csv": `__proto__,constructor,toString\n${rows(30).join("\n")}\n`,
  "exponents.csv": `a,b\n${Array.from({ length: 30 }, (_, i) => `1e${10 * i},-1e-${10 * i}`).join("\n")}\n`,
  "hex.csv": `a,b\n${Array.from({ length: 30 }, (_, i) => `0x${i},0b${i % 2}`).join("\n")}\n`,
  "infinite.csv": `a,b\n${Array.from({ length: 30 }, (_, i) => `${i % 2 ? "Infinity" : "-inf"},${i}`).join("\n")}\n`,
  "dates.csv": `d\n${Array.from({ length: 30 }, (_, i) => `${275760 + i}-13-${i}`).join("\n")}\n`,
  "old-dates.csv": `d\n${Array.from({ length: 30 }, (_, i) => `0000-02-${String(i).padStart(2, "0")}`).join("\n")}\n`,
  "nuls.csv": plain.replaceAll(",", ",\0"),
  "bell.csv": plain.replaceAll("p", "\u0007\u001b]0;owned\u0007"),
  "cr.csv": plain.replaceAll("\n", "\r"),
  "mixed-ends.csv": plain.replace(/\n/g, (_, i) => ["\n", "\r\n", "\r"][i % 3]),
  "bom-inside.csv": plain.replaceAll("\n", "\n\ufeff"),
  "separators.csv": "a;b,c\td|e\n1;2,3\t4|5\n6;7,8\t9|0\n",
  "rtl.csv": plain.replaceAll("q", "\u202eq\u2066"),
  "zalgo.csv": plain.replaceAll("r", `r${"\u0301".repeat(5000)}`),
  "slow-number.csv": `a,b\n${`${"9".repeat(50_000)}.${"9".repeat(50_000)}x,1\n`.repeat(10)}`,
  "slow-date.csv": `a\n${`2020-01-01T00:00:00.${"0".repeat(50_000)}Z!\n`.repeat(10)}`,
  "spaces.csv": `a,b\n${`${" ".repeat(50_000)}1${" ".repeat(50_000)},2\n`.repeat(10)}`,
  "labels.csv": `a\n${Array.from({ length: 12_000 }, (_, i) => `v${i}`).join("\n")}\n`,
  "deep.jsonl": `{"a":${deep(50_000)}}\n`,
  "deep-list.json": `[{"a":1}, ${deep(100_000)}]`,
  "open.jsonl": '{"a":1}\n{"a":',
  "twice.jsonl": '{"a":1,"a":2}\n'.repeat(20),
  "lone.jsonl": '{"a":"\\ud800","b":1}\n{"a":"\\udfff","b":2}\n'.repeat(10),
  "proto.jsonl": '{"__proto__":{"x":1},"a":1}\n{"__proto__":2,"a":3}\n'.repeat(10),
  "huge-string.jsonl": `{"a":"${"x".repeat(20_000_000)}"}\n`,
  "backslashes.jsonl": `{"a":"${"\\\\".repeat(5_000_000)}"}\n`,
  "huge-number.jsonl": `{"a":${"1".repeat(1_000_000)}}\n{"a":2}\n`,
  "fields.jsonl": `{${Array.from({ length: 30_000 }, (_, i) => `"f${i}":${i}`).join(",")}}\n`,
  "other-fields.jsonl": Array.from({ length: 4000 }, (_, i) => `{"f${i}":${i}}`).join("\n"),
  "minus.jsonl": '{"a":-}\n{"a":1}\n',
  "comments.jsonl": '{"a":1} // one\n{"a":2}\n',
  "spaces.jsonl": `${" ".repeat(1_000_000)}{"a":1}\n`,
  "bom.jsonl": `\ufeff${'{"a":1,"b":2}\n{"a":2,"b":5}\n'.repeat(10)}`,
  "null.jsonl": "null\n",
  "empty-objects.jsonl": "{}\n".repeat(100),
  "empty-name.jsonl": '{"":1,"b":3}\n{"":2,"b":4}\n'.repeat(10),
  "magic.parquet": "PAR1PAR1",
  "longer-footer.parquet": Buffer.concat([
    Buffer.from("PAR1"),
    Buffer.from([0xff, 0xff, 0xff, 0x7f]),
    Buffer.from("PAR1"),
  ]),
};

/** gzip of a good table, damaged. */
function zipped(): Record<string, Uint8Array> {
  const good = gzipSync(plain);
  const other = (change: (bytes: Buffer) => Buffer): Buffer => change(Buffer.from(good));
  const set = (i: number, value: number) => (bytes: Buffer) =>
    bytes.fill(value, bytes.length + i, bytes.length + i + 1);
  return {
    "two.csv.gz": Buffer.concat([good, gzipSync("1,2,p\n")]),
    "trailing.csv.gz": Buffer.concat([good, Buffer.from("rubbish")]),
    "zeros.csv.gz": Buffer.concat([good, Buffer.alloc(512)]),
    "cut.csv.gz": good.subarray(0, -9),
    "crc.csv.gz": other(set(-8, 1)),
    "size.csv.gz": other(set(-1, 255)),
    "twice.csv.gz": gzipSync(good),
    "bomb.csv.gz": gzipSync(Buffer.alloc(300_000_000, "1,2,p\n")),
    "json.gz": gzipSync('{"a":1}\n'.repeat(30)),
  };
}

/** Parquet files with changed footers, more pages of hostile varints, and columns of odd types. */
async function parquets(): Promise<Record<string, Uint8Array>> {
  const good = await parquetBytes(
    ["a", "b"],
    Array.from({ length: 30 }, (_, i) => [i, "xy"[i % 2]]),
  );
  const out: Record<string, Uint8Array> = { "good.parquet": good };
  // Runs of 0xff are endless varints; runs of 0x80 are varints of 2³¹ and more.
  for (const [value, step] of [
    [0xff, 11],
    [0x80, 13],
    [0x19, 17],
    [0x0c, 19],
  ])
    for (let from = 4; from < good.length - 12; from += step) {
      const bytes = Uint8Array.from(good);
      bytes.fill(value, from, from + 3);
      out[`${value}-${from}.parquet`] = bytes;
    }
  return out;
}

/** 50 million rows are completed in batches, which takes minutes: Ctrl-C must end it. */
const interrupted: How = {
  meanwhile: (child) => void setTimeout(() => child.kill("SIGINT"), 15_000 * patience),
};

/** Hostile tables in `table fit` and `table complete`. */
export async function tables(): Promise<void> {
  const area = "tables";
  const all: Record<string, string | Uint8Array> = { ...texts, ...zipped() };
  for (const [name, text] of Object.entries(all)) {
    writeFileSync(at(name), text);
    await attack(area, `fit ${name}`, ["table", "fit", name, "--out", "o.model", ...quick]);
    await attack(
      area,
      `complete ${name}`,
      [
        ...["table", "complete", name, "--model", "good.model", "--out", "o.csv", "--force"],
        ...["--evaluations", "2"],
      ],
      name === "bomb.csv.gz" ? interrupted : {},
    );
  }
  for (const [name, bytes] of Object.entries(await parquets())) {
    writeFileSync(at(name), bytes);
    await attack("Parquet", name, [
      "table",
      "complete",
      name,
      "--model",
      "good.model",
      "--evaluations",
      "2",
    ]);
  }
  const odd: Record<string, string[]> = {
    folder: ["table", "fit", ".", "--out", "o.model"],
    "/dev/null": ["table", "fit", "/dev/null", "--out", "o.model"],
    "/proc/self/mem": ["table", "fit", "/proc/self/mem", "--out", "o.model"],
    "/dev/full": ["table", "sample", "--model", "good.model", "--out", "/dev/full", "--force"],
    "out is a folder": ["table", "sample", "--model", "good.model", "--out", "/tmp"],
    "no such folder": ["table", "sample", "--model", "good.model", "--out", "/nowhere/x.csv"],
    "model is a CSV": ["table", "sample", "--model", "good.csv"],
    "model is /dev/zero": ["table", "sample", "--model", "/dev/zero"],
    "data is a model": ["table", "fit", "good.model", "--out", "o.model"],
    "empty name": ["table", "fit", "", "--out", "o.model"],
    "NUL in a name": ["table", "fit", "a%00b", "--out", "o.model"],
  };
  for (const [name, words] of Object.entries(odd)) await attack(area, name, words, { seconds: 90 });
}

/** A protobuf field. */
const varint = (n: number): number[] => (n < 128 ? [n] : [(n & 127) | 128, ...varint(n >>> 7)]);
const field = (tag: number, body: Uint8Array | number[]): Buffer =>
  Buffer.from([...varint((tag << 3) | 2), ...varint(body.length), ...body]);

/**
 * ONNX files that nest, repeat or have wrong sizes; models, chains and folders with wrong contents.
 */
export async function models(): Promise<void> {
  const area = "ONNX";
  let nested: Buffer = field(1, Buffer.from("x"));
  for (let i = 0; i < 2000; i++) nested = field(5, field(6, nested));
  const onnx: Record<string, Uint8Array> = {
    "nested.onnx": field(7, nested),
    "empty.onnx": new Uint8Array(),
    "length.onnx": Buffer.from([0x3a, 0xff, 0xff, 0xff, 0xff, 0x0f]),
    "varint.onnx": Buffer.alloc(64, 0xff),
    "groups.onnx": Buffer.alloc(5000, 0x0b),
    "graphs.onnx": Buffer.concat(Array.from({ length: 50_000 }, () => field(7, [1]))),
    "text.onnx": Buffer.from("not a model"),
    "zeros.onnx": Buffer.alloc(1_000_000),
  };
  const torch = readFileSync(new URL("../../examples/torch-score.onnx", import.meta.url));
  for (let i = 0; i < 60; i++) {
    const bytes = Buffer.from(torch);
    const from = Math.floor((i * bytes.length) / 60);
    bytes.fill([0, 255, 127][i % 3], from, from + 4);
    onnx[`${i}.onnx`] = bytes;
  }
  for (const [name, bytes] of Object.entries(onnx)) {
    writeFileSync(at(name), bytes);
    await attack(area, name, [
      "sample",
      "--score",
      name,
      "--predicts",
      "noise",
      "--count",
      "2",
      "--steps",
      "2",
    ]);
  }
  const good = readFileSync(at("good.model"));
  const length = Number(good.readBigUInt64LE(0));
  const header = good.subarray(8, 8 + length).toString();
  const withHeader = (text: string): Buffer => {
    const size = Buffer.alloc(8);
    size.writeBigUInt64LE(BigInt(Buffer.byteLength(text)));
    return Buffer.concat([size, Buffer.from(text), good.subarray(8 + length)]);
  };
  const size = (n: bigint): Buffer => {
    const bytes = Buffer.from(good);
    bytes.writeBigUInt64LE(n);
    return bytes;
  };
  const noSum = header.replace(/"checksum":"[^"]*",?/, "");
  const safe: Record<string, Uint8Array> = {
    "length 0": size(0n),
    "length 2^63": size(2n ** 63n),
    "length 2^32": size(2n ** 32n),
    "one byte less": good.subarray(0, -1),
    "one more": Buffer.concat([good, Buffer.alloc(1)]),
    "no checksum": withHeader(noSum),
    "deep header": withHeader(deep(100_000)),
    "overlapping arrays": withHeader(noSum.replace(/"data_offsets":\[\d+,/g, '"data_offsets":[0,')),
    "negative offsets": withHeader(noSum.replace(/"data_offsets":\[\d+/, '"data_offsets":[-4')),
    "shape of 2^53": withHeader(noSum.replace(/"shape":\[\d+/, '"shape":[9007199254740992')),
    "huge width": withHeader(noSum.replace(/\\"width\\":\d+/, '\\"width\\":1000000000')),
    "no metadata": withHeader(noSum.replace(/"__metadata__":\{.*?\},/, "")),
    "rows below 0": withHeader(noSum.replace(/\\"rows\\":\d+/, '\\"rows\\":-1')),
    "labels changed": withHeader(noSum.replaceAll('\\"p\\"', '\\"q\\"')),
    "empty labels": withHeader(noSum.replaceAll('\\"p\\"', '\\"\\"')),
  };
  for (const [name, bytes] of Object.entries(safe)) {
    writeFileSync(at("hostile.model"), bytes);
    for (const words of [
      ["sample", "--count", "3"],
      ["likelihood", "good.csv"],
      ["complete", "good.csv"],
    ])
      await attack("models", `${words[0]} ${name}`, [
        "table",
        ...words,
        "--model",
        "hostile.model",
      ]);
  }
  mkdirSync(at("loop"), { recursive: true });
  symlinkSync("loop", at("round"));
  symlinkSync("self", at("self"));
  await attack("models", "link to itself", ["table", "sample", "--model", "self"]);
  for (const [name, config] of Object.entries({
    "is a folder": undefined,
    "is empty": "",
    "is a list": "[]",
    "is of another kind": '{"version":"9","files":{"/etc/passwd":"0"},"spec":{}}',
    "is deep": deep(100_000),
  })) {
    const run = `run ${name}`;
    mkdirSync(at(run), { recursive: true });
    if (config === undefined) mkdirSync(at(`${run}/config.json`), { recursive: true });
    else writeFileSync(at(`${run}/config.json`), config);
    await attack("run folders", name, [
      "table",
      "fit",
      "good.csv",
      "--out",
      "o.model",
      "--run",
      run,
      ...quick,
    ]);
  }
}
