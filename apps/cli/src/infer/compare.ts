/**
 * diffeo compare: compares models by leave-one-out cross-validation, from runs of `infer --loo`.
 */
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { DiffeoError, fail } from "diffeo/graph";
import { type Compared, compare, type Loo } from "diffeo/mcmc";
import type { Declare } from "../shell/io.ts";

async function looOf(folder: string): Promise<Loo> {
  const path = join(folder, "loo.json");
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw new DiffeoError(
      "data",
      `${folder} contains no cross-validation`,
      "run diffeo infer with --loo",
      { cause: error },
    );
  });
  try {
    return parseLoo(JSON.parse(text));
  } catch (error) {
    throw new DiffeoError(
      "data",
      `${path} is not a result of cross-validation: ${(error as Error).message}`,
      "run diffeo infer with --loo again",
      { cause: error },
    );
  }
}

/** A cross-validation as JSON, in which an infinite k̂ (of few draws) is not a number. */
function parseLoo(value: unknown): Loo {
  const found = value as Loo;
  const { elpd, elpdError, parameters, parametersError, unreliable } = found;
  const numbers = [elpd, elpdError, parameters, parametersError, unreliable];
  const rows: readonly Loo["pointwise"][number][] = found.pointwise;
  if (
    !Array.isArray(rows) ||
    [...numbers, ...rows.map((row) => row.elpd)].some((x) => typeof x !== "number")
  )
    throw new Error("a number is missing");
  const pointwise = rows.map((row) => ({ ...row, shape: row.shape ?? Number.POSITIVE_INFINITY }));
  return { ...found, pointwise };
}

const HEAD = ["", "elpd", "±", "difference", "±", "parameters", "k̂ > 0.7"];

/** One row per model, the best first. */
function table(rows: readonly Compared[]): string {
  const cells = [
    HEAD,
    ...rows.map((row) => [
      row.name,
      ...[row.elpd, row.elpdError, row.difference, row.differenceError, row.parameters].map((x) =>
        x.toFixed(1),
      ),
      String(row.unreliable),
    ]),
  ];
  const length = (text: string): number =>
    [...text.normalize("NFD").replaceAll(/\p{M}/gu, "")].length;
  const widths = HEAD.map((_, k) => Math.max(...cells.map((row) => length(row[k]))));
  const line = (row: readonly string[]): string =>
    row
      .map((text, k) => {
        const space = " ".repeat(widths[k] - length(text));
        return k === 0 ? text + space : space + text;
      })
      .join("  ");
  return `${cells.map(line).join("\n")}\n`;
}

export const declare: Declare = (command, io) =>
  void command
    .argument("<folders...>", "folders of runs of diffeo infer --loo, on the same data")
    .option("--json", "print the comparison as JSON")
    .addHelpText("after", "\nExample:\n  diffeo compare pooled/ hierarchy/\n")
    .action(async (folders: readonly string[], { json }: { readonly json?: boolean }) => {
      if (folders.length < 2) fail("usage", "there is only one run", "give at least two");
      const names = folders.map((folder) => basename(folder));
      const own = new Set(names).size === names.length ? names : folders;
      const models: Record<string, Loo> = {};
      for (const [i, folder] of folders.entries()) models[own[i]] = await looOf(folder);
      const rows = compare(models);
      io.stdout.write(json ? `${JSON.stringify(rows, undefined, 1)}\n` : table(rows));
    });
