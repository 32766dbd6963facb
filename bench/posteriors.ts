/**
 * npm run bench -- posteriors [PART [NAME …]]: posteriors compared with published draws (agree) and
 * with closed forms (closed), ranks of the truth (calibration, hierarchies), approximations
 * (approximate), metrics of chains (metrics), effective draws compared with rstan (nineteen),
 * chains that start without mass (restarts), and speed compared with Stan, JAX and PyTorch (speed).
 * Without PART, all of them. Measurements are kept in studies/posteriors, one file each, and the
 * tables of docs/results/posteriors.md are written from them.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { agree } from "./posteriors/agree.ts";
import { approximations } from "./posteriors/approximations.ts";
import { calibration } from "./posteriors/calibration.ts";
import { closedForms } from "./posteriors/closed.ts";
import { hierarchies } from "./posteriors/hierarchies.ts";
import { metrics } from "./posteriors/metrics.ts";
import { nineteen } from "./posteriors/nineteen.ts";
import { restarts } from "./posteriors/restarts.ts";
import { speed, stan } from "./posteriors/speed.ts";

const DOCUMENT = "docs/results/posteriors.md";

const parts: Readonly<Record<string, (only?: readonly string[]) => Promise<string>>> = {
  agree,
  closed: closedForms,
  calibration,
  hierarchies,
  approximate: approximations,
  metrics,
  nineteen,
  restarts,
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
    if (!measure) throw new Error(`unknown part ${each}. Parts: ${Object.keys(parts).join(", ")}`);
    const table = await measure(names.length > 0 ? names : undefined);
    process.stdout.write(`${table}\n`);
    if (names.every((name) => name === "--again")) writeTable(each, table);
  }
}
