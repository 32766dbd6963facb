/** What tests of the page of tables share: a table, comparisons, and actions on the page. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fold, key, normal } from "diffeo/random";
import { type CellTable, serializeCells } from "diffeo-tables";
import type { Page } from "playwright-core";
import { expect } from "vitest";

/** Long enough for a loaded machine. */
export const SOON = { timeout: 120_000 };

/** Sixty rows of two kinds. */
export function smallTable(): string {
  const z = normal(fold(key("studio"), "table"), [60, 2], { dtype: "float64" }).data;
  const rows = Array.from({ length: 60 }, (_, i) => [
    Number(Math.exp(0.4 * z[2 * i] + (i % 3 === 0 ? 1 : 0)).toFixed(4)),
    i % 3 === 0 ? "big, b" : "small",
    Number((1 / (1 + Math.exp(-z[2 * i + 1]))).toFixed(5)),
  ]);
  return serializeCells(["size", "kind", "share"], rows);
}

/** The largest relative difference of the numbers of two tables; all other cells must be equal. */
export function farthest(a: CellTable, b: CellTable): number {
  expect([a.columns, a.rows.length]).toEqual([b.columns, b.rows.length]);
  const gaps = a.rows.flatMap((row, i) =>
    row.map((cell, j) =>
      cell === b.rows[i][j] ? 0 : Math.abs(Number(cell) / Number(b.rows[i][j]) - 1),
    ),
  );
  // Labels that differ have no relative difference.
  return gaps.some(Number.isNaN)
    ? Number.POSITIVE_INFINITY
    : gaps.reduce((most, gap) => Math.max(most, gap), 0);
}

/** The name and the bytes of the file that a button downloads. */
export async function saved(
  page: Page,
  button: string,
  folder: string,
): Promise<readonly [name: string, bytes: Buffer]> {
  const coming = page.waitForEvent("download", SOON);
  await page.getByRole("button", { name: button }).click();
  const download = await coming;
  const path = join(folder, "saved");
  await download.saveAs(path);
  return [download.suggestedFilename(), readFileSync(path)];
}

/** Presses Stop after three steps, from inside the page, because a small table is fast. */
export const stopAtOnce = (): Promise<void> =>
  new Promise((resolve) => {
    new MutationObserver((_, observer) => {
      const [button] = [...document.querySelectorAll("button")].filter(
        ({ textContent }) => textContent === "Stop",
      );
      const said = document.querySelector(".fitting .status")?.textContent ?? "";
      if (!button || !(Number(/step (\d+)/.exec(said)?.[1]) >= 3)) return;
      observer.disconnect();
      button.click();
      resolve();
    }).observe(document, { characterData: true, childList: true, subtree: true });
  });

/** The texts of the status until the fit has ended. */
export const stepsUntilFitted = (): Promise<string[]> =>
  new Promise((resolve) => {
    const said: string[] = [];
    new MutationObserver((_, observer) => {
      const text = document.querySelector(".fitting .status")?.textContent ?? "";
      said.push(text);
      if (!text.startsWith("Fitted.")) return;
      observer.disconnect();
      resolve(said);
    }).observe(document, { characterData: true, childList: true, subtree: true });
  });

/** The steps of the first network in these texts. */
export const stepsIn = (said: readonly string[]): number[] =>
  said.flatMap((text) => {
    const found = /First of two networks, step (\d+)/.exec(text);
    return found ? [Number(found[1])] : [];
  });
