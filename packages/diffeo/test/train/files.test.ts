import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { built } from "../../../../test/build.ts";
import { testFolder } from "../../../../test/folder.ts";
import { DiffeoError } from "../../src/graph/index.ts";
import { fromHalf, toHalf } from "../../src/host/half.ts";
import {
  RunFolder,
  readBytes,
  readSafetensors,
  writeFileAtomic,
  writeSafetensors,
} from "../../src/node/index.ts";
import { parseSafetensors, serializeSafetensors } from "../../src/train/index.ts";

const { folder } = testFolder("train");

const array = (data: number[], shape = [data.length]) => ({
  shape,
  dtype: "float32" as const,
  data: Float32Array.from(data),
});

describe("float16", () => {
  it("represents every half exactly", () => {
    const all = Uint16Array.from({ length: 65_536 }, (_, i) => i);
    const back = toHalf(fromHalf(all));
    for (let i = 0; i < all.length; i++) {
      const nan = (i & 0x7c00) === 0x7c00 && (i & 0x3ff) !== 0;
      if (!nan) expect(back[i]).toBe(i);
    }
  });

  it("rounds to the nearest half, ties to even", () => {
    fc.assert(
      fc.property(fc.float({ noNaN: true, min: -65_000, max: 65_000 }), (v) => {
        const [h] = toHalf(Float32Array.of(v));
        const near = fromHalf(Uint16Array.of(h, (h & 0x7fff) === 0 ? h : h - 1, h + 1));
        for (const other of near.subarray(1))
          if (Number.isFinite(other))
            expect(Math.abs(near[0] - v)).toBeLessThanOrEqual(Math.abs(other - v));
      }),
    );
    expect([...toHalf(Float32Array.of(1 + 2 ** -11, 1 + 3 * 2 ** -11, 65_520, -1e9))]).toEqual([
      0x3c00, 0x3c02, 0x7c00, 0xfc00,
    ]);
    const units = [0.45, 0.55, 1.5, 2.5, 2.55, 1023.5].map((v) => v * 2 ** -24);
    expect([...toHalf(Float32Array.from(units))]).toEqual([0, 1, 2, 2, 3, 0x400]);
  });
});

describe("safetensors", () => {
  const tensors = {
    arrays: { "a.w": array([1, -2.5, 3e-8, 4], [2, 2]), b: array([7]) },
    metadata: { note: "ψ" },
  };

  it("reads what was written", async () => {
    const path = join(folder, "t.safetensors");
    await writeSafetensors(path, tensors);
    const { arrays, metadata } = await readSafetensors(path);
    expect(arrays["a.w"].shape).toEqual([2, 2]);
    expect([...(arrays["a.w"].data as Float32Array)]).toEqual([...tensors.arrays["a.w"].data]);
    expect(metadata).toEqual({ note: "ψ" });
  });

  it("says what is wrong in a damaged file", () => {
    const whole = Buffer.concat(serializeSafetensors(tensors));
    expect(() => parseSafetensors(whole.subarray(0, 5), "f")).toThrow(/f: it has only 5 bytes/);
    expect(() => parseSafetensors(whole.subarray(0, 40), "f")).toThrow(/header should have/);
    expect(() => parseSafetensors(whole.subarray(0, whole.length - 2), "f")).toThrow(
      /"b" of shape \[1\] does not fit/,
    );
    const noise = Buffer.from(whole);
    noise[8] = 0x20;
    expect(() => parseSafetensors(noise, "f")).toThrow(/not JSON/);
  });

  const place = { dtype: "F32", shape: [1], data_offsets: [0, 4] };
  it.each<[unknown, RegExp]>([
    [null, /f: its header is not an object/],
    [{ __metadata__: 1 }, /f: its metadata are not an object/],
    [{ a: null }, /"a" has no valid type, shape and offsets/],
    [{ a: { ...place, data_offsets: undefined } }, /"a" has no valid type, shape and offsets/],
    [{ a: { ...place, data_offsets: [-4, 0] } }, /"a" has no valid type, shape and offsets/],
    [{ a: { ...place, shape: [-1] } }, /"a" has no valid type, shape and offsets/],
    [{ a: { ...place, dtype: "BF16" } }, /type BF16; only F32 and F16 are supported/],
    [{ a: { ...place, dtype: ["F32"] } }, /"a" has no valid type, shape and offsets/],
    [{ a: { ...place, dtype: "toString" } }, /type toString; only F32 and F16 are supported/],
    [{ a: place, b: place }, /"b" starts at byte 0, but the one before it ends at 4/],
    [{ a: { ...place, shape: [0], data_offsets: [0, 0] } }, /4 bytes follow the last array/],
    [
      { a: { dtype: "F16", shape: [1], data_offsets: [2, 4] } },
      /"a" starts at byte 2, but the one before it ends at 0/,
    ],
    [{ __metadata__: { format: 1 }, a: place }, /metadata are not all strings/],
    [{ ["x".repeat(1e6)]: null }, /^f: array "x{700,} … x+" has no valid type/],
    [{ a: place }, /"a" has NaN at the flat index 0/],
  ])("refuses a header (%#)", (header, message) => {
    const json = Buffer.from(JSON.stringify(header));
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(json.length));
    const nan = Buffer.from(Float32Array.of(Number.NaN).buffer);
    const broken = (): unknown => parseSafetensors(Buffer.concat([length, json, nan]), "f");
    expect(broken).toThrow(DiffeoError);
    expect(broken).toThrow(message);
  });

  it("accepts any name of an array", () => {
    const names = ["__proto__", "constructor", "toString", ""];
    const arrays = Object.fromEntries(names.map((name, i) => [name, array([i])]));
    const read = parseSafetensors(
      Buffer.concat(serializeSafetensors({ arrays, metadata: {} })),
      "f",
    );
    expect(Object.keys(read.arrays)).toEqual(names);
    expect(Object.values(read.arrays).map(({ data }) => data[0])).toEqual([0, 1, 2, 3]);
    const reserved = { arrays: { __metadata__: array([1]) }, metadata: {} };
    expect(() => serializeSafetensors(reserved)).toThrow(/the reserved name/);
  });

  it("refuses numbers that half precision cannot keep", () => {
    const huge = { arrays: { w: array([1, -65_520]) }, metadata: {} };
    expect(() => serializeSafetensors(huge, "F16")).toThrow(
      /array "w" has -65520, which is beyond the range of half precision/,
    );
    expect(Buffer.concat(serializeSafetensors(huge)).length).toBeGreaterThan(8);
    serializeSafetensors({ arrays: { w: array([65_504]) }, metadata: {} }, "F16");
  });
});

