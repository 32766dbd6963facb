/**
 * Servers that refuse: out of memory, read-only, users with too few rights. Commands and workers
 * end with the server's message, and so does a worker that is stopped while jobs wait.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, connect as connectSocket, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Queue } from "bullmq";
import { inputOf, jobOf, runJobs } from "diffeo/job";
import {
  descriptionOf,
  digestOf,
  openQueue,
  parseAddress,
  readQueues,
  serveQueue,
} from "diffeo-queue";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../src/node/redis/connection.ts";
import { RELEASE, reversed, still } from "./kinds.ts";
import { scripts } from "./processes.ts";
import { hasServer, type Server, startServer } from "./server.ts";

const file = { file: inputOf(Uint8Array.of(1)) };
const jobs = [
  jobOf(reversed, {}, { inputs: file }),
  jobOf(still, { ms: 60_000, n: 2 }, { inputs: {} }),
];
const described = (n: number) =>
  descriptionOf(jobOf(still, { ms: 60_000, n }, { inputs: {} }), RELEASE);

/** Runs a script as a process; resolves with its output when it has ended. */
function start(script: URL, args: readonly string[]) {
  const child = spawn(process.execPath, [script.pathname, ...args]);
  let said = "";
  child.stderr.on("data", (data) => {
    said += data;
  });
  child.stdout.resume();
  const ended = new Promise<{ code: number | null; said: string }>((resolve) =>
    child.once("exit", (code) => resolve({ code, said })),
  );
  return { child, ended };
}

