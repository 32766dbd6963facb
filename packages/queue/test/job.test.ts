/** Descriptions of jobs, shards, addresses, the cache of inputs and the folder of results. */
import { readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  canonical,
  type Executor,
  inputOf,
  type Job,
  type JobDescription,
  jobOf,
  type Kind,
  ofShard,
  openInline,
  parseShard,
  requireDescription,
  resultsOf,
  runJobs,
  withRepeats,
} from "diffeo/job";
import { descriptionOf, digestOf, openLocal, parseAddress, sha256, withFolder } from "diffeo-queue";
import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { testFolder } from "../../../test/folder.ts";
import { openCache } from "../src/node/cache.ts";
import { openRunner } from "../src/node/runner.ts";
import { failing, kinds, lines, RELEASE, reversed, spin } from "./kinds.ts";
import { scripts } from "./processes.ts";

const { folder } = testFolder("jobs");

const setting = { inputs: {} };
const goodJob = jobOf(spin, { ms: 0, n: 1 }, setting);
const good = descriptionOf(goodJob, RELEASE);
const script = { url: scripts.process, execArgv: [] };
const local = (workers = 1): Executor => openLocal({ release: RELEASE, workers, script });
const said: string[] = [];
const say = (line: string): void => void said.push(line);

describe("a description", () => {
  it("has one text for any order of its fields, and is read back exactly", () => {
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
      "an input without a digest",
      { ...good, inputs: { model: "/etc/passwd" } },
      /wrong at inputs.model/,
    ],
    ["parameters that are a list", { ...good, parameters: [] }, /wrong at parameters/],
    ["code in addition", { ...good, code: "process.exit()" }, /wrong at code/],
    [
      "more than a description has",
      { ...good, parameters: { text: "x".repeat(1e5) } },
      /characters, the limit is 65,536/,
    ],
  ])("is refused with %s", (_, value, message) => {
    expect(() => requireDescription(value)).toThrow(message);
  });

  it("refuses invalid parameters", () => {
    expect(() => jobOf(spin, { ms: -1, n: 0 }, setting)).toThrow();
  });
});

