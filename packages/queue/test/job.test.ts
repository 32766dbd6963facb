/** Descriptions of jobs, shards, addresses, the cache of inputs and the folder of results. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  canonical,
  type Executor,
  type Job,
  jobOf,
  type Kind,
  ofShard,
  parseShard,
  requireJob,
  runJobs,
} from "diffeo-queue";
import { digestOf, inputsOf, openLocal, parseAddress, sha256, withFolder } from "diffeo-queue/node";
import fc from "fast-check";
import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openCache } from "../src/node/cache.ts";
import { openRunner } from "../src/node/runner.ts";
import { failing, kinds, RELEASE, reversed, spin } from "./kinds.ts";
import { scripts } from "./processes.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "diffeo-jobs-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const setting = { release: RELEASE, device: "cpu" };
const good = jobOf(spin, { ms: 0, n: 1 }, setting);
const script = { url: scripts.process, execArgv: [] };
const local = (workers = 1, files: readonly Uint8Array[] = []): Executor =>
  openLocal({ kinds, release: RELEASE, inputs: inputsOf(files), workers, script });

describe("a description", () => {
  it("is one text, in whatever order its fields are written, and is read back as itself", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const value = JSON.parse(text);
        expect(JSON.parse(canonical(value))).toEqual(value);
      }),
    );
    const { inputs, parameters, device, release, version, kind } = good;
    expect(digestOf({ inputs, parameters, device, release, version, kind })).toBe(digestOf(good));
    expect(digestOf({ ...good, parameters: { n: 1, ms: 0 } })).toBe(digestOf(good));
    expect(digestOf({ ...good, parameters: { n: 2, ms: 0 } })).not.toBe(digestOf(good));
  });

  it.each<[string, unknown, RegExp]>([
    ["nothing", null, /wrong at its beginning/],
    ["a list", [good], /wrong at kind/],
    ["a path for a kind", { ...good, kind: "../../evil" }, /wrong at kind/],
    ["a name that every object has", { ...good, kind: "toString" }, /wrong at kind/],
    ["a version of 0", { ...good, version: 0 }, /wrong at version/],
    [
      "an input that is no digest",
      { ...good, inputs: { model: "/etc/passwd" } },
      /wrong at inputs.model/,
    ],
    ["parameters that are a list", { ...good, parameters: [] }, /wrong at parameters/],
    ["code beside them", { ...good, code: "process.exit()" }, /wrong at code/],
    [
      "more than a description has",
      { ...good, parameters: { text: "x".repeat(1e5) } },
      /no job, 65,536 are read/,
    ],
  ])("is refused with %s", (_, value, message) => {
    expect(() => requireJob(value)).toThrow(message);
  });

  it("is not made of parameters that are none", () => {
    expect(() => jobOf(spin, { ms: -1, n: 0 }, setting)).toThrow();
  });
});

describe("a shard", () => {
  it("is every n-th job: together they are all of them, each once", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 0, max: 100 }),
        (of, count) => {
          const all = Array.from({ length: count }, (_, i) => i);
          const shards = Array.from({ length: of }, (_, i) => ofShard(all, { index: i + 1, of }));
          expect(shards.flat().sort((a, b) => a - b)).toEqual(all);
          expect(
            Math.max(...shards.map((s) => s.length)) - Math.min(...shards.map((s) => s.length)),
          ).toBeLessThan(2);
        },
      ),
    );
    expect(parseShard("3/10")).toEqual({ index: 3, of: 10 });
    for (const text of ["0/3", "4/3", "3", "1/0", "-1/3", "a/b", "1/3/5"])
      expect(() => parseShard(text)).toThrow(/no shard/);
  });
});

describe("an address", () => {
  it("has a server, a user and a password, and shows no password", () => {
    const { shown, options } = parseAddress("rediss://me:p%40ss@host:7000/2");
    expect(shown).toBe("rediss://me@host:7000/2");
    expect(options).toEqual({
      host: "host",
      port: 7000,
      db: 2,
      username: "me",
      password: "p@ss",
      tls: {},
    });
    expect(parseAddress("redis://host", "secret")).toEqual({
      shown: "redis://host:6379",
      options: { host: "host", port: 6379, db: 0, password: "secret" },
    });
    expect(parseAddress("redis://[::1]:1/").options).toMatchObject({ host: "::1", port: 1 });
    expect(parseAddress("unix:///run/redis.sock").options).toEqual({ path: "/run/redis.sock" });
  });

  it.each([
    "redis://secret%zz@host",
    "redis://a:%@secret",
    "unix:///secret%2",
    "host:secret",
    "http://secret@host",
    "redis://",
    "redis://host/secret",
    "",
    "unix://",
    "secret",
  ])('is refused where it is none, and not repeated: "%s"', (text) => {
    const error = (() => {
      try {
        return parseAddress(text);
      } catch (found) {
        return found as Error;
      }
    })() as Error;
    expect(error.message).toMatch(/redis:\/\/host:6379/);
    expect(error.message).not.toMatch(/secret/);
  });
});

describe("local work", () => {
  it("gives the same bytes in this process, in others and out of a folder, in the order of the jobs", async () => {
    const file = Uint8Array.from({ length: 1000 }, (_, i) => i);
    const jobs: Job[] = [
      ...[5, 3, 1, 4].map((n) => jobOf(spin, { ms: 10 * n, n }, setting)),
      jobOf(reversed, {}, { ...setting, inputs: { file: sha256(file) } }),
    ];
    const bytesBy = async (executor: Executor): Promise<string[]> => {
      const settled = await runJobs(executor, jobs);
      await executor.close();
      return settled.map((each) =>
        "result" in each ? Buffer.from(each.result.bytes).toString("hex") : each.error.message,
      );
    };
    const here = await bytesBy(local(1, [file]));
    expect(here[4]).toBe(Buffer.from(file.toReversed()).toString("hex"));
    expect(await bytesBy(local(2, [file]))).toEqual(here);

    const shared = join(folder, "shared");
    for (const index of [1, 2]) {
      const shard = withFolder(local(1, [file]), shared, { write: true });
      await runJobs(shard, ofShard(jobs, { index, of: 2 }));
      await shard.close();
    }
    expect(readdirSync(shared)).toHaveLength(5);
    // One is not what it says, one is cut off, one is that of another job: these three are done
    // again, the others are read.
    const [first, second, third, fourth] = readdirSync(shared).map((name) => join(shared, name));
    writeFileSync(first, `${readFileSync(first, "latin1")}more`);
    writeFileSync(second, readFileSync(second).subarray(0, 40));
    writeFileSync(third, readFileSync(fourth));
    let done = 0;
    const inner = local(1, [file]);
    const run: Executor["run"] = (job, options) => {
      done++;
      return inner.run(job, options);
    };
    const counted: Executor = { ...inner, run };
    expect(await bytesBy(withFolder(counted, shared, { write: false }))).toEqual(here);
    expect(done).toBe(3);
  });

  it("refuses what it does not know, by whatever it differs, and reports a lost process after three tries", async () => {
    const executor = local(2);
    const jobs: Job[] = [
      { ...good, kind: "test/unknown" },
      { ...good, version: 9 },
      { ...good, release: "9.9.9" },
      { ...good, parameters: { ms: "1", n: 0 } },
      jobOf(reversed, {}, setting),
      jobOf(reversed, {}, { ...setting, inputs: { file: "0".repeat(64) } }),
      jobOf(failing, { how: "said" }, setting),
      jobOf(failing, { how: "lost" }, setting),
      good,
    ];
    const settled = await runJobs(executor, jobs);
    await executor.close();
    expect(settled.map((each) => ("error" in each ? each.error.message : "done"))).toEqual([
      "this worker knows no jobs of kind test/unknown. It knows test/spin, test/still, test/reversed, test/failing, test/large.",
      "the job is for version 9 of test/spin, this worker has version 1. Let the command and its workers have one release.",
      `the job is for release 9.9.9, this worker has ${RELEASE}. Let the command and its workers have one release.`,
      "parameters of test/spin are wrong at ms: expected number. Make the job with jobOf.",
      'the job names no input "file". Give jobs of test/reversed that input.',
      `there is no input ${"0".repeat(64)}. Give it with the jobs.`,
      "the job is broken. Mend it.",
      "its process ended with code 7",
      "done",
    ]);
  });

  it("begins a job three times where its process is lost, and once where it says what is wrong", async () => {
    const executor = local(2);
    const begun = async (how: "said" | "lost"): Promise<number> => {
      let reports = 0;
      const options = { onProgress: () => void reports++ };
      await expect(executor.run(jobOf(failing, { how }, setting), options)).rejects.toThrow();
      return reports;
    };
    expect(await Promise.all([begun("said"), begun("lost")])).toEqual([1, 3]);
    await executor.close();
  });

  it("takes no bytes for an input that are not those that were named", async () => {
    const runner = openRunner({ kinds, release: RELEASE });
    const job = jobOf(reversed, {}, { ...setting, inputs: { file: sha256(Uint8Array.of(1)) } });
    const fetch = async () => Uint8Array.of(2);
    await expect(runner.run(job, { fetch, report: () => undefined })).rejects.toThrow(
      'the bytes of input "file" are not those that were named',
    );
  });
});

describe("what jobs keep open", () => {
  const log: string[] = [];
  const keeper: Kind<{ readonly name: string }, string> = {
    name: "test/keeper",
    version: 1,
    parameters: v.strictObject({ name: v.string() }),
    run: ({ name }, { keep }) =>
      keep(
        name,
        async () => {
          log.push(`opens ${name}`);
          return name === "broken" ? Promise.reject(new Error("it is broken")) : name;
        },
        async () => void log.push(`closes ${name}`),
      ),
    make: (name) => Buffer.from(name),
    parse: String,
  };
  const runner = openRunner({
    kinds: { [keeper.name]: async () => keeper as Kind<unknown, unknown> },
    release: RELEASE,
  });
  const run = (name: string) =>
    runner.run(jobOf(keeper, { name }, setting), {
      fetch: async () => new Uint8Array(),
      report: () => undefined,
    });

  it("are the two that were used last, opened once; what cannot be opened is not kept", async () => {
    for (const name of ["a", "b", "a", "c", "a", "b"]) await run(name);
    expect(log.splice(0)).toEqual([
      "opens a",
      "opens b",
      "opens c",
      "closes b",
      "opens b",
      "closes c",
    ]);
    await expect(run("broken")).rejects.toThrow("it is broken");
    await expect(run("broken")).rejects.toThrow("it is broken");
    expect(log.splice(0)).toEqual(["opens broken", "closes a", "opens broken"]);
    await runner.dispose();
    expect(log).toEqual(["closes b"]);
  });
});

describe("the cache of inputs", () => {
  it("fetches once, holds files to their digests, and stays within its size", async () => {
    const place = join(folder, "cache");
    const { get } = openCache(place, 250);
    const files = [1, 2, 3].map((n) => new Uint8Array(100).fill(n));
    let fetched = 0;
    const read = (bytes: Uint8Array): Promise<Uint8Array> =>
      get(sha256(bytes), async () => {
        fetched++;
        return bytes;
      });
    await Promise.all([read(files[0]), read(files[0])]);
    expect(fetched).toBe(1);
    await read(files[1]);
    utimesSync(join(place, sha256(files[1])), new Date(0), new Date(0));
    writeFileSync(join(place, sha256(files[0])), "another");
    expect(Buffer.from(await read(files[0])).equals(files[0])).toBe(true);
    expect(fetched).toBe(3);
    await read(files[2]);
    expect(readdirSync(place).sort()).toEqual([sha256(files[0]), sha256(files[2])].sort());
    await read(new Uint8Array(300));
    expect(readdirSync(place)).toHaveLength(2);
    // What is read is used.
    for (const [i, at] of [
      [0, 1],
      [2, 2],
    ])
      utimesSync(join(place, sha256(files[i])), new Date(at), new Date(at));
    await read(files[0]);
    await read(files[1]);
    expect(readdirSync(place).sort()).toEqual([sha256(files[0]), sha256(files[1])].sort());
  });
});
