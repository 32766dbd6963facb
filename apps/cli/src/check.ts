/**
 * diffeo check: checks a built-in map or a custom map, and prints the largest error of each
 * property and the point at which it occurs.
 */
import { existsSync } from "node:fs";
import { catalogue, mapNamed } from "diffeo/bijector";
import { checkMap, type MapReport, type PropertyResult, processProperties } from "diffeo/check";
import { fail } from "diffeo/graph";
import type { Declare, Io } from "./shell/io.ts";
import { type MapFile, mapFromFile } from "./shell/map-file.ts";
import { integers } from "./shell/options.ts";

interface CheckCommand {
  readonly map?: string;
  readonly event?: number[];
  readonly json?: boolean;
}

async function subjects({ map, event }: CheckCommand): Promise<MapFile[]> {
  if (map === undefined) return [...catalogue];
  return [existsSync(map) ? await mapFromFile(map, event) : mapNamed(map)];
}

const numbers = (values: readonly number[]): string =>
  `[${values
    .slice(0, 4)
    .map((v) => v.toPrecision(4))
    .join(", ")}${values.length > 4 ? ", …" : ""}]`;

function line({ name, worst, tolerance, pass, where }: PropertyResult): string {
  const mark = pass ? "✓" : "✗";
  return (
    `  ${mark} ${name.padEnd(62)}${worst.toExponential(1).padStart(9)}  ≤ ` +
    `${tolerance.toExponential(0).padEnd(6)}  x = ${numbers(where.x)}`
  );
}

function print(io: Io, { map, pass, properties }: MapReport): void {
  io.stdout.write(`${map}: ${pass ? "all checks passed" : "checks FAILED: do not use this map"}\n`);
  for (const property of properties) {
    io.stdout.write(`${line(property)}\n`);
    if (property.remedy) io.stdout.write(`      ${property.remedy}\n`);
  }
}

/** JSON has no infinities: an error that is not finite is written as a string. */
const jsonSafe = (_: string, value: unknown): unknown =>
  typeof value === "number" && !Number.isFinite(value) ? String(value) : value;

async function run(io: Io, options: CheckCommand): Promise<void> {
  const reports: MapReport[] = [];
  for (const { map, event, from } of await subjects(options)) {
    const report = await checkMap(map, { event, from, more: processProperties });
    reports.push(report);
    if (!options.json) print(io, report);
  }
  if (options.json) io.stdout.write(`${JSON.stringify(reports, jsonSafe, 2)}\n`);
  const failed = reports.filter((r) => !r.pass);
  if (failed.length > 0)
    fail(
      "numerical",
      `${failed.map((r) => r.map).join(", ")} failed ` +
        `${failed.reduce((n, r) => n + r.properties.filter((p) => !p.pass).length, 0)} checks`,
      "see the lines marked ✗",
    );
}

export const declare: Declare = (command, io) =>
  void command
    .option(
      "--map <name or file>",
      "a built-in map, or a module that exports one (default: all built-in maps)",
    )
    .option(
      "--event <sizes>",
      "shape of one event of x for a map from a file, such as 12 or 8,8,12",
      integers(1, 4096),
    )
    .option("--json", "print the report as JSON")
    .action((options) => run(io, options));
