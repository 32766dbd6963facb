/**
 * npm run bench -- queue: the cost of a queue per job. Jobs that take 10 ms, 100 ms and 1 s run on
 * two local processes and on two workers of a queue, in turns in one run. Efficiency is the time of
 * the jobs over the time of both workers. Jobs that take no time measure how many jobs per second a
 * server, a command and its workers handle, and the processor time of each.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Executor, type Job, jobOf, runJobs } from "diffeo/job";
import { openLocal, openQueue, parseAddress } from "diffeo-queue";
import { RELEASE, spin } from "../packages/queue/test/kinds.ts";
import { hasServer, startServer } from "../packages/queue/test/server.ts";
import { median } from "./timing.ts";

const WORKERS = 2;
const ROUNDS = 3;
const flags = ["--conditions=diffeo-source", "--import", "tsx"];
const at = (name: string): URL => new URL(`../packages/queue/test/${name}`, import.meta.url);

let made = 0;
/** New jobs, without results on the server. */
const fresh = (count: number, ms: number): Job[] =>
  Array.from({ length: count }, () => jobOf(spin, { ms, n: made++ }, { inputs: {} }));

async function seconds(executor: Executor, jobs: readonly Job[]): Promise<number> {
  const began = performance.now();
  for (const settled of await runJobs(executor, jobs)) if ("error" in settled) throw settled.error;
  return (performance.now() - began) / 1000;
}

/** Processor time of a process in ms (Linux counts hundredths of a second). */
function processorMs(pid: number | undefined): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

/**
 * The throughput of jobs that take no time: jobs per second, and processor milliseconds per job in
 * each process.
 */
async function passingOn(
  executor: Executor,
  pids: Readonly<Record<string, number | undefined>>,
): Promise<string> {
  const count = 2000;
  const now = (): number[] => Object.values(pids).map(processorMs);
  const before = now();
  const time = await seconds(executor, fresh(count, 0));
  const each = now().map(
    (ms, i) => `${Object.keys(pids)[i]} ${((ms - before[i]) / count).toFixed(2)} ms`,
  );
  return `${(count / time).toFixed(0)} jobs per second; processor time per job: ${each.join(", ")}`;
}

export async function run(): Promise<void> {
  if (!hasServer) throw new Error("redis-server is not installed");
  const server = await startServer();
  const workers = Array.from({ length: WORKERS }, (_, i) =>
    spawn(process.execPath, [
      ...flags,
      fileURLToPath(at("worker.ts")),
      server.url,
      `w${i}`,
      "20",
      server.folder,
    ]),
  );
  const local = openLocal({
    release: RELEASE,
    workers: WORKERS,
    script: { url: at("process.ts"), execArgv: flags },
  });
  const queue = await openQueue({
    address: parseAddress(server.url),
    device: "cpu",
    release: RELEASE,
    say: () => undefined,
  });
  try {
    for (const executor of [local, queue]) await seconds(executor, fresh(20, 50)); // all are at work
    const out = (cells: readonly string[]): void =>
      void process.stdout.write(`| ${cells.join(" | ")} |\n`);
    out(["job", "jobs", "local processes", "queue", "cost of the queue per job"]);
    out(["---", "---:", "---:", "---:", "---:"]);
    for (const [ms, count] of [
      [10, 400],
      [100, 80],
      [1000, 12],
    ]) {
      const times: number[][] = [[], []];
      for (let round = 0; round < ROUNDS; round++)
        for (const [k, executor] of [local, queue].entries())
          times[k].push(await seconds(executor, fresh(count, ms)));
      const [alone, queued] = times.map(median);
      const share = (time: number): string =>
        `${((100 * count * ms) / 1000 / (WORKERS * time)).toFixed(1)} %`;
      const cost = ((queued - alone) * 1000 * WORKERS) / count;
      out([`${ms} ms`, String(count), share(alone), share(queued), `${cost.toFixed(1)} ms`]);
    }
    const command = { command: process.pid };
    const all = {
      ...command,
      server: server.pid(),
      "first worker": workers[0].pid,
      "second worker": workers[1].pid,
    };
    process.stdout.write(
      `jobs that take no time\n  local processes: ${await passingOn(local, command)}\n`,
    );
    process.stdout.write(`  queue: ${await passingOn(queue, all)}\n`);
  } finally {
    await local.close();
    await queue.close();
    for (const worker of workers) worker.kill("SIGKILL");
    await server.stop();
  }
}
