/** Results as JSON, one file per set, seed and part, so that an interrupted run continues. */
import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { writeFileAtomic } from "diffeo/node";

interface Kept<T> {
  readonly config: object;
  readonly result?: T;
  readonly failed?: string;
}

/**
 * The result of `work`, from its record if there is one of the same settings. A failure is also
 * recorded and printed, and the run continues with the next set.
 */
export async function recorded<T>(
  path: string,
  config: object,
  work: () => Promise<T>,
): Promise<Kept<T>> {
  if (existsSync(path)) {
    const kept = JSON.parse(await readFile(path, "utf8")) as Kept<T>;
    if (JSON.stringify(kept.config) === JSON.stringify(config)) return kept;
  }
  await mkdir(dirname(path), { recursive: true });
  let kept: Kept<T>;
  try {
    kept = { config, result: await work() };
  } catch (error) {
    kept = { config, failed: (error as Error).message };
  }
  await writeFileAtomic(path, `${JSON.stringify(kept, undefined, 1)}\n`);
  return kept;
}

/** The mean and, for several values, the standard deviation. */
export function spread(values: readonly (number | null | undefined)[], digits = 3): string {
  const known = values.filter((v): v is number => typeof v === "number");
  if (known.length === 0) return "–";
  const mean = known.reduce((s, v) => s + v, 0) / known.length;
  if (known.length === 1) return mean.toFixed(digits);
  const variance = known.reduce((s, v) => s + (v - mean) ** 2, 0) / (known.length - 1);
  return `${mean.toFixed(digits)} ± ${Math.sqrt(variance).toFixed(digits)}`;
}

export const tableLine = (cells: readonly (string | number)[]): string =>
  `| ${cells.join(" | ")} |`;
