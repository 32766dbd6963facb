/**
 * npm run bench -- ordinary-tables FILE … [--steps N] [--seconds S]: fits ordinary tables without
 * any rule, for example those of vega-datasets (npm) or R's data sets as `write.csv` writes them.
 * Each file is fitted for a few steps, in a separate process. A line states the number of columns of
 * each kind, and `fitted` or the message with which the command ended.
 */
import { spawn } from "node:child_process";
import { rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { tableLine } from "./real-tables/records.ts";

const MAIN = fileURLToPath(new URL("../apps/cli/src/main.ts", import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly seconds: number;
}

/** Runs the command, and stops it after a number of seconds. */
function diffeo(words: readonly string[], seconds: number): Promise<Ended> {
  const began = performance.now();
  const child = spawn(
    process.execPath,
    ["--conditions=diffeo-source", "--import", "tsx", MAIN, ...words],
    { timeout: seconds * 1000 },
  );
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (piece) => {
    stdout += piece;
  });
  child.stderr.on("data", (piece) => {
    stderr += piece;
  });
  return new Promise((done) => {
    child.on("close", (code) =>
      done({ code, stdout, stderr, seconds: (performance.now() - began) / 1000 }),
    );
  });
}

interface Report {
  readonly rows: number;
  readonly columns: readonly { readonly kind: string; readonly columns: readonly string[] }[];
}

/** The number of columns of each kind. */
function kindsOf({ columns }: Report): string {
  const counts = new Map<string, number>();
  for (const { kind, columns: own } of columns)
    counts.set(kind, (counts.get(kind) ?? 0) + own.length);
  return [...counts].map(([kind, count]) => `${count} ${kind}`).join(", ");
}

async function lineOf(file: string, steps: string, most: number): Promise<string> {
  const model = join(tmpdir(), `ordinary-${process.pid}.model`);
  const { code, stdout, stderr, seconds } = await diffeo(
    ["table", "fit", file, "--out", model, "--steps", steps, "--no-evaluate", "--json", "--force"],
    most,
  );
  await rm(model, { force: true });
  const size = `${((await stat(file)).size / 1000).toFixed(0)} kB`;
  const said = stderr.trim().split("\n").at(-1) ?? "";
  const isStopped = code === null || seconds >= most;
  if (code !== 0)
    return tableLine([
      basename(file),
      size,
      "–",
      isStopped ? "not ended" : said.slice(0, 300),
      seconds.toFixed(0),
    ]);
  const report = JSON.parse(stdout) as Report;
  return tableLine([
    basename(file),
    size,
    kindsOf(report),
    `fitted, ${report.rows} rows`,
    seconds.toFixed(0),
  ]);
}

export async function run(): Promise<void> {
  const text = { type: "string" } as const;
  const { values, positionals } = parseArgs({
    args: process.argv.slice(3),
    allowPositionals: true,
    options: { steps: text, seconds: text },
  });
  if (positionals.length === 0) {
    process.stderr.write("give files: CSV, JSON lines, lists of objects as JSON, or Parquet\n");
    process.exitCode = 2;
    return;
  }
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  const heading = ["file", "size", "columns", "result", "s"];
  say(tableLine(heading));
  say(tableLine(heading.map(() => "---")));
  for (const file of positionals)
    say(await lineOf(file, values.steps ?? "10", Number(values.seconds ?? 120)));
}
