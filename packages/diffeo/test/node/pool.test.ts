/**
 * Pools of worker processes: results, failures, and cleanup after a worker or its parent is killed.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { built } from "../../../../test/build.ts";
import { plainScripts } from "../../../../test/scripts.ts";
import { DiffeoError, fail } from "../../src/graph/index.ts";
import { openPool, type Pool } from "../../src/node/index.ts";
import { isAlive } from "../../src/node/process.ts";

const { script } = plainScripts({ script: new URL("./pool-worker.ts", import.meta.url) });
let pool: Pool;
const open = (workers: number): Pool => {
  pool = openPool(script, { workers, execArgv: [] });
  return pool;
};
afterEach(() => pool.close());

const until = async (so: () => boolean): Promise<void> => {
  while (!so()) await new Promise((resolve) => setTimeout(resolve, 5));
};

it("gives results in the order of the jobs, and forwards progress", async () => {
  const { run } = open(2);
  const said: unknown[] = [];
  const jobs = [1, 2, 3, 4].map((parameters) => ({ kind: "square", parameters }));
  const results = await Promise.all(
    jobs.map((job) => run(job, { onProgress: (p) => said.push(p) })),
  );
  expect(results).toEqual([1, 4, 9, 16]);
  expect(said.toSorted()).toEqual(["at 1", "at 2", "at 3", "at 4"]);
  expect(await run({ kind: "array", parameters: Float64Array.of(1, 2) })).toEqual(
    Float64Array.of(2, 4),
  );
});

it("runs its workers in an empty folder, which is removed with them", async () => {
  const { run, close } = open(1);
  const place = (await run({ kind: "place", parameters: null })) as Record<string, unknown>;
  expect(place).toMatchObject({ files: [] });
  expect(place.folder).not.toBe(process.cwd());
  await close();
  expect(existsSync(place.folder as string)).toBe(false);
});

it("reuses its workers, also after a job has failed", async () => {
  const { run } = open(1);
  const pid = await run({ kind: "pid", parameters: null });
  const broken = await run({ kind: "broken", parameters: null }).catch((error: unknown) => error);
  expect(broken).toBeInstanceOf(DiffeoError);
  expect(broken).toMatchObject({ kind: "data", message: "the job is broken. Mend it." });
  await expect(run({ kind: "odd", parameters: null })).rejects.toThrow("odd");
  await expect(run({ kind: "toString", parameters: null })).rejects.toThrow(
    'unknown kind of job "toString"',
  );
  expect(await run({ kind: "pid", parameters: null })).toBe(pid);
});

it("fails a job whose process died, and starts a new process for the next one", async () => {
  const { run } = open(1);
  const jobs = [
    { kind: "lost", parameters: null },
    { kind: "square", parameters: 3 },
    { kind: "left", parameters: 5 },
    { kind: "square", parameters: 4 },
  ];
  expect(await Promise.allSettled(jobs.map((job) => run(job)))).toEqual([
    { status: "rejected", reason: new Error("its process ended with SIGKILL") },
    { status: "fulfilled", value: 9 },
    { status: "rejected", reason: new Error("its process ended with code 5") },
    { status: "fulfilled", value: 16 },
  ]);
});

it("ends the process of an aborted job, and rejects aborted jobs that wait", async () => {
  const { run } = open(1);
  const controller = new AbortController();
  let pid = 0;
  const onProgress = (p: unknown): void => {
    pid = p as number;
    controller.abort(new Error("enough"));
  };
  const long = run(
    { kind: "forever", parameters: null },
    { onProgress, signal: controller.signal },
  );
  const waiting = run({ kind: "square", parameters: 2 }, { signal: controller.signal });
  await expect(long).rejects.toThrow("enough");
  await expect(waiting).rejects.toThrow("enough");
  expect(await run({ kind: "square", parameters: 2 })).toBe(4);
  expect(isAlive({ pid })).toBe(false);
  await expect(
    run({ kind: "square", parameters: 2 }, { signal: controller.signal }),
  ).rejects.toThrow("enough");
});

it("answers requests of a job, with an error if there is no answer", async () => {
  const { run } = open(1);
  const known: Readonly<Record<string, number>> = { a: 1, b: 20, c: 300 };
  const onAsk = async (name: unknown): Promise<unknown> =>
    known[name as string] ?? fail("data", `no ${name}`, "give it");
  expect(await run({ kind: "sum", parameters: ["c", "a", "b"] }, { onAsk })).toBe(321);
  const refused = await run({ kind: "sum", parameters: ["a", "z"] }, { onAsk }).catch(
    (error: unknown) => error,
  );
  expect(refused).toMatchObject({ kind: "data", message: "no z. Give it." });
  await expect(run({ kind: "sum", parameters: ["a"] })).rejects.toThrow("is not available");
});

it("ends a job that exceeds its time or memory, and continues", async () => {
  pool = openPool(script, { workers: 1, execArgv: [], limits: { bytes: 4e8 } });
  const large = pool.run({ kind: "large", parameters: 6e8 });
  await expect(large).rejects.toThrow(/GB of memory, the limit is 0.40 GB/);
  expect(await pool.run({ kind: "square", parameters: 3 })).toBe(9);
  await pool.close();
  pool = openPool(script, { workers: 1, execArgv: [], limits: { seconds: 0.5 } });
  await expect(pool.run({ kind: "forever", parameters: null })).rejects.toThrow(
    /took more than 0.5 s/,
  );
});

it("fails unfinished jobs when it is closed, and refuses further ones", async () => {
  const { run, close } = open(1);
  const jobs = [run({ kind: "forever", parameters: null }), run({ kind: "square", parameters: 1 })];
  const ended = Promise.allSettled(jobs);
  await close();
  for (const { status } of await ended) expect(status).toBe("rejected");
  await expect(run({ kind: "square", parameters: 1 })).rejects.toThrow("the pool is closed");
});

it("fails jobs of a missing script", async () => {
  pool = openPool(new URL("./none.ts", import.meta.url), {
    workers: 1,
    execArgv: ["--no-warnings"],
  });
  await expect(pool.run({ kind: "square", parameters: 1 })).rejects.toThrow(
    "its process ended with code 1",
  );
});

it("leaves no worker when its parent is killed", async () => {
  open(1);
  const folder = mkdtempSync(join(built(), "parent-"));
  const parent = join(folder, "parent.mjs");
  writeFileSync(
    parent,
    `import { openPool } from "diffeo/node";
     const pool = openPool(new URL(${JSON.stringify(script.href)}), { workers: 1 });
     pool.run({ kind: "forever", parameters: null }, { onProgress: (pid) => console.log(pid) });`,
  );
  const child = spawn(process.execPath, [parent], { stdio: ["ignore", "pipe", "inherit"] });
  const pid = Number(await new Promise((resolve) => child.stdout.once("data", resolve)));
  expect(isAlive({ pid })).toBe(true);
  child.kill("SIGKILL");
  await until(() => !isAlive({ pid }));
  rmSync(folder, { recursive: true });
});
