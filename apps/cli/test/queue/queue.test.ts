/**
 * The same work in one process, in shards and by workers of a queue gives the same bytes.
 */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { saveTinyModel } from "../../../../packages/chess/test/tiny.ts";
import { hasServer, type Server, startServer } from "../../../../packages/queue/test/server.ts";
import { testFolder } from "../../../../test/folder.ts";
import { diffeo, printed, startDiffeo } from "../run.ts";

const { at, folder } = testFolder("queue");
/** What one process makes, to which all others are held. */
const alone = { boards: "", study: "" };
beforeAll(async () => {
  await saveTinyModel(at("model.safetensors"));
  alone.boards = await printed(...boards());
  alone.study = await printed(...study("alone"));
});

/** All files below a folder, by name. */
const filesIn = (place: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(place, { recursive: true, encoding: "utf8" })
      .filter((name) => statSync(join(place, name)).isFile())
      .sort()
      .map((name) => [name, readFileSync(join(place, name), "base64")]),
  );

const study = (out: string): string[] => [
  ...["chess", "study", "--model", at("model.safetensors"), "--out", at(out), "--w", "0.95,1"],
  ...["--count", "4", "--batch", "2", "--steps", "3,5", "--seed", "2", "--json"],
];
const boards = (...more: string[]): string[] => [
  ...[
    "chess",
    "sample",
    "--model",
    at("model.safetensors"),
    "--count",
    "11",
    "--batch",
    "3",
    "--steps",
    "3",
  ],
  ...["--format", "fen", ...more],
];

describe("work as jobs", () => {
  it("gives the same result in shards that run one after the other and are collected", async () => {
    expect(alone.boards.trim().split("\n")).toHaveLength(11);
    const out = at("boards.fen");
    for (const shard of ["1/3", "3/3"]) {
      const said = await printed(...boards("--out", out, "--shard", shard));
      expect(said).toMatch(
        new RegExp(`^shard ${shard}: [12] jobs in .*boards.fen.jobs; the command without --shard`),
      );
    }
    // The shard that is missing is done here.
    await printed(...boards("--out", out));
    expect(readFileSync(out, "utf8")).toBe(alone.boards);
    expect(readdirSync(`${out}.jobs`)).toHaveLength(3);

    await printed(...study("two"), "--shard", "1/2");
    await printed(...study("two"), "--shard", "2/2");
    expect(await printed(...study("two"))).toBe(alone.study);
  });

  it("gives the same rows of a table in one process and in shards", async () => {
    const rows = Array.from({ length: 60 }, (_, i) => `${1 + Math.cos(3 * i) / 10},${Math.sin(i)}`);
    writeFileSync(at("rows.csv"), `x,y\n${rows.join("\n")}\n`);
    // Of two seeds the better one, fitted one after the other, or each as a job.
    const fit = (out: string, ...more: string[]): string[] => [
      ...[
        "table",
        "fit",
        at("rows.csv"),
        "--out",
        at(out),
        "--steps",
        "1",
        "--seeds",
        "2",
        "--threads",
        "1",
      ],
      ...[
        "--map",
        "affine-flow",
        "--network",
        "transformer",
        "--no-given",
        "--no-evaluate",
        ...more,
      ],
    ];
    await printed(...fit("seeds.model"));
    await printed(...fit("seed-jobs.model", "--shard", "1/2"));
    await printed(
      ...fit("seed-jobs.model", "--jobs", at("seed-jobs.model.jobs"), "--shard", "2/2"),
    );
    expect(
      await diffeo(...fit("no.model", "--queue", "redis://h", "--minutes", "1")),
    ).toMatchObject({ code: 2 });
    await printed(...fit("seed-jobs.model"));
    expect(readdirSync(at("seed-jobs.model.jobs"))).toHaveLength(2);
    expect(readFileSync(at("seed-jobs.model")).equals(readFileSync(at("seeds.model")))).toBe(true);
    const sample = [
      "table",
      "sample",
      "--model",
      at("seeds.model"),
      "--count",
      "10001",
      "--evaluations",
      "2",
    ];
    const whole = await printed(...sample);
    expect(whole.trim().split("\n")).toHaveLength(10_002);
    await printed(...sample, "--jobs", at("row-jobs"), "--shard", "2/2");
    expect(readdirSync(at("row-jobs"))).toHaveLength(1);
    expect(await printed(...sample, "--jobs", at("row-jobs"))).toBe(whole);
  });

  it("gives the same chains of a posterior, whose model is sent as a graph", async () => {
    writeFileSync(
      at("model.mjs"),
      `import { real } from "diffeo/domain";
       import { mul, square } from "diffeo/graph";
       export const parameters = { x: real() };
       export const logDensity = ({ x }) => mul(square(x), -0.5);`,
    );
    // A process of its own each: the model's imports are the command's.
    const infer = async (out: string, ...more: string[]): Promise<void> => {
      const words = [
        "--chains",
        "3",
        "--block",
        "1",
        "--draws",
        "20",
        "--warmup",
        "20",
        "--no-pictures",
        ...more,
      ];
      const { code, stderr } = await startDiffeo(
        "infer",
        at("model.mjs"),
        "--out",
        at(out),
        ...words,
      ).ended;
      expect([code, stderr]).toEqual([0, ""]);
    };
    await infer("posterior");
    await infer("pieces", "--shard", "2/2");
    expect(readdirSync(folder)).not.toContain("pieces");
    // With two workers chains are jobs: one is in the folder of shards, two are done now.
    await infer("pieces", "--workers", "2");
    expect(readdirSync(at("pieces.jobs"))).toHaveLength(1);
    expect(filesIn(at("pieces"))).toEqual(filesIn(at("posterior")));
  });

  it("has a plan, which a dry run prints", async () => {
    const plan = await printed(
      ...[
        "chess",
        "sample",
        "--model",
        at("model.safetensors"),
        "--count",
        "1000000",
        "--dry-run",
        "--shard",
        "7/1000",
      ],
      ...["--out", at("million.fen")],
    );
    expect(plan).toMatch(
      /^chess\/boards, version 1, on cpu: 15,625 jobs, 1,000,000 boards, up to 64 per job$/m,
    );
    expect(plan).toMatch(/^input [0-9a-f]{12}…: \d+\.\d MB, sent once$/m);
    expect(plan).toMatch(/^shard 7\/1000: 16 jobs, 1,024 boards$/m);
    expect(readdirSync(folder)).not.toContain("million.fen.jobs");
  });

  it.each([
    [["--shard", "4/3"], /is not a shard/],
    [["--shard", "1/2"], /--shard needs a folder.*--jobs FOLDER/],
    [["--queue", "redis://h", "--shard", "1/2"], /--queue and --shard cannot be combined/],
    [["--queue", "http://me:hush@h"], /does not name a server/],
    [["--queue", "redis://h", "--workers", "2"], /--workers starts processes on this machine/],
    [["--shard", "1/2", "--require", "legal", "--jobs", "x"], /the number of jobs is unknown/],
    [["--verify", "2"], /Give a number between 0 and 1/],
    [["--queue", "unix:///nowhere/s"], /cannot use unix:\/\/\/nowhere\/s \(ENOENT\)/],
  ])("names the error in %j", async (words, message) => {
    const { code, stderr } = await diffeo(...boards(...words));
    expect(code).toBeGreaterThan(0);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/hush/);
  });
});

