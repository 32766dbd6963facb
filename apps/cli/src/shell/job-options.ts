/**
 * The options of commands that divide their work into jobs. With --queue, workers on any machine
 * run them; with --shard, this process runs some of them and stores the results in a shared folder;
 * otherwise local processes run them.
 */
import { existsSync } from "node:fs";
import { type Command, InvalidArgumentError, Option } from "commander";
import { fail } from "diffeo/graph";
import { parseShard, type Shard } from "diffeo/job";
import { parseAddress } from "diffeo-queue";
import type { Io } from "./io.ts";
import { integer, shareOrAll } from "./options.ts";
import { acceptOldOption } from "./renamed.ts";

export interface JobOptions {
  readonly queue?: string;
  readonly shard?: Shard;
  readonly jobs?: string;
  readonly workers?: number;
  /** The share of the jobs that run twice. */
  readonly verify?: number;
  readonly dryRun?: boolean;
}

const shard = (text: string): Shard => {
  try {
    return parseShard(text);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
};

export const queueOption = (): Option =>
  new Option(
    "--queue <url>",
    "a Redis or Valkey server: redis://host:6379, rediss://user:password@host, unix:///socket",
  );

/** Adds the options of work that is divided into jobs. */
export const withJobOptions = (command: Command, io: Io): Command =>
  acceptOldOption(
    command
      .addOption(queueOption().helpGroup("Many machines:"))
      .addOption(
        new Option(
          "--shard <i/n>",
          "run every n-th job, beginning with the i-th; the command without --shard collects " +
            "the results",
        )
          .argParser(shard)
          .helpGroup("Many machines:"),
      )
      .addOption(
        new Option(
          "--jobs <folder>",
          "folder in which shards store their jobs (default: --out with .jobs)",
        ).helpGroup("Many machines:"),
      )
      .addOption(
        new Option("--workers <n>", "processes on this machine")
          .argParser(integer(1, 1024))
          .helpGroup("Many machines:"),
      )
      .addOption(
        new Option(
          "--verify <share>",
          "run this share of the jobs twice, and fail if the bytes of two results differ",
        )
          .argParser(shareOrAll)
          .helpGroup("Many machines:"),
      )
      .addOption(
        new Option("--dry-run", "list the jobs without running them").helpGroup("Many machines:"),
      ),
    io,
    "--parts",
    "--jobs",
  );

/** Whether jobs run outside of this process, or shards have stored jobs in their folder. */
export const asJobs = (
  { queue, shard, jobs, workers = 1, verify, dryRun }: JobOptions,
  folder: string,
): boolean =>
  queue !== undefined ||
  shard !== undefined ||
  workers > 1 ||
  verify !== undefined ||
  dryRun === true ||
  existsSync(jobs ?? folder);

/** The address of a queue, from the options or the environment. */
export const addressOf = (url: string): ReturnType<typeof parseAddress> =>
  parseAddress(url, process.env.DIFFEO_QUEUE_PASSWORD);

/** The folder of shards: that of the option, or that of the command. */
export function folderOf(
  { jobs }: JobOptions,
  { folder }: { readonly folder?: string | undefined },
): string {
  return (
    jobs ??
    folder ??
    fail("usage", "--shard needs a folder for its jobs", "give --jobs FOLDER, or --out")
  );
}
