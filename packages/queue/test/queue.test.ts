/**
 * Jobs on a real server: shared by commands, refused where they are hostile, handed back by a
 * worker that is stopped.
 */
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Queue, Worker } from "bullmq";
import {
  type Executor,
  type Input,
  inputOf,
  type Job,
  type JobDescription,
  jobOf,
  runJobs,
  type Settled,
} from "diffeo/job";
import {
  clearQueues,
  descriptionOf,
  digestOf,
  openQueue,
  parseAddress,
  readQueues,
  serveQueue,
  sha256,
} from "diffeo-queue";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { getResult, putResult } from "../src/node/redis/store.ts";
import { heartbeat } from "../src/node/redis/workers.ts";
import { gated, large, lines, RELEASE, reversed, spin, still } from "./kinds.ts";
import { scripts } from "./processes.ts";
import { hasServer, type Server, startServer } from "./server.ts";

const setting = { inputs: {} };
const described = (job: Job): JobDescription => descriptionOf(job, RELEASE);
const reversing = (file: Input<Uint8Array>) => jobOf(reversed, {}, { inputs: { file } });
const spins = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => jobOf(spin, { ms: 5, n: from + i }, setting));
const until = async (so: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await so())) await new Promise((resolve) => setTimeout(resolve, 20));
};

it.runIf(!hasServer)("is skipped: redis-server is not installed", () =>
  expect(hasServer).toBe(false),
);