it.runIf(!hasServer)("is skipped: redis-server is not installed", () =>
  expect(hasServer).toBe(false),
);

describe.runIf(hasServer)("a queue", () => {
  let server: Server;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.stop());

  it("gives the same bytes of a study with two workers as in one process", async () => {
    const workers = ["a", "b"].map((name) =>
      startDiffeo(
        "worker",
        "--queue",
        server.url,
        "--name",
        name,
        "--jobs",
        "1",
        "--cache",
        at("cache"),
      ),
    );
    const listed = async () => JSON.parse(await printed("queue", "--queue", server.url, "--json"));
    while ((await listed()).workers.length < workers.length)
      await new Promise((done) => setTimeout(done, 200));
    await printed(...study("shared"), "--queue", server.url);
    expect(filesIn(at("shared"))).toEqual(filesIn(at("alone")));
    expect(await printed(...boards("--queue", server.url))).toBe(alone.boards);
    const strict = ["--require", "K=1", "--count", "2"];
    expect(await printed(...boards(...strict, "--queue", server.url))).toBe(
      await printed(...boards(...strict)),
    );
    const { workers: there, queues, failures } = await listed();
    expect(there.map(({ name }: { name: string }) => name)).toEqual(["a", "b"]);
    expect([queues, failures]).toEqual([[{ device: "cpu", waiting: 0, active: 0, failed: 0 }], []]);
    expect(await printed("queue", "--queue", server.url, "--clear")).toMatch(
      /^cpu +0 +0 +0\n\nworker +host/m,
    );
    for (const { child } of workers) child.kill("SIGTERM");
    const done = (await Promise.all(workers.map(({ ended }) => ended))).map(({ code, stderr }) => {
      expect(code).toBe(0);
      return Number(/(\d+) jobs done, 0 failed/.exec(stderr)?.[1]);
    });
    expect(done.reduce((a, b) => a + b)).toBeGreaterThanOrEqual(8 + 4);
    // Whoever comes later finds the results, and needs no worker.
    await printed(...study("later"), "--queue", server.url);
    expect(filesIn(at("later"))).toEqual(filesIn(at("alone")));
  });
});
