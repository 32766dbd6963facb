/**
 * The studio in headless Chromium on WebAssembly: time to the first complete board, steps
 * per second, time from a change of w to the screen, the longest task of the main thread, and the
 * compressed size of what a reader fetches, by chunk.
 *
 *     npm run bench -- studio
 */
import { chromium, type Page } from "playwright-core";
import { serveFolder } from "../apps/cli/src/studio/server.ts";
import { longestTask } from "../apps/studio/test/browser.ts";
import { appFiles, MOST_BYTES } from "../apps/studio/test/size.ts";
import { chromiumWith } from "../packages/diffeo/test/engine/starts.ts";
import { builtStudio } from "../test/build.ts";
import { median } from "./timing.ts";

const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(1).padStart(8)} kB`;

function sizes(folder: string): void {
  const files = appFiles(folder);
  for (const { name, bytes } of files) process.stdout.write(`${kilobytes(bytes)}  ${name}\n`);
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  process.stdout.write(
    `${kilobytes(total)}  in all, without models, .wasm and fonts (at most ${MOST_BYTES / 1000})\n\n`,
  );
}

/** A status line of the page and its time, in milliseconds of the page's clock. */
interface Line {
  readonly at: number;
  readonly text: string;
}

/** Runs in the page before its own scripts: stores every status line. */
function keepLines(): void {
  const lines: Line[] = [];
  Object.assign(globalThis, { lines });
  new MutationObserver(() => {
    const text = document.querySelector(".status")?.textContent ?? "";
    if (text !== "" && text !== lines.at(-1)?.text) lines.push({ at: performance.now(), text });
  }).observe(document, { characterData: true, childList: true, subtree: true });
}

/** The status lines of a run, from those `seen` so far to the next line that reports its end. */
async function runLines(page: Page, seen: number): Promise<Line[]> {
  const lines = await page.waitForFunction(
    (from) => {
      const { lines } = globalThis as unknown as { lines: Line[] };
      return lines.slice(from).some(({ text }) => text.startsWith("Done")) && lines.slice(from);
    },
    seen,
    { polling: 200, timeout: 240_000 },
  );
  return (await lines.jsonValue()) as Line[];
}

const timeOf = (lines: readonly Line[], start: string): number =>
  lines.find(({ text }) => text.startsWith(start))?.at ?? Number.NaN;

const STEPS = 50;

/**
 * Runs in the page: milliseconds from a new w on the page Paths to the first change of the picture.
 */
function restartPath(w: number): Promise<number> {
  const input = document.querySelector<HTMLInputElement>(
    'input[aria-label^="Drift scale w"][inputmode]',
  );
  const picture = document.querySelector(".plane svg");
  if (!input || !picture) throw new Error("the page has no w or no picture");
  return new Promise((resolve) => {
    const began = performance.now();
    new MutationObserver((_, observer) => {
      observer.disconnect();
      resolve(performance.now() - began);
    }).observe(picture, { attributes: true, childList: true, subtree: true });
    input.value = String(w);
    input.dispatchEvent(new Event("change", { bubbles: true }));
  });
}

/** Changes w on the page Paths while nothing else runs. */
async function pathRestarts(page: Page, url: string): Promise<number[]> {
  await page.goto(`${url}#/paths`);
  const slope = page.getByLabel("Slope of Milstein in y").getByText(/\d/);
  await slope.waitFor({ timeout: 240_000 });
  // Graphs for another w are compiled while nothing runs.
  await page.waitForTimeout(3000);
  const found: number[] = [];
  for (const w of [1.05, 0.95, 1.1, 0.9, 1.02]) {
    found.push(await page.evaluate(restartPath, w));
    await slope.waitFor({ timeout: 240_000 });
  }
  return found;
}

/** From a new w to the first frame under it, in milliseconds of the page's clock. */
async function restart(page: Page, w: number): Promise<number> {
  const [began, seen] = await page.evaluate((value) => {
    const input = document.querySelector<HTMLInputElement>(
      'input[aria-label="Drift scale w, typed"]',
    );
    if (!input) throw new Error("the page has no w");
    const { lines } = globalThis as unknown as { lines: Line[] };
    const now = performance.now();
    input.value = String(value);
    input.dispatchEvent(new Event("change", { bubbles: true }));
    return [now, lines.length];
  }, w);
  return timeOf(await runLines(page, seen), "Step 1 ") - began;
}

export async function run(): Promise<void> {
  const folder = builtStudio();
  sizes(folder);
  const serving = await serveFolder(folder, 0);
  const browser = await chromium.launch(chromiumWith("--disable-gpu"));
  try {
    const page = await browser.newPage();
    await page.addInitScript(keepLines);
    await page.goto(`${serving.url}#/chess?steps=${STEPS}`);
    const first = await runLines(page, 0);
    const painted = await page.evaluate(
      () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
    );
    const engine = await page.locator("summary").textContent();
    // Graphs for another w are compiled while nothing runs.
    await page.waitForTimeout(6000);
    let second: Line[] = [];
    const longest = await longestTask(browser, page, async () => {
      await page.getByRole("button", { name: "Next" }).click();
      second = await runLines(page, first.length);
    });
    const pace =
      (1000 * (STEPS - 1)) / (timeOf(second, `Step ${STEPS} `) - timeOf(second, "Step 1 "));
    const restarts: number[] = [];
    const steps = page.getByLabel("Steps, typed");
    await steps.fill("5");
    await steps.press("Enter");
    await runLines(page, first.length + second.length);
    for (const w of [1.01, 0.98, 1.03, 0.97, 1.02]) restarts.push(await restart(page, w));
    const paths = await pathRestarts(page, serving.url);
    const seconds = (ms: number): string => (ms / 1000).toFixed(1);
    const moved = (times: readonly number[]): string =>
      `${Math.round(median(times))} ms (median of ${times.length}; the longest ${Math.round(Math.max(...times))})`;
    process.stdout.write(
      [
        `computed by ${engine?.replace("Computed by", "").trim()}`,
        `first paint ${Math.round(painted ?? 0)} ms`,
        `first frame ${seconds(timeOf(first, "Step 1 "))} s, first board of ${STEPS} steps ${seconds(timeOf(first, "Done"))} s: model and compilation included`,
        `${pace.toFixed(1)} steps per second`,
        `a new w is on the screen after ${moved(restarts)}, on the page Paths after ${moved(paths)}`,
        `longest task of the main thread while sampling: ${longest.toFixed(0)} ms of processor time`,
        "",
      ].join("\n"),
    );
  } finally {
    await browser.close();
    await serving.close();
  }
}
