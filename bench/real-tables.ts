/**
 * npm run bench -- real-tables [SET …] --folder DATA [--work DIR] [--seeds N] [--splits N] [--steps
 * N | --minutes X] [--threads N] [--network NAME] [--parts generation,imputation] [--oracle]:
 * models with the default settings of `diffeo table fit` on tables with published results.
 *
 * DATA has the folders `tables` (Adult, Shoppers, Magic: part A) and `uci27` (thirteen small sets:
 * part B). Each set and seed is fitted, sampled and, in part B, completed; the program of measures
 * (`real-tables/measures.py`) measures the CSV files of the working folder (runs/real-tables). Each
 * result is recorded there, so that an interrupted run continues; with other settings it starts
 * again. Published results are printed too. With --oracle no model is fitted: the training rows of
 * part B are measured instead of synthetic ones, and compared with published figures.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { networkKinds } from "diffeo-tables";
import type { FitSettings } from "./real-tables/fitted.ts";
import { type Measures, openMeasures, pythonWithMeasures } from "./real-tables/measures.ts";
import { mixedTable } from "./real-tables/mixed.ts";
import { mixedSets, type SmallName, smallSets } from "./real-tables/published.ts";
import { tableLine } from "./real-tables/records.ts";
import {
  meanLine,
  oracleCells,
  type SmallLine,
  smallHeader,
  smallLine,
  smallParts,
} from "./real-tables/small.ts";

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

const refuse = (text: string): void => {
  process.stderr.write(`${text}\n`);
  process.exitCode = 2;
};

function asked() {
  const text = { type: "string" } as const;
  const { values, positionals } = parseArgs({
    args: process.argv.slice(3),
    allowPositionals: true,
    options: {
      ...{ folder: text, work: text, seeds: text, splits: text, steps: text, minutes: text },
      ...{ threads: text, network: text, parts: text, oracle: { type: "boolean" } },
    },
  });
  const number = (value: string | undefined) => (value === undefined ? undefined : Number(value));
  const settings: FitSettings = {
    steps: number(values.steps),
    minutes: number(values.minutes),
    threads: number(values.threads) ?? 2,
    network: networkKinds.find((kind) => kind === values.network),
  };
  return {
    settings,
    sets: positionals.length > 0 ? positionals : [...mixedSets, ...smallSets],
    folder: values.folder,
    parts: values.parts?.split(",") ?? smallParts,
    isOracle: values.oracle ?? false,
    work: values.work ?? join("runs", "real-tables"),
    seeds: upTo(number(values.seeds) ?? 5),
    splits: upTo(number(values.splits) ?? 3),
  };
}

type Say = (lines: readonly string[]) => void;

async function smallTables(
  names: readonly SmallName[],
  {
    folder,
    work,
    splits,
    settings,
    parts,
    isOracle,
  }: ReturnType<typeof asked> & { folder: string },
  measures: Measures,
  say: Say,
): Promise<void> {
  const head = isOracle
    ? ["oracle", "W_test: published", "measured", "coverage: published", "measured", "F1 or R²"]
    : smallHeader;
  if (names.length > 0) say(["", tableLine(head), tableLine(head.map(() => "---"))]);
  const lines: SmallLine[] = [];
  for (const name of names) {
    const [data, own] = [join(folder, "uci27"), join(work, name)];
    if (isOracle) say([tableLine(await oracleCells(name, data, own, splits, measures))]);
    else {
      const line = await smallLine(name, data, own, splits, { ...settings, parts }, measures);
      lines.push(line);
      say([tableLine(line.cells)]);
    }
  }
  if (lines.length > 1) say([meanLine(lines)]);
  for (const { failures } of lines) if (failures.length > 0) say(failures);
}

export async function run(): Promise<void> {
  const options = asked();
  const { settings, sets, folder, work, seeds, isOracle } = options;
  const strange = sets.filter((name) => ![...mixedSets, ...smallSets].includes(name as never));
  if (strange.length > 0)
    return refuse(
      `no set is named ${strange.join(", ")}; use ${[...mixedSets, ...smallSets].join(", ")}`,
    );
  if (folder === undefined)
    return refuse("give --folder, the folder that contains tables/ and uci27/");
  const python = pythonWithMeasures();
  if (python === undefined)
    return refuse(
      "no Python has NumPy, SciPy, scikit-learn, XGBoost and POT; install Debian's python3-sklearn, python3-xgboost and python3-pot, or set PYTHON to one that has them",
    );
  const measures = openMeasures(python);
  const say: Say = (lines) => void process.stdout.write(`${lines.join("\n")}\n`);
  say([`${python}: ${JSON.stringify(await measures.ask("versions"))}`]);
  const mixed = isOracle ? [] : mixedSets.filter((name) => sets.includes(name));
  for (const name of mixed)
    say(
      await mixedTable(name, join(folder, "tables"), join(work, name), seeds, settings, measures),
    );
  const small = smallSets.filter((name) => sets.includes(name));
  await smallTables(small, { ...options, folder }, measures, say);
  measures.close();
}
