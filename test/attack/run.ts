/**
 * npm run attack -- [AREA…]: hostile inputs against the built command (`npm run build` first), each
 * in a separate process. Prints what went wrong, and a table. Environment: VERBOSE=1 prints every
 * run, KEEP=1 keeps the files, PATIENCE=4 multiplies all time limits.
 */
import { rmSync } from "node:fs";
import { counts, folder } from "./attack.ts";
import { determinism } from "./determinism.ts";
import { makeModel, models, tables } from "./files.ts";
import { life } from "./life.ts";
import { posteriors } from "./posteriors.ts";
import { queue } from "./queue.ts";
import { studio } from "./studio.ts";
import { supply } from "./supply.ts";

const areas: Readonly<Record<string, () => Promise<void>>> = {
  tables,
  models,
  posteriors,
  studio,
  queue,
  life,
  determinism,
  supply,
};

const named = process.argv.slice(2);
const unknown = named.find((name) => !Object.hasOwn(areas, name));
if (unknown) throw new Error(`unknown area ${unknown}. Areas: ${Object.keys(areas).join(", ")}`);
await makeModel();
for (const [name, run] of Object.entries(areas))
  if (named.length === 0 || named.includes(name)) await run();
console.log("| area | tried | injected | lost | wrong | crashed |\n|---|---:|---:|---:|---:|---:|");
for (const [area, { tried, injected, lost, wrong, crashed }] of counts)
  console.log(`| ${area} | ${tried} | ${injected} | ${lost} | ${wrong} | ${crashed} |`);
if (!process.env.KEEP) rmSync(folder, { recursive: true });