describe("files", () => {
  it("are written completely or not at all", async () => {
    const path = join(folder, "sub", "x.txt");
    await writeFileAtomic(path, "first");
    await writeFileAtomic(path, "second");
    expect(readFileSync(path, "utf8")).toBe("second");
    expect(readdirSync(join(folder, "sub"))).toEqual(["x.txt"]);
    await expect(writeFileAtomic(join(path, "below-a-file"), "x")).rejects.toThrow(/cannot write/);
  });

  it("are written from a stream, or not at all if the stream fails", async () => {
    const path = join(folder, "stream.txt");
    async function* pieces(fault?: Error) {
      yield "one, ";
      if (fault) throw fault;
      yield Buffer.from("two");
    }
    await writeFileAtomic(path, pieces());
    expect(readFileSync(path, "utf8")).toBe("one, two");
    await expect(writeFileAtomic(path, pieces(new Error("line 7 is wrong")))).rejects.toThrow(
      /^line 7 is wrong$/,
    );
    expect(readFileSync(path, "utf8")).toBe("one, two");
    expect(readdirSync(folder).filter((name) => name.startsWith("stream"))).toEqual(["stream.txt"]);
    await expect(writeFileAtomic(join(path, "below-a-file"), pieces())).rejects.toThrow(
      /cannot write/,
    );
  });

  it("are flushed to disk", async () => {
    const handle = await open(join(folder, "any"), "w");
    await handle.close();
    const flushed = vi.spyOn(Object.getPrototypeOf(handle), "sync");
    await writeFileAtomic(join(folder, "flushed.txt"), "content");
    expect(flushed).toHaveBeenCalledTimes(1);
    flushed.mockRestore();
  });

  it("follow links, and write to a pipe instead of replacing it", async () => {
    const path = join(folder, "linked.txt");
    writeFileSync(path, "old");
    symlinkSync("linked.txt", join(folder, "link.txt"));
    await writeFileAtomic(join(folder, "link.txt"), "new");
    expect(readFileSync(path, "utf8")).toBe("new");
    expect(lstatSync(join(folder, "link.txt")).isSymbolicLink()).toBe(true);
    // A link to a link to a file that is not there yet, in another folder.
    mkdirSync(join(folder, "away"));
    symlinkSync(join("..", "unborn.txt"), join(folder, "away", "dangling"));
    symlinkSync(join("away", "dangling"), join(folder, "twice"));
    await writeFileAtomic(join(folder, "twice"), "made");
    expect(readFileSync(join(folder, "unborn.txt"), "utf8")).toBe("made");
    symlinkSync("round", join(folder, "round"));
    await expect(writeFileAtomic(join(folder, "round"), "x")).rejects.toThrow(
      /cannot write.*ELOOP/,
    );
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    const [read] = await Promise.all([readFile(pipe, "utf8"), writeFileAtomic(pipe, "through")]);
    expect(read).toBe("through");
    expect(lstatSync(pipe).isFIFO()).toBe(true);
  });
});

