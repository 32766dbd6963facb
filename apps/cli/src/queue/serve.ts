/**
 * diffeo worker: runs the jobs that commands put on a queue, until it is stopped or no job is left.
 * It does not listen on any port.
 */
import { availableParallelism, homedir, hostname, totalmem } from "node:os";
import { join } from "node:path";
import { Option } from "commander";
import { serveQueue } from "diffeo-queue";
import type { Declare, Io } from "../shell/io.ts";
import { addressOf, queueOption } from "../shell/job-options.ts";
import { processScript } from "../shell/jobs.ts";
import { integer, positive } from "../shell/options.ts";
import { acceptOldOption } from "../shell/renamed.ts";
import { version } from "../shell/version.ts";

interface ServeCommand {
  readonly queue: string;
  readonly name: string;
  readonly device: string;
  readonly threads: number;
  readonly jobs?: number;
  readonly memory?: number;
  readonly minutes: number;
  readonly lease: number;
  readonly cache: string;
  readonly cacheSize: number;
  readonly once?: boolean;
}

/** The cache folder of the user. */
const cacheFolder = (): string =>
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "diffeo", "inputs");

const GB = 1e9;

async function serve(io: Io, options: ServeCommand): Promise<void> {
  const { name, device, threads, minutes, lease, cache, cacheSize, once = false } = options;
  const address = addressOf(options.queue);
  const jobs =
    options.jobs ??
    (device === "cpu" ? Math.max(1, Math.floor(availableParallelism() / threads)) : 1);
  const bytes =
    options.memory === undefined ? Math.floor((0.9 * totalmem()) / jobs) : options.memory * GB;
  const say = (line: string): void => void io.stderr.write(`${line}\n`);
  say(
    `${name}: ${jobs} ${jobs === 1 ? "job" : "jobs"} at a time on ${device}, ${threads} ` +
      `${threads === 1 ? "thread" : "threads"} each, up to ${(bytes / GB).toFixed(1)} GB and ` +
      `${minutes} min; ${address.shown}`,
  );
  const { done, failed } = await serveQueue({
    ...{
      address,
      name,
      device,
      jobs,
      threads,
      release: version,
      script: processScript(),
      once,
      say,
    },
    limits: { seconds: minutes * 60, bytes },
    cache: { folder: cache, bytes: cacheSize * GB },
    leaseSeconds: lease,
    signal: io.signal,
  });
  say(`${done} jobs done, ${failed} failed`);
}

export const declare: Declare = (command, io) =>
  void acceptOldOption(
    command
      .addOption(queueOption().makeOptionMandatory())
      .addOption(
        new Option("--name <text>", "name of the worker in lists").default(
          hostname(),
          "name of the machine",
        ),
      )
      .addOption(
        new Option("--device <name>", "device whose jobs the worker takes")
          .choices(["cpu", "webgpu", "cuda"])
          .default("cpu"),
      )
      .option("--threads <n>", "threads per operation", integer(1, 1024), 1)
      .option(
        "--jobs <n>",
        "jobs at a time (default: as many as the cores allow; 1 on a GPU)",
        integer(1, 1024),
      )
      .option(
        "--memory <gb>",
        "memory limit per job in GB (default: an equal share of 90 % of this machine's memory)",
        positive,
      )
      .option("--minutes <x>", "time limit per job", positive, 24 * 60)
      .option(
        "--lease <seconds>",
        "seconds after which another worker takes over the job of a lost worker",
        integer(1, 86_400),
        20,
      )
      .addOption(
        new Option("--cache <folder>", "folder for the models and tables of jobs").default(
          cacheFolder(),
          "~/.cache/diffeo/inputs",
        ),
      )
      .option("--cache-size <gb>", "size limit of that folder", positive, 10)
      .option("--once", "end when no job is waiting"),
    io,
    "--parts",
    "--jobs",
  ).action((options) => serve(io, options));