describe.runIf(hasServer)("a server that refuses", () => {
  let server: Server;
  let client: Redis;
  const folder = mkdtempSync(join(tmpdir(), "diffeo-refusal-"));
  beforeAll(async () => {
    server = await startServer();
    client = new Redis({ path: server.url.slice("unix://".length) });
  });
  afterEach(async () => {
    await client.call("REPLICAOF", "NO", "ONE");
    await client.config("SET", "maxmemory", "0");
    await client.flushall();
  });
  afterAll(async () => {
    await client.quit();
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  /** The address with a user of the server; those of sockets name none. */
  const addressFor = (username?: string) => {
    const address = parseAddress(server.url);
    return username
      ? { ...address, options: { ...address.options, username, password: "pw" } }
      : address;
  };
  /** What a command of two jobs, and a worker, end with. */
  const outcomes = async (username?: string): Promise<readonly [string, string]> => {
    const address = addressFor(username);
    const asCommand = openQueue({ address, device: "cpu", release: RELEASE, say: () => undefined })
      .then(async (executor) => {
        const [settled, other] = await runJobs(executor, jobs);
        await executor.close();
        // One error for all jobs, so that it can be reported once.
        expect("error" in settled && "error" in other && settled.error === other.error).toBe(true);
        return "error" in settled ? settled.error.message : "done";
      })
      .catch((error: Error) => error.message);
    const asWorker = serveQueue({
      ...{ address, name: "one", release: RELEASE, device: "cpu" },
      ...{ jobs: 1, threads: 1, script: { url: scripts.process, execArgv: [] } },
      limits: { seconds: 60, bytes: 1e9 },
      cache: { folder: join(folder, "cache"), bytes: 1e6 },
      signal: AbortSignal.timeout(2000), // of a worker that the server does not refuse
      say: () => undefined,
    }).then(
      () => "done",
      (error: Error) => error.message,
    );
    return Promise.all([asCommand, asWorker]);
  };

  const users = [
    ["scripts", ["~*", "&*", "+@all", "-eval", "-evalsha"]],
    ["events", ["~*", "&*", "+@all", "-xread"]],
    ["the keys of the queue", ["~diffeo:bytes:*", "~diffeo:work*", "&*", "+@all"]],
    ["any key", ["~other:*", "&*", "+@all"]],
  ] as const;
  it.each(users)("ends both if the user has no permission for %s", async (name, rules) => {
    const id = `user${users.findIndex(([other]) => other === name)}`;
    await client.call("ACL", "SETUSER", id, "reset", "on", ">pw", ...rules);
    const [asCommand, asWorker] = await outcomes(id);
    expect(asCommand).toMatch(/^unix:.* refuses: NOPERM .*\. Give the user .* diffeo:\*/);
    // A worker has no use for events.
    if (name !== "events") expect(asWorker).toMatch(/refuses: NOPERM/);
  });

  it("ends both if the user's scripts have no permission for lists", async () => {
    await client.call("ACL", "SETUSER", "partial", "reset", "on", ">pw", "~*", "+@all", "-@list");
    for (const message of await outcomes("partial"))
      expect(message).toMatch(
        /refuses: .*(can't run this command|has no permissions).* Give the user/,
      );
  });

  it("ends both if it is full or read-only", async () => {
    await client.config("SET", "maxmemory", "1");
    for (const message of await outcomes())
      expect(message).toMatch(/^unix:.* refuses: OOM .*\. Give the server more memory/);
    await client.config("SET", "maxmemory", "0");
    await client.call("REPLICAOF", "127.0.0.1", "1");
    for (const message of await outcomes())
      expect(message).toMatch(/ refuses: READONLY .*\. Use the address of the primary/);
  });

  it("gives its reason to the command queue", async () => {
    await client.call("ACL", "SETUSER", "reader", "reset", "on", ">pw", "~other:*", "+@all");
    await expect(readQueues(addressFor("reader"))).rejects.toThrow(/refuses: NOPERM/);
  });

  it("leaves no process of a command behind", async () => {
    await client.config("SET", "maxmemory", "1");
    const { code, said } = await start(scripts.command, [server.url, "3", "1"]).ended;
    expect([code, /refuses: OOM/.test(said)]).toEqual([1, true]);
  });
});

describe.runIf(hasServer)("a worker with `once`", () => {
  it("ends when it is stopped while jobs wait", async () => {
    const server = await startServer();
    const client = new Redis({ path: server.url.slice(7), maxRetriesPerRequest: null });
    const raw = new Queue("jobs-cpu", { connection: client, prefix: "diffeo" });
    for (const each of [1, 2, 3].map(described))
      await raw.add(each.kind, each, { jobId: digestOf(each) });
    const { child, ended } = start(scripts.worker, [server.url, "one", "5", server.folder, "once"]);
    while ((await raw.getJobCounts("active")).active === 0)
      await new Promise((resolve) => setTimeout(resolve, 20));
    const began = performance.now();
    child.kill("SIGTERM");
    expect(await ended).toMatchObject({ code: 0 });
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(await raw.getJobCounts("wait", "active")).toEqual({ wait: 3, active: 0 });
    await raw.close();
    await client.quit();
    await server.stop();
  });
});

describe.runIf(hasServer)("a server that is frozen", () => {
  it("does not delay the stop of a command or a worker", async () => {
    const server = await startServer();
    const { url, folder } = server;
    const stop = new AbortController();
    const { child, ended } = start(scripts.worker, [url, "one", "5", folder]);
    const executor = await openQueue({
      ...{ address: parseAddress(url), device: "cpu", release: RELEASE },
      ...{ signal: stop.signal, say: () => undefined },
    });
    const settled = runJobs(executor, [jobOf(still, { ms: 60_000, n: 1 }, { inputs: {} })]);
    const client = new Redis({ path: url.slice(7), maxRetriesPerRequest: null });
    while ((await client.llen("diffeo:jobs-cpu:active")) === 0)
      await new Promise((resolve) => setTimeout(resolve, 20));
    process.kill(server.pid(), "SIGSTOP");
    child.kill("SIGTERM");
    stop.abort();
    expect(await settled).toEqual([{ error: stop.signal.reason }]);
    await executor.close();
    expect((await ended).code).toBe(0);
    client.disconnect();
    await server.stop();
  });
});

it.runIf(hasServer)(
  "a connection that loses a request is opened again, and the request is repeated",
  async () => {
    const server = await startServer();
    let swallows = false;
    const line = createServer((socket) => {
      const upstream = connectSocket(server.url.slice(7));
      socket.on("data", (data) => void (swallows || upstream.write(data)));
      socket.on("error", () => upstream.destroy()).on("close", () => upstream.destroy());
      upstream.on("data", (data) => socket.write(data)).on("close", () => socket.destroy());
    });
    await new Promise<void>((resolve) => line.listen(0, "127.0.0.1", resolve));
    const { port } = line.address() as AddressInfo;
    const said: string[] = [];
    const address = parseAddress(`redis://127.0.0.1:${port}`);
    const { client, close } = await connect(address, (text) => said.push(text), {
      answerMs: 500,
    });
    swallows = true;
    const question = client.set("a", "b");
    await new Promise((resolve) => setTimeout(resolve, 100));
    swallows = false;
    expect(await question).toBe("OK");
    expect(said.join()).toMatch(/is lost; reconnecting.*is restored/);
    await close();
    line.close();
    await server.stop();
  },
);