describe.runIf(hasServer)("a queue", () => {
  let server: Server;
  let client: Redis;
  let raw: Queue;
  const said: string[] = [];
  const closing: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    server = await startServer();
    client = new Redis({ path: server.url.slice("unix://".length), maxRetriesPerRequest: null });
    raw = new Queue("jobs-cpu", { connection: client, prefix: "diffeo" });
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
    await clearQueues(parseAddress(server.url));
    said.length = 0;
  });
  afterAll(async () => {
    await raw.close();
    await client.quit();
    await server.stop();
  });

  const command = async (signal?: AbortSignal): Promise<Executor> => {
    const executor = await openQueue({
      ...{
        address: parseAddress(server.url),
        device: "cpu",
        release: RELEASE,
        signal,
      },
      say: (line) => said.push(line),
    });
    closing.push(() => executor.close());
    return executor;
  };
  const worker = (more: { once?: boolean; bytes?: number; jobs?: number } = {}) => {
    const controller = new AbortController();
    const ended = serveQueue({
      ...{
        address: parseAddress(server.url),
        name: "one",
        release: RELEASE,
        device: "cpu",
        threads: 1,
      },
      jobs: more.jobs ?? 1,
      script: { url: scripts.process, execArgv: [] },
      limits: { seconds: 60, bytes: more.bytes ?? 1e9 },
      cache: { folder: join(server.folder, "cache"), bytes: 1e8 },
      leaseSeconds: 1,
      once: more.once ?? false,
      signal: controller.signal,
      say: (line) => said.push(line),
    });
    const stop = (): typeof ended => {
      controller.abort();
      return ended;
    };
    closing.push(stop);
    return { ended, stop };
  };

  it("runs shared jobs of two commands once, sends a file once, and ends with --once when no job is waiting", async () => {
    const file = new Uint8Array(9e6).map((_, i) => i * i);
    const [a, b] = [await command(), await command()];
    const jobs: Job<object, object, Uint8Array>[] = [...spins(0, 8), reversing(inputOf(file))];
    const results = Promise.all([runJobs(a, jobs), runJobs(b, jobs)]);
    await until(async () => (await raw.getJobCounts("wait")).wait === 9);
    expect(await client.keys("diffeo:bytes:*")).toHaveLength(4); // 4 + 4 + 1 MB, and what says so
    expect(await worker({ once: true }).ended).toEqual({ done: 9, failed: 0 });
    const [first, second] = await results;
    // Results name their bytes by digest, and are held to it when they are read.
    const digests = (settled: readonly Settled<Uint8Array>[]) =>
      settled.map((each) => "result" in each && sha256(each.result.value));
    expect(digests(second)).toEqual(digests(first));
    expect(
      "result" in first[8] && Buffer.from(first[8].result.value).equals(file.toReversed()),
    ).toBe(true);
    // And again, without anyone to do them: the results are there.
    expect(digests(await runJobs(await command(), jobs))).toEqual(digests(first));
    expect(await readQueues(parseAddress(server.url))).toMatchObject({
      queues: [],
      workers: [],
      failures: [],
    });
    // A result whose bytes another has changed is none: it is made again.
    const [own] = digests(first);
    await client.set(`diffeo:bytes:${own}:0`, "not those");
    const again = runJobs(await command(), jobs);
    await until(async () => (await raw.getJobCounts("wait")).wait === 1);
    expect(await worker({ once: true }).ended).toEqual({ done: 1, failed: 0 });
    expect(digests(await again)).toEqual(digests(first));
    expect(said).toContainEqual(expect.stringMatching(/^no worker for cpu is connected to unix:/));
  });

  it("refuses each hostile job with a sentence, and continues", async () => {
    const [own] = spins(50, 1);
    const good = described(own);
    const forged = Uint8Array.of(1, 2, 3);
    const named = (job: JobDescription, id = digestOf(job)) =>
      raw.add(job.kind, job, { jobId: id, attempts: 1 });
    await named({ ...good, kind: "test/unknown" });
    await named({ ...good, version: 7 });
    await named({ ...good, release: "9.9.9" });
    await named(good, "0123abcd");
    await named({ ...good, parameters: { text: "x".repeat(1e5) } }, "oversized");
    await named({ ...good, parameters: { ms: 1e9, n: "rm -rf /" } });
    const back = described(reversing(inputOf(forged)));
    await named({ ...back, inputs: { file: "f".repeat(64) } });
    await named(back);
    await named({ ...back, inputs: { file: "e".repeat(64) } });
    await client.set(`diffeo:bytes:${"e".repeat(64)}`, JSON.stringify({ bytes: 3e8, chunks: 80 }));
    await named(described(jobOf(large, { size: 3e8 }, setting)));
    await client.set(`diffeo:bytes:${sha256(forged)}`, JSON.stringify({ bytes: 3, chunks: 1 }));
    await client.set(`diffeo:bytes:${sha256(forged)}:0`, Buffer.from([9, 9, 9]));
    await raw.add("code", "process.exit(1)", { jobId: "text", attempts: 1 });
    const { stop } = worker({ bytes: 2.5e8 });
    const [settled] = await runJobs(await command(), [own]);
    expect("result" in settled).toBe(true);
    await until(() => said.length >= 11);
    const all = said.join("\n");
    for (const sentence of [
      /\(test\/unknown\) failed: this worker does not know jobs of kind test\/unknown/,
      /the job is for version 7 of test\/spin, but this worker has version 1/,
      /the job is for release 9.9.9, but this worker has 0.0.0-test/,
      /a job with digest [0-9a-f]{12}… has the name 0123abcd/,
      /the description of a job has 100,\d{3} characters/,
      /parameters of test\/spin are wrong at n/,
      /the bytes ffffffffffff… are not on the server/,
      /on the server do not match their digest/,
      /eeeeeeeeeeee… has 300\.0 MB, more than the limit of 250\.0 MB/,
      /GB of memory|more than the memory limit of a job/,
      /\(code\) failed: the description of a job is wrong at its beginning/,
    ])
      expect(all).toMatch(sentence);
    const { failures, queues } = await readQueues(parseAddress(server.url));
    expect([failures.length, queues]).toEqual([
      11,
      [{ device: "cpu", waiting: 0, active: 0, failed: 11 }],
    ]);
    expect(await stop()).toEqual({ done: 1, failed: 11 });
    const gpu = { ...own, device: "cuda" };
    await expect((await command()).run(gpu)).rejects.toThrow(
      "the job is for cuda, but this queue is for cpu",
    );
    // Jobs that wait, those that wait for later too, and those that failed are taken away.
    await named(good);
    await raw.add(good.kind, good, { jobId: "later", delay: 1e6 });
    expect((await readQueues(parseAddress(server.url))).queues).toMatchObject([
      { waiting: 2, failed: 11 },
    ]);
    await clearQueues(parseAddress(server.url));
    expect((await readQueues(parseAddress(server.url))).queues).toEqual([]);
    expect(await client.smembers("diffeo:workers")).toEqual([]);
  });

  it("gets the jobs of a stopped worker back at once, and retries failed jobs when the command is repeated", async () => {
    const long = [58, 59].map((n) => described(jobOf(still, { ms: 3e4, n }, setting)));
    for (const job of long) await raw.add(job.kind, job, { jobId: digestOf(job) });
    const { stop } = worker({ jobs: 2 });
    await until(async () => (await readQueues(parseAddress(server.url))).workers[0]?.active === 2);
    await stop();
    expect(await raw.getJobCounts("wait", "active")).toEqual({ wait: 2, active: 0 });
    // A job that is done by then does not run again.
    const bytes = Uint8Array.of(1, 2);
    const result = { bytes, sha256: sha256(bytes), seconds: 1, worker: "another" };
    for (const job of long) await putResult(client, digestOf(job), result);
    const began = performance.now();
    expect(await worker({ once: true }).ended).toEqual({ done: 2, failed: 0 });
    expect(performance.now() - began).toBeLessThan(3e4);
    // A job that failed before, for another reason than it will now.
    const [again] = spins(61, 1);
    const unknown = { ...again, kind: { ...spin, name: "test/unknown" } };
    for (const job of [again, unknown].map(described))
      await raw.add(job.kind, job, { jobId: digestOf(job), attempts: 1 });
    const once = new Worker("jobs-cpu", async () => Promise.reject(new Error("a bad day")), {
      ...{ connection: client, prefix: "diffeo" },
    });
    await until(async () => (await raw.getJobCounts("failed")).failed >= 2);
    await once.close();
    worker();
    const [done, failed] = await runJobs(await command(), [again, unknown]);
    expect("result" in done).toBe(true);
    // Earlier failures do not count.
    expect("error" in failed && String(failed.error)).toMatch(
      /failed 1 times: this worker does not know jobs of kind/,
    );
  });

  it("keeps the first of two different results, with a message", async () => {
    const folder = mkdtempSync(join(server.folder, "gate-"));
    const own = jobOf(gated, { folder, n: 70 }, setting);
    const job = described(own);
    await raw.add(job.kind, job, { jobId: digestOf(job) });
    worker();
    await until(() => existsSync(join(folder, "began")));
    const bytes = Uint8Array.of(1, 2);
    await putResult(client, digestOf(job), {
      bytes,
      sha256: sha256(bytes),
      seconds: 1,
      worker: "another",
    });
    writeFileSync(join(folder, "go"), "");
    await until(() =>
      said.some((line) =>
        /^job [0-9a-f]{12}… has a different result on this worker than/.test(line),
      ),
    );
    const [settled] = await runJobs(await command(), [own]);
    expect("result" in settled && settled.result).toMatchObject({
      value: bytes,
      worker: "another",
    });
  });

  it("finds jobs that a server has lost, receives events of done jobs, and ends with its signal", async () => {
    const file = new Uint8Array(9e6).map((_, i) => i * i + 1);
    const controller = new AbortController();
    const executor = await command(controller.signal);
    const results = runJobs(executor, [reversing(inputOf(file))]);
    const isWaiting = async (): Promise<boolean> => (await raw.getJobCounts("wait")).wait === 1;
    const nobody = (): number => said.filter((line) => line.startsWith("no worker for")).length;
    await until(async () => (await isWaiting()) && nobody() === 1);
    const chunk = `diffeo:bytes:${sha256(file)}:1`;
    await client.del(chunk);
    await raw.drain();
    const other = heartbeat(client, "other", () => ({
      ...{
        name: "other",
        host: "",
        pid: 1,
        release: RELEASE,
        device: "cuda",
        jobs: 7,
        threads: 1,
      },
      ...{ limits: { seconds: 1, bytes: 1 }, done: 0, failed: 0, active: 0 },
    }));
    closing.push(other.end);
    // Some seconds later, and again some.
    const now = performance.now();
    const clock = vi.spyOn(performance, "now").mockReturnValue(now + 1e4);
    try {
      await until(async () => (await isWaiting()) && (await client.exists(chunk)) === 1);
      expect([executor.workers(), nobody()]).toEqual([0, 1]);
      worker({ jobs: 2 });
      await until(async () => (await readQueues(parseAddress(server.url))).workers.length === 2);
      clock.mockReturnValue(now + 2e4);
      await results;
      await until(() => executor.workers() === 2);
      // Time stands still: nobody looks.
      const [settled] = await runJobs(executor, spins(80, 1));
      expect("result" in settled).toBe(true);
    } finally {
      clock.mockRestore();
    }
    const waiting = executor.run(jobOf(still, { ms: 3e4, n: 81 }, setting));
    controller.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
  });

  it("runs a job again if its result does not fit, and fails if it never fits", async () => {
    const job = jobOf(lines, { count: 3 }, setting);
    const digest = digestOf(described(job));
    const put = async (text: string): Promise<void> => {
      const bytes = Buffer.from(text);
      const result = { bytes, sha256: sha256(bytes), seconds: 1, worker: "a wrong one" };
      await putResult(client, digest, result);
    };
    await put("line 1");
    const { stop } = worker();
    const first = (await command()).run(job);
    expect((await first).value).toEqual(["line 1", "line 2", "line 3"]);
    expect(said).toContainEqual(
      `the result of job ${digest.slice(0, 12)}… by a wrong one is not used: it has 1 lines, but the job has 3; the job runs again`,
    );
    await stop();
    // A worker that always gives the same wrong result.
    await client.del(`diffeo:result:${digest}`);
    const liar = new Worker("jobs-cpu", async () => put("nothing"), {
      ...{ connection: client, prefix: "diffeo" },
    });
    await expect((await command()).run(job)).rejects.toThrow(
      /by a wrong one is not used: a result of test\/lines is not lines. This happened 3 times: stop/,
    );
    await liar.close();
    // It is not there to fail for a week.
    expect(await client.exists(`diffeo:result:${digest}`)).toBe(0);
  });

  it("removes a result with wrong bytes, so that another can be stored", async () => {
    const bytes = new Uint8Array(5e6).map((_, i) => i * i + 2);
    const result = { bytes, sha256: sha256(bytes), seconds: 1, worker: "one" };
    // Other bytes, and more than there should be.
    for (const wrong of [new Uint8Array(5e6 - 4 * 2 ** 20), new Uint8Array(1e6)]) {
      await putResult(client, "job", result);
      await client.set(`diffeo:bytes:${result.sha256}:1`, Buffer.from(wrong));
      expect(await getResult(client, "job")).toBeUndefined();
    }
    await putResult(client, "job", result);
    expect((await getResult(client, "job"))?.sha256).toBe(result.sha256);
  });

  it("does not accept the result of one job for another", async () => {
    const [one, other] = spins(90, 2);
    const [key, copied] = [one, other].map((job) => `diffeo:result:${digestOf(described(job))}`);
    const { stop } = worker();
    const executor = await command();
    const { value } = await executor.run(one);
    await executor.run(other);
    await client.set(key, (await client.get(copied)) as string);
    expect(sha256((await executor.run(one)).value as Uint8Array)).toBe(sha256(value as Uint8Array));
    expect(await client.get(key)).not.toBe(await client.get(copied));
    await stop();
  });

  it("replaces keys that hold a list instead of a string", async () => {
    const job = jobOf(lines, { count: 3 }, setting);
    const digest = digestOf(described(job));
    const poison = async (key: string): Promise<void> => {
      await client.del(key);
      await client.lpush(key, "x");
    };
    // The result itself, before it is read and before it is written.
    await poison(`diffeo:result:${digest}`);
    expect(await getResult(client, digest)).toBeUndefined();
    expect(await client.exists(`diffeo:result:${digest}`)).toBe(0);
    await poison(`diffeo:result:${digest}`);
    worker();
    expect((await (await command()).run(job)).value).toEqual(["line 1", "line 2", "line 3"]);
    // The size and the pieces of its bytes.
    const bytes = new Uint8Array(5e6).map((_, i) => i * i + 3);
    const own = { bytes, sha256: sha256(bytes), seconds: 1, worker: "one" };
    for (const key of ["", ":0", ":1"]) {
      await putResult(client, "poisoned", own);
      await poison(`diffeo:bytes:${own.sha256}${key}`);
      expect(await getResult(client, "poisoned")).toBeUndefined();
      await poison(`diffeo:bytes:${own.sha256}${key}`);
    }
    await putResult(client, "poisoned", own);
    expect((await getResult(client, "poisoned"))?.sha256).toBe(own.sha256);
  });

  it("reports a missing password, and shows none", async () => {
    const locked = await startServer("--requirepass", "hush");
    const open = (url: string) =>
      readQueues(parseAddress(url)).catch((error: Error) => error.message);
    const missing = await open(locked.url);
    expect(missing).toMatch(/^cannot use unix:.* \(.*NOAUTH.*DIFFEO_QUEUE_PASSWORD/);
    const wrong = await readQueues(parseAddress(locked.url, "guess")).catch(
      (error: Error) => error.message,
    );
    expect(wrong).toMatch(/cannot use .*WRONGPASS/);
    expect(wrong).not.toMatch(/guess/);
    expect(await readQueues(parseAddress(locked.url, "hush"))).toMatchObject({ queues: [] });
    await locked.stop();
    expect(await open(locked.url)).toMatch(
      /^cannot use .* \((ENOENT|ECONNREFUSED)\)\. Start a Redis or Valkey server/,
    );
  });
});