it("a device is not read, since it may be endless", async () => {
  for (const device of ["/dev/zero", "/dev/null"])
    await expect(readBytes(device)).rejects.toThrow(`${device} is a device`);
  await expect(readBytes(join(folder, "none"))).rejects.toThrow("none (ENOENT)");
});

describe("a file that replaces another", () => {
  const access = (path: string): number[] => {
    const { mode, uid, gid } = statSync(path);
    return [mode & 0o7777, uid, gid];
  };

  it("has its mode, and a new file that of the process", async () => {
    const path = join(folder, "private.txt");
    await writeFileAtomic(path, "new");
    expect(access(path)[0]).toBe(0o666 & ~process.umask());
    for (const mode of [0o600, 0o400, 0o666, 0o755]) {
      chmodSync(path, mode);
      await writeFileAtomic(path, `of mode ${mode}`);
      expect([access(path)[0], readFileSync(path, "utf8")]).toEqual([mode, `of mode ${mode}`]);
    }
  });

  it("is not readable by others while it is written", async () => {
    const path = join(folder, "secret");
    mkdirSync(path);
    writeFileSync(join(path, "a"), "old", { mode: 0o600 });
    const modes: number[] = [];
    async function* pieces() {
      yield Buffer.from("a secret");
      for (const name of readdirSync(path)) modes.push(access(join(path, name))[0]);
    }
    await writeFileAtomic(join(path, "a"), pieces());
    expect(modes).toEqual([0o600, 0o600]);
  });

  it.runIf(process.getuid?.() === 0)("has its owner and its group", async () => {
    const path = join(folder, "given.txt");
    writeFileSync(path, "old");
    chownSync(path, 1234, 2345);
    chmodSync(path, 0o640);
    await writeFileAtomic(path, "new");
    expect(access(path)).toEqual([0o640, 1234, 2345]);
  });

  it.runIf(process.getuid?.() === 0)("is not opened to others if they cannot be kept", () => {
    // A user who is not root, in a folder of theirs, over a file of root's.
    const home = join(folder, "of-nobody");
    mkdirSync(home);
    const path = join(home, "a.txt");
    writeFileSync(path, "old");
    chmodSync(path, 0o4664);
    chownSync(home, 65534, 65534);
    chmodSync(folder, 0o755);
    const index = pathToFileURL(join(built(), "packages", "diffeo", "dist", "node", "index.js"));
    const source = `const { writeFileAtomic } = await import(${JSON.stringify(index.href)});
      process.setgroups([]); process.setgid(65534); process.setuid(65534);
      await writeFileAtomic(${JSON.stringify(path)}, "new");`;
    execFileSync(process.execPath, ["--input-type=module", "--eval", source]);
    expect([readFileSync(path, "utf8"), ...access(path)]).toEqual(["new", 0o644, 65534, 65534]);
  });

  it("may have a name of the maximal length", async () => {
    const path = join(folder, "n".repeat(255));
    await writeFileAtomic(path, "first");
    await writeFileAtomic(path, "second");
    expect(readFileSync(path, "utf8")).toBe("second");
  });
});

describe("a run folder", () => {
  it("is never overwritten, and resumed only with its first settings", async () => {
    const path = join(folder, "run");
    await RunFolder.create(path, { rate: 1, seed: 2 });
    await expect(RunFolder.create(path, { rate: 1, seed: 2 })).rejects.toThrow(
      /already contains a run/,
    );
    await expect(RunFolder.open(path, { rate: 2, seed: 2 })).rejects.toThrow(
      /started with rate = 1, but now it is 2/,
    );
    await expect(RunFolder.open(join(folder, "none"), {})).rejects.toThrow(
      /does not contain a run/,
    );
    writeFileSync(join(path, "config.json"), '{"rate": 1, "se');
    await expect(RunFolder.open(path, { rate: 1, seed: 2 })).rejects.toThrow(
      /config\.json cannot be read as JSON/,
    );
  });

  it("keeps the two newest checkpoints and ignores a partially written one", async () => {
    const path = join(folder, "checkpoints");
    const run = await RunFolder.create(path, {});
    for (const step of [5, 10, 15])
      await run.save({ step, arrays: { theta: array([step]) }, metadata: {} });
    writeFileSync(join(path, "step-20.safetensors.99.tmp"), "cut off by a crash");
    expect((await run.latest())?.step).toBe(15);
    expect(
      readdirSync(path)
        .filter((n) => n.endsWith(".safetensors"))
        .sort(),
    ).toEqual(["step-10.safetensors", "step-15.safetensors"]);
  });
});
