/**
 * Work on a queue whose workers and whose command are killed at random moments, and whose server is
 * killed and started again from its append-only file. What must come of it: all jobs, each once,
 * the bytes that one process makes.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { fold, key, uniform } from "diffeo/random";
import { parseAddress, readQueues } from "diffeo-queue";
import { Redis } from "ioredis";
import { scripts } from "./processes.ts";
import { startServer } from "./server.ts";

export interface Kills {
  readonly workers: number;
  readonly jobs: number;
  readonly ms: number;
  readonly workerKills: number;
  readonly commandKills: number;
  readonly restarts: number;
  /** Between two kills, in the mean. */
  readonly pauseMs: number;
  readonly leaseSeconds: number;
  readonly seed: number;
  readonly say?: (line: string) => void;
}

export interface Survived {
  /** Whether the bytes are those of the jobs done in one process. */
  readonly same: boolean;
  readonly results: number;
  readonly waiting: number;
  readonly active: number;
  readonly failed: number;
  readonly workerKills: number;
  readonly commandKills: number;
  readonly restarts: number;
  readonly seconds: number;
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const started = (script: URL, ...words: string[]): ChildProcess =>
  spawn(process.execPath, [fileURLToPath(script), ...words], {
    stdio: ["ignore", "pipe", "ignore"],
  });
const ended = (child: ChildProcess): Promise<unknown> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((end) => child.once("exit", end));

/** What the jobs give in one process. */
const expected = (jobs: number): string => {
  const all = createHash("sha256");
  for (let n = 0; n < jobs; n++) all.update(createHash("sha512").update(`job ${n}`).digest());
  return all.digest("hex");
};

/** Random moments: what happens next, and after how long. */
function momentsOf({
  workerKills,
  commandKills,
  restarts,
  pauseMs,
  seed,
}: Kills): { what: string; ms: number }[] {
  const events = [
    ...Array.from({ length: workerKills }, () => "worker"),
    ...Array.from({ length: commandKills }, () => "command"),
    ...Array.from({ length: restarts }, () => "server"),
  ];
  const order = uniform(fold(key(seed), "order"), [events.length]).data;
  const pauses = uniform(fold(key(seed), "pauses"), [events.length]).data;
  return events
    .map((what, i) => ({ what, at: order[i], ms: 2 * pauseMs * pauses[i] }))
    .sort((a, b) => a.at - b.at);
}

export async function survive(kills: Kills): Promise<Survived> {
  const { workers: size, jobs, ms, leaseSeconds, say = () => undefined } = kills;
  const began = performance.now();
  const server = await startServer();
  const worker = (i: number): ChildProcess =>
    started(scripts.worker, server.url, `worker ${i}`, String(leaseSeconds), server.folder);
  const workers = Array.from({ length: size }, (_, i) => worker(i));
  let output = "";
  const command = (): ChildProcess => {
    const child = started(scripts.command, server.url, String(jobs), String(ms));
    output = "";
    child.stdout?.on("data", (data) => {
      output += data;
    });
    return child;
  };
  let current = command();
  const done = { workerKills: 0, commandKills: 0, restarts: 0 };
  const happen: Readonly<Record<string, (i: number) => Promise<void>>> = {
    worker: async (i) => {
      workers[i % size].kill("SIGKILL");
      workers[i % size] = worker(i % size);
      done.workerKills++;
    },
    command: async () => {
      current.kill("SIGKILL");
      current = command();
      done.commandKills++;
    },
    server: async () => {
      await server.restart();
      done.restarts++;
    },
  };
  const client = new Redis({
    path: server.url.slice("unix://".length),
    maxRetriesPerRequest: null,
  });
  client.on("error", () => undefined); // it comes back with the server
  /** Waits until every worker runs a job, so that a kill interrupts one. */
  const atWork = async (): Promise<void> => {
    while (current.exitCode === null && (await client.llen("diffeo:jobs-cpu:active")) < size)
      await wait(20);
  };
  for (const [i, { what, ms: pause }] of momentsOf(kills).entries()) {
    await wait(pause);
    await atWork();
    if (current.exitCode !== null) break;
    say(`kills the ${what}`);
    await happen[what](i);
  }
  await ended(current);
  const [state] = (await readQueues(parseAddress(server.url))).queues;
  const results = (await client.keys("diffeo:result:*")).length;
  await client.quit();
  for (const child of workers) child.kill("SIGKILL");
  await Promise.all(workers.map(ended));
  await server.stop();
  return {
    same: output === expected(jobs),
    results,
    waiting: state?.waiting ?? 0,
    active: state?.active ?? 0,
    failed: state?.failed ?? 0,
    ...done,
    seconds: (performance.now() - began) / 1000,
  };
}
