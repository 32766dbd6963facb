/**
 * diffeo worker: does jobs that commands put on a queue, until it is stopped or none is left. It
 * listens on no port.
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

/** Where programs keep what they can fetch again. */
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
    `${name}: ${jobs} ${jobs === 1 ? "job" : "jobs"} at a time on ${device}, ${threads} ${threads === 1 ? "thread" : "threads"} each, up to ${(bytes / GB).toFixed(1)} GB and ${minutes} min; ${address.shown}`,
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
          "the name of the machine",
        ),
      )
      .addOption(
        new Option("--device <name>", "whose jobs to take")
          .choices(["cpu", "webgpu", "cuda"])
          .default("cpu"),
      )
      .option("--threads <n>", "threads of one operation", integer(1, 1024), 1)
      .option(
        "--jobs <n>",
        "jobs at a time (default: as many as have cores; 1 on a GPU)",
        integer(1, 1024),
      )
      .option(
        "--memory <gb>",
        "the most a job may take (default: its share of 90 % of this machine)",
        positive,
      )
      .option("--minutes <x>", "the most a job may take", positive, 24 * 60)
      .option(
        "--lease <seconds>",
        "how long a job of a lost worker waits until another takes it",
        integer(1, 86_400),
        20,
      )
      .addOption(
        new Option("--cache <folder>", "where models and tables are kept").default(
          cacheFolder(),
          "~/.cache/diffeo/inputs",
        ),
      )
      .option("--cache-size <gb>", "the most that is kept there", positive, 10)
      .option("--once", "end when no job waits"),
    io,
    "--parts",
    "--jobs",
  ).action((options) => serve(io, options));
