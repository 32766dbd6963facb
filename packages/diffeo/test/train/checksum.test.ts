/** Files with a checksum: every change is detected, and files without one are still read. */
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { crc32 } from "../../src/host/crc32.ts";
import { type ChainState, parseChains, serializeChains } from "../../src/mcmc/index.ts";
import { parseSafetensors, serializeSafetensors, type Tensors } from "../../src/train/index.ts";

const joined = (parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));

it("CRC-32 has the check value of its standard, and that of gzip", () => {
  expect(crc32([Buffer.from("1234"), Buffer.from("56789")])).toBe(0xcbf43926);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      expect(crc32([bytes])).toBe(gzipSync(bytes).readUInt32LE(gzipSync(bytes).length - 8));
    }),
  );
});

describe("a safetensors file", () => {
  const array = (data: number[]) => ({
    shape: [data.length],
    dtype: "float32" as const,
    data: Float32Array.from(data),
  });
  const tensors: Tensors = {
    // Names that would come first, or nowhere, as properties of an object.
    arrays: { w: array([1, 0.5, 3]), 7: array([2]), ["__proto__"]: array([4]) },
    metadata: { step: "12", 3: "ü", note: "a" },
  };
  const file = joined(serializeSafetensors(tensors));

  it("is read as it was written, without the checksum", () => {
    const read = parseSafetensors(file, "f");
    expect(read.metadata).toEqual(tensors.metadata);
    expect(Object.entries(read.arrays).sort()).toEqual(Object.entries(tensors.arrays).sort());
    expect(Buffer.from(file).subarray(8).toString("latin1")).toMatch(
      /^\{"__metadata__":\{"checksum":"crc32:[0-9a-f]{8}",/,
    );
  });

  it("is refused if any byte is changed", () => {
    for (let at = 0; at < file.length; at++)
      for (const flip of [1, 0x20, 0x80]) {
        const changed = file.slice();
        changed[at] ^= flip;
        expect(() => parseSafetensors(changed, "f"), `byte ${at} ^ ${flip}`).toThrow(/^f: /);
      }
  });

  it("is refused if a block is zeroed or two numbers are exchanged", () => {
    const large = joined(
      serializeSafetensors({
        arrays: { w: array(Array.from({ length: 5000 }, (_, i) => Math.sin(i))) },
        metadata: {},
      }),
    );
    const zeroed = large.slice();
    zeroed.fill(0, 8192, 8192 + 4096);
    expect(() => parseSafetensors(zeroed, "f")).toThrow(
      /f: its checksum is crc32:\w{8}, it should be crc32:\w{8}\. The file is damaged/,
    );
    const swapped = large.slice();
    swapped.copyWithin(8192, 8196, 8200);
    swapped.set(large.subarray(8192, 8196), 8196);
    expect(() => parseSafetensors(swapped, "f")).toThrow(/checksum/);
  });

  it("is read without a checksum, as older files are", () => {
    const length = Number(new DataView(file.buffer).getBigUint64(0, true));
    const header = JSON.parse(Buffer.from(file.subarray(8, 8 + length)).toString());
    delete header.__metadata__.checksum;
    const json = Buffer.from(JSON.stringify(header));
    const size = Buffer.alloc(8);
    size.writeBigUInt64LE(BigInt(json.length));
    const old = joined([size, json, file.subarray(8 + length)]);
    expect(parseSafetensors(old, "f").metadata).toEqual(tensors.metadata);
  });

  it("refuses metadata of the checksum's name", () => {
    const metadata = { checksum: "mine" };
    expect(() => serializeSafetensors({ arrays: {}, metadata })).toThrow(
      /the reserved name "checksum"/,
    );
  });
});

describe("chains", () => {
  const [one, two] = [Float64Array.of(0.5), Float64Array.of(-0, Number.NaN)];
  const state: ChainState = {
    x: two,
    value: one,
    energy: one,
    acceptance: one,
    depth: Uint8Array.of(3),
    leaves: Uint32Array.of(7),
    diverged: Uint8Array.of(0),
    size: 0.1,
    inverseMass: two,
    divergedInWarmup: 1,
    undefinedCount: 0,
    undefinedAt: null,
    restart: { done: 5, from: 1, logDensity: -8, logDensityThere: -2 },
    compared: true,
    region: { total: 0.5, diverged: 1, points: { count: 1, mean: two, squares: two } },
    done: 1,
    at: { x: two, slope: two, value: 0.5 },
    looks: false,
    average: { centre: 0.1, count: 1, error: 0, logSize: 0.1, logMean: 0.1 },
    covariance: { count: 1, mean: two, squares: two },
  };
  const text = serializeChains([state]);

  it("are read as they were written, with or without a checksum", () => {
    expect(parseChains(text, "f")).toEqual([state]);
    const { checksum, ...old } = JSON.parse(text);
    expect(checksum).toMatch(/^crc32:/);
    expect(parseChains(JSON.stringify(old), "f")).toEqual([state]);
  });

  it("are refused if any character is changed", () => {
    const resumed: string[] = [];
    for (let at = 0; at < text.length - 1; at++)
      for (const other of ["0", "1", "A", " "].filter((c) => c !== text[at])) {
        const changed = text.slice(0, at) + other + text.slice(at + 1);
        try {
          parseChains(changed, "f");
          resumed.push(changed);
        } catch {}
      }
    expect(resumed).toEqual([]);
  });
});
