/** The built studio in headless Chromium, and the command in Node to compare with. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { noNative } from "../../../packages/diffeo/test/engine/no-native.ts";
import { built } from "../../../test/build.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** A page, its errors and its requests. */
export interface Watched {
  readonly page: Page;
  /** Errors of scripts and of the console. */
  readonly errors: readonly string[];
  /** The addresses of all requests. */
  readonly requests: readonly string[];
}

/**
 * Opens a page.
 * @param cores the number of cores that the page sees; default all. With one, a second thread does
 *   not take processor time by waiting
 */
export async function open(browser: Browser, url: string, cores?: number): Promise<Watched> {
  const page = await browser.newPage();
  if (cores !== undefined)
    await page.addInitScript(
      (value) => Object.defineProperty(navigator, "hardwareConcurrency", { value }),
      cores,
    );
  const errors: string[] = [];
  const requests: string[] = [];
  page.on("pageerror", ({ message }) => errors.push(message));
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  page.on("request", (request) => {
    if (/^https?:/.test(request.url())) requests.push(request.url());
  });
  await page.goto(url);
  return { page, errors, requests };
}

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** Violations that axe finds on a page, one line each, by all of its rules or by one. */
export async function violations(page: Page, rule?: string): Promise<string[]> {
  // Injected once per page: it stays when the address changes.
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe);
  const found = await page.evaluate(
    async (runOnly) => {
      const { axe } = globalThis as unknown as {
        axe: { run(o: object): Promise<{ violations: Violation[] }> };
      };
      return (await axe.run(runOnly)).violations;
    },
    rule === undefined ? {} : { runOnly: [rule] },
  );
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds of the processor. */
  readonly tdur?: number;
}

/**
 * A task of the main thread of this many milliseconds must be a computation, which belongs into the
 * worker. The goal is 100, which `npm run bench -- studio` measures on an idle machine (8 to 17 ms);
 * with other tests on the same processors 129 ms were seen.
 */
export const FROZEN = 400;

/** The longest task of the page's main thread during `work`, in milliseconds of processor time. */
export async function longestTask(
  browser: Browser,
  page: Page,
  work: () => Promise<void>,
): Promise<number> {
  const categories = ["disabled-by-default-devtools.timeline", "blink.user_timing"];
  // A browser records one trace at a time, and several tests share it.
  const start = async (): Promise<void> =>
    browser.startTracing(page, { categories }).catch(async (error: Error) => {
      if (!error.message.includes("already")) throw error;
      await new Promise((resolve) => setTimeout(resolve, 300));
      return start();
    });
  await start();
  await work();
  // The trace contains other pages too: a mark identifies the thread of this one.
  const name = `thread of ${page.url()}`;
  await page.evaluate((mark) => void performance.mark(mark), name);
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as {
    traceEvents: TraceEvent[];
  };
  const own = traceEvents.find((event) => event.name === name);
  const tasks = traceEvents.filter(
    ({ name: what, ph, pid, tid }) =>
      ph === "X" && what === "RunTask" && pid === own?.pid && tid === own.tid,
  );
  if (tasks.length === 0) throw new Error("the trace has no task of the main thread");
  return Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1000;
}

/** The page's address after the #. */
export const hash = (page: Page): Promise<string> => page.evaluate(() => location.hash);

/** Runs commands of the built `diffeo`, in a Node with WebAssembly only; returns what they print. */
export async function onWebAssembly(...commands: readonly (readonly string[])[]): Promise<string> {
  const script = `import { run } from ${JSON.stringify(join(built(), "apps/cli/dist/run.js"))};
    const { stdout, stderr, stdin } = process;
    const io = { stdout, stderr, stdin, signal: new AbortController().signal };
    for (const words of ${JSON.stringify(commands)}) process.exitCode ||= await run(words, io);`;
  const flags = [...noNative, "--input-type=module", "--eval", script];
  return (await promisify(execFile)(process.execPath, flags)).stdout;
}