describe("a shard", () => {
  it("is every n-th job; together they contain every job once", () => {
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
      expect(() => parseShard(text)).toThrow(/is not a shard/);
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
  it("gives the same bytes in this process, in others and from a folder, in the order of the jobs", async () => {
    const file = Uint8Array.from({ length: 1000 }, (_, i) => i);
    const jobs: Job<object, object, Uint8Array>[] = [
      ...[5, 3, 1, 4].map((n) => jobOf(spin, { ms: 10 * n, n }, setting)),
      jobOf(reversed, {}, { inputs: { file: inputOf(file) } }),
    ];
    const bytesBy = async (executor: Executor): Promise<string[]> => {
      const settled = await runJobs(executor, jobs);
      await executor.close();
      return settled.map((each) =>
        "result" in each ? Buffer.from(each.result.value).toString("hex") : each.error.message,
      );
    };
    const here = await bytesBy(local(1));
    expect(here[4]).toBe(Buffer.from(file.toReversed()).toString("hex"));
    expect(await bytesBy(local(2))).toEqual(here);

    const shared = join(folder, "shared");
    for (const index of [1, 2]) {
      const shard = withFolder(local(1), shared, { release: RELEASE, write: true, say });
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
    const inner = local(1);
    const run: Executor["run"] = (job, options) => {
      done++;
      return inner.run(job, options);
    };
    const counted: Executor = { ...inner, run };
    const reader = withFolder(counted, shared, { release: RELEASE, write: false, say });
    expect(await bytesBy(reader)).toEqual(here);
    expect(done).toBe(3);
    expect(said.splice(0).map((line) => line.replace(/.*\.job is/, "it is"))).toEqual(
      Array.from({ length: 3 }, () => "it is not used: it is damaged; its job runs again"),
    );
  });

  it("passes values in this process, in the order of the jobs", async () => {
    const executor = openInline();
    const first = jobOf(lines, { count: 2 }, setting);
    const value = Symbol("a value");
    const passing: Kind<object, { readonly it: symbol }, symbol> = {
      ...{ name: "test/passing", version: 1, parameters: v.strictObject({}) },
      inputs: { it: () => expect.fail() },
      run: async (_, { input }) => input("it"),
      serialize: () => expect.fail(),
      parse: () => expect.fail(),
      misfit: () => expect.fail(),
    };
    const it = inputOf(() => expect.fail(), value);
    expect((await executor.run(jobOf(passing, {}, { inputs: { it } }))).value).toBe(value);
    const found: (readonly string[])[] = [];
    for await (const { value: all } of resultsOf(executor, [first, first])) found.push(all);
    expect(found).toEqual([
      ["line 1", "line 2"],
      ["line 1", "line 2"],
    ]);
    await executor.close();
    await expect(executor.run(first)).rejects.toThrow("the executor is closed");
  });

  it("checks results from a folder against their jobs", async () => {
    const shared = join(folder, "held");
    const job = jobOf(lines, { count: 3 }, setting);
    const digest = digestOf(descriptionOf(job, RELEASE));
    const executor = withFolder(local(1), shared, { release: RELEASE, write: true, say });
    const put = (text: string): void => {
      const head = { job: digest, sha256: sha256(text), seconds: 1, worker: "a wrong one" };
      writeFileSync(join(shared, `${digest}.job`), `${JSON.stringify(head)}\n${text}`);
    };
    await executor.run(job);
    for (const [text, message] of [
      ["line 1", "it has 1 lines, but the job has 3"],
      ["nothing", "a result of test/lines is not lines"],
    ]) {
      put(text);
      expect((await executor.run(job)).value).toHaveLength(3);
      expect(said.splice(0)).toEqual([
        expect.stringContaining(`.job is not used: ${message}; its job runs again`),
      ]);
      // The new result is stored.
      expect((await executor.run(job)).worker).toBe("this process");
      expect(said).toEqual([]);
    }
    await executor.close();
  });

  it("fails if a repetition differs, and runs again then", async () => {
    const shared = join(folder, "repeated");
    const jobs = [1, 2, 3].map((count) => jobOf(lines, { count }, setting));
    const stored = withFolder(local(1), shared, { release: RELEASE, write: true, say });
    const executor = withRepeats(stored, 1);
    const outcomes = async () =>
      (await runJobs(executor, jobs)).map((each) =>
        "error" in each ? each.error.message : each.result.value.length,
      );
    expect(await outcomes()).toEqual([1, 2, 3]);
    expect(readdirSync(shared)).toHaveLength(6);
    // A result of the right shape, of which a byte is wrong.
    const digest = digestOf(descriptionOf(jobs[1], RELEASE));
    const text = "line 1\nline 3";
    const head = { job: digest, sha256: sha256(text), seconds: 1, worker: "a wrong one" };
    writeFileSync(join(shared, `${digest}.job`), `${JSON.stringify(head)}\n${text}`);
    expect(await outcomes()).toEqual([
      1,
      expect.stringMatching(
        /^a job of test\/lines has different results by a wrong one and this process\. Use/,
      ),
      3,
    ]);
    expect(readdirSync(shared)).toHaveLength(4);
    expect(await outcomes()).toEqual([1, 2, 3]);
    let looked = 0;
    const some = withRepeats(
      {
        ...stored,
        run: async (job, options) => {
          if (options?.repeat) looked++;
          return stored.run(job, options);
        },
      },
      0.5,
      () => 0.6,
    );
    await runJobs(some, jobs);
    expect(looked).toBe(0);
    await executor.close();
  });

  it("refuses unknown jobs, whatever the difference", async () => {
    const runner = openRunner({ kinds, release: RELEASE });
    const nobody = async (digest: string) => expect.fail(digest);
    const said = (job: JobDescription): Promise<unknown> =>
      runner
        .run(job, { fetch: nobody, report: () => undefined })
        .then(() => "done")
        .catch((error: Error) => error.message);
    const jobs: JobDescription[] = [
      { ...good, kind: "test/unknown" },
      { ...good, version: 9 },
      { ...good, release: "9.9.9" },
      { ...good, parameters: { ms: "1", n: 0 } },
      { ...good, kind: "test/reversed", version: 2, parameters: {} },
      good,
    ];
    expect(await Promise.all(jobs.map(said))).toEqual([
      "this worker does not know jobs of kind test/unknown. It knows test/spin, test/still, test/gated, test/reversed, test/failing, test/large, test/lines.",
      "the job is for version 9 of test/spin, but this worker has version 1. Use the same release for the command and its workers.",
      `the job is for release 9.9.9, but this worker has ${RELEASE}. Use the same release for the command and its workers.`,
      "parameters of test/spin are wrong at ms: expected number. Make the job with jobOf.",
      'the job has no input "file". Give jobs of test/reversed that input.',
      "done",
    ]);
  });

  it("reports the error of a job, and a process lost three times, and continues", async () => {
    const executor = local(2);
    const jobs = [
      jobOf(failing, { how: "said" }, setting),
      jobOf(failing, { how: "lost" }, setting),
      goodJob,
    ];
    const settled = await runJobs(executor, jobs);
    await executor.close();
    expect(settled.map((each) => ("error" in each ? each.error.message : "done"))).toEqual([
      "the job is broken. Fix it.",
      "its process ended with code 7",
      "done",
    ]);
  });

  it("tries a job three times if its process is lost, and once if it reports an error", async () => {
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

  it("refuses input bytes that do not match their digest", async () => {
    const runner = openRunner({ kinds, release: RELEASE });
    const own = jobOf(reversed, {}, { inputs: { file: inputOf(Uint8Array.of(1)) } });
    const job = descriptionOf(own, RELEASE);
    const fetch = async () => Uint8Array.of(2);
    await expect(runner.run(job, { fetch, report: () => undefined })).rejects.toThrow(
      'the bytes of input "file" do not match their digest',
    );
  });
});

describe("state that jobs keep open", () => {
  const log: string[] = [];
  const keeper: Kind<{ readonly name: string }, object, string> = {
    name: "test/keeper",
    version: 1,
    parameters: v.strictObject({ name: v.string() }),
    inputs: {},
    run: ({ name }, { keep }) =>
      keep(
        name,
        async () => {
          log.push(`opens ${name}`);
          return name === "broken" ? Promise.reject(new Error("it is broken")) : name;
        },
        async () => void log.push(`closes ${name}`),
      ),
    serialize: (name) => Buffer.from(name),
    parse: String,
    misfit: () => undefined,
  };
  const runner = openRunner({
    kinds: { [keeper.name]: async () => keeper },
    release: RELEASE,
  });
  const run = (name: string) =>
    runner.run(descriptionOf(jobOf(keeper, { name }, setting), RELEASE), {
      fetch: async () => new Uint8Array(),
      report: () => undefined,
    });

  it("is that of the two latest inputs, opened once; a failed opening is not kept", async () => {
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
  it("downloads once, checks files against their digests, and stays within its size", async () => {
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
