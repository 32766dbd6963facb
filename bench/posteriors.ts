/**
 * npm run bench -- posteriors [PART [NAME …]]: posteriors beside published draws (agree), beside
 * closed forms (closed), ranks of the truth (calibration, hierarchies), approximations (approximate), metrics of chains
 * (metrics), effective draws beside
 * rstan (nineteen), and speed beside Stan, JAX and PyTorch (speed); all parts without one. What was measured is kept in studies/posteriors, a
 * piece a file, and docs/posteriors-results.md is written anew from it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { agree } from "./posteriors/agree.ts";
import { approximations } from "./posteriors/approximations.ts";
import { calibration } from "./posteriors/calibration.ts";
import { closedForms } from "./posteriors/closed.ts";
import { hierarchies } from "./posteriors/hierarchies.ts";
import { metrics } from "./posteriors/metrics.ts";
import { nineteen } from "./posteriors/nineteen.ts";
import { speed, stan } from "./posteriors/speed.ts";

const DOCUMENT = "docs/posteriors-results.md";

const parts: Readonly<Record<string, (only?: readonly string[]) => Promise<string>>> = {
  agree,
  closed: closedForms,
  calibration,
  hierarchies,
  approximate: approximations,
  metrics,
  nineteen,
  speed,
};

/** Puts a table between its marks in the document. */
function writeTable(part: string, table: string): void {
  const text = readFileSync(DOCUMENT, "utf8");
  const [begin, end] = [`<!-- ${part} -->`, `<!-- end of ${part} -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${DOCUMENT} has no place for ${part}`);
  writeFileSync(DOCUMENT, `${text.slice(0, from + begin.length)}\n${table}\n${text.slice(to)}`);
}

export async function run(): Promise<void> {
  const [part, ...names] = process.argv.slice(3);
  if (part === "stan") {
    process.stdout.write(`${await stan()}\n`);
    return;
  }
  for (const each of part === undefined ? Object.keys(parts) : [part]) {
    const measure = parts[each];
    if (!measure) throw new Error(`there is no part ${each}: ${Object.keys(parts).join(", ")}`);
    const table = await measure(names.length > 0 ? names : undefined);
    process.stdout.write(`${table}\n`);
    if (names.every((name) => name === "--again")) writeTable(each, table);
  }
}
