/**
 * diffeo queue: lists the jobs, workers and failures on a server; --clear removes waiting and
 * failed jobs.
 */
import { clearQueues, type QueueOverview, readQueues } from "diffeo-queue";
import type { Declare, Io } from "../shell/io.ts";
import { addressOf, queueOption } from "../shell/job-options.ts";
import { visible } from "../shell/visible.ts";

interface ListCommand {
  readonly queue: string;
  readonly clear?: boolean;
  readonly json?: boolean;
}

/** Lays out rows in columns that are as wide as their cells. */
function columns(rows: readonly (readonly (string | number)[])[]): string {
  const widths = rows[0].map((_, j) => Math.max(...rows.map((row) => String(row[j]).length)));
  const line = (row: readonly (string | number)[]): string =>
    row
      .map((cell, j) =>
        typeof cell === "number" ? String(cell).padStart(widths[j]) : cell.padEnd(widths[j]),
      )
      .join("  ");
  return rows.map((row) => `${line(row).trimEnd()}\n`).join("");
}

function text({ address, queues, workers, failures }: QueueOverview): string {
  const none = queues.length === 0 ? "no jobs and no workers\n" : "";
  const sections = [
    queues.length > 0 &&
      columns([
        ["queue", "waiting", "active", "failed"],
        ...queues.map(({ device, waiting, active, failed }) => [device, waiting, active, failed]),
      ]),
    workers.length > 0 &&
      columns([
        ["worker", "host", "device", "jobs", "threads", "release", "active", "done", "failed"],
        ...workers.map(
          ({ name, host, pid, device, jobs, threads, release, active, done, failed }) => [
            ...[name, `${host}:${pid}`, device, jobs, threads, release, active, done, failed],
          ],
        ),
      ]),
    failures.length > 0 &&
      failures
        .map(
          ({ job, kind, parameters, attempts, reason }) =>
            `failed ${attempts} times: ${kind} ${JSON.stringify(parameters)?.slice(0, 200)} ` +
            `(${job.slice(0, 12)}…)\n  ${reason}\n`,
        )
        .join(""),
  ];
  return [`${address}\n${none}`, ...sections.filter((section) => section !== false)].join("\n");
}

async function list(io: Io, { queue, clear = false, json = false }: ListCommand): Promise<void> {
  const address = addressOf(queue);
  if (clear) await clearQueues(address);
  const overview = await readQueues(address);
  io.stdout.write(json ? `${JSON.stringify(overview, undefined, 1)}\n` : visible(text(overview)));
}

export const declare: Declare = (command, io) =>
  void command
    .addOption(queueOption().makeOptionMandatory())
    .option("--clear", "remove waiting and failed jobs; results stay")
    .option("--json", "print JSON")
    .action((options) => list(io, options));
