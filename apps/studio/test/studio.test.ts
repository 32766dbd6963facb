/** The studio in a browser: every page, the chess page in use, and messages for missing files. */
import { mkdtempSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { parseFen, UNKNOWN } from "diffeo-chess";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import { saveTinyModel } from "../../../packages/chess/test/tiny.ts";
import { leftOut } from "../../../packages/diffeo/test/engine/starts.ts";
import type { Serving } from "../../cli/src/studio/server.ts";
import { FROZEN, hash, longestTask, onWebAssembly, open, violations } from "./browser.ts";
import { type OpenStudio, openStudio } from "./opened.ts";

const studio = inject("studio");

/** The studio on a plain static host, under a sub-path: no headers, therefore one thread. */
async function plainHost(): Promise<Serving> {
  const server = createServer(async ({ url = "/" }, response) => {
    const name = url === "/sub/" ? "index.html" : url.replace("/sub/", "");
    const type = {
      ".html": "text/html",
      ".js": "text/javascript",
      ".css": "text/css",
      ".wasm": "application/wasm",
    }[extname(name)];
    const body = await readFile(join(studio.folder, name)).catch(() => undefined);
    response.writeHead(body ? 200 : 404, type ? { "content-type": type } : {}).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/sub/`,
    close: async () => void server.close(),
  };
}

/** Whether a page's WebGPU has an adapter. */
async function hasAdapter(): Promise<boolean> {
  const { gpu } = navigator as unknown as {
    readonly gpu?: { requestAdapter(): Promise<object | null> };
  };
  return Boolean(await gpu?.requestAdapter());
}

/** Presses Pause as soon as it is enabled, from inside the page, because a small model is fast. */
const pauseAtOnce = (): Promise<void> =>
  new Promise((resolve) => {
    new MutationObserver((_, observer) => {
      const button = document.querySelector<HTMLButtonElement>(
        'button[aria-label="Pause"]:enabled',
      );
      if (!button) return;
      observer.disconnect();
      button.click();
      resolve();
    }).observe(document, { attributes: true, childList: true, subtree: true });
  });

const done = (page: Page): Promise<unknown> =>
  page.getByText(/^Done: /).waitFor({ timeout: 120_000 });
const fenOf = (page: Page): Promise<string | null> => page.locator(".fen").textContent();

if ("why" in studio)
  describe("the studio", () => {
    it("is built", async () => {
      leftOut("the studio's pages in a browser", studio.why);
      expect(await readFile(join(studio.folder, "index.html"), "utf8")).toContain("assets/");
    });
  });
else
  describe("the studio", () => {
    const folder = mkdtempSync(join(tmpdir(), "diffeo-studio-"));
    const tiny = join(folder, "tiny.safetensors");
    let opened: OpenStudio;
    let url: string;
    let plain: Serving;
    let browser: Browser;
    // One page for all tests on the studio's own server: loading it takes longer than most of them.
    let page: Page;
    let [errors, requests]: readonly (readonly string[])[] = [[], []];
    const withTiny = async (of: Page): Promise<void> => {
      await of.context().route("**/*.safetensors", (route) => route.fulfill({ path: tiny }));
    };
    beforeAll(async () => {
      await saveTinyModel(tiny);
      plain = await plainHost();
      opened = await openStudio(studio);
      ({ url, browser } = opened);
      ({ page, errors, requests } = await open(browser, url));
    });
    afterEach(async () => {
      // An address without a page, where nothing runs; and no cached model for the next test.
      await page.goto(`${url}#/nowhere`);
      await page.context().unrouteAll();
      await page.evaluate(() => caches.delete("diffeo-models"));
    });
    afterAll(async () => {
      await opened.close();
      await plain.close();
      rmSync(folder, { recursive: true });
    });

    it("has pages that load without errors and pass axe, in light and dark, without overflow at 390 pixels", async () => {
      const paths = await page
        .getByRole("navigation", { name: "Pages" })
        .getByRole("link")
        .evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).hash));
      expect(paths).toContain("#/chess");
      await withTiny(page);
      for (const path of ["#/", ...paths]) {
        await page.goto(`${url}${path}`);
        await page.locator("main h1").waitFor();
        await page.emulateMedia({ colorScheme: "light" });
        expect(await violations(page)).toEqual([]);
        // The dark theme differs in colours only.
        await page.emulateMedia({ colorScheme: "dark" });
        expect(await violations(page, "color-contrast")).toEqual([]);
        await page.setViewportSize({ width: 390, height: 800 });
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        expect([path, width]).toEqual([path, 390]);
        await page.setViewportSize({ width: 1280, height: 800 });
      }
      await page.emulateMedia({ colorScheme: null });
      expect(errors).toEqual([]);
    });

    it("samples the board of the command line, and replays its frames without further requests", async () => {
      const options = "--model small --count 1 --steps 6 --seed 11 --w 1.02 --format fen";
      const printed = onWebAssembly(["chess", "sample", ...options.split(" ")]);
      const longest = await longestTask(browser, page, async () => {
        await page.goto(`${url}#/chess?seed=11&steps=6&w=1.02`);
        await done(page);
      });
      const fen = await fenOf(page);
      expect(`${fen}\n`).toBe(await printed);
      expect(longest).toBeLessThan(FROZEN);

      const fetched = requests.length;
      await page.getByRole("slider", { name: "Time" }).press("Home");
      await expect.poll(() => page.locator("output").textContent()).toBe("t = 0.825");
      const early = await fenOf(page);
      expect(early).not.toBe(fen);
      await expect.poll(() => hash(page)).toContain("frame=0");
      await page.getByRole("slider", { name: "Time" }).press("End");
      await expect.poll(() => fenOf(page)).toBe(fen);
      // The browser requests the icon again when the address changes.
      expect(requests.slice(fetched).filter((one) => !/\/icon-[^/]+\.svg$/.test(one))).toEqual([]);
      expect(requests.filter((one) => !one.startsWith(url))).toEqual([]);
      expect(errors).toEqual([]);
    });

    it("enforces its policy, and no page of another origin can frame it or read from it", async () => {
      const { page: own } = await open(browser, url);
      const refused = own.waitForEvent("console");
      await own.evaluate(() => {
        const script = document.createElement("script");
        script.textContent = "globalThis.ran = true";
        document.body.append(script);
      });
      expect((await refused).text()).toContain("Content Security Policy");
      expect(await own.evaluate(() => "ran" in globalThis)).toBe(false);
      await own.close();

      const { page: foreign, errors: refusals } = await open(browser, plain.url);
      const framed = await foreign.evaluate(async (src) => {
        const frame = Object.assign(document.createElement("iframe"), { src });
        const loaded = new Promise((resolve) => frame.addEventListener("load", resolve));
        document.body.append(frame);
        await loaded;
        await fetch(src, { mode: "no-cors" }).catch(() => undefined);
        return frame.contentDocument === null;
      }, url);
      expect(framed).toBe(true);
      const reasons = ["frame-ancestors 'none'", "NotSameOrigin"];
      await expect
        .poll(() => reasons.filter((why) => refusals.some((one) => one.includes(why))))
        .toEqual(reasons);
      await foreign.close();
    });

    it("restores its state from the address, and keeps painted squares", async () => {
      await withTiny(page);
      await page.goto(`${url}#/chess?seed=11&steps=6&w=1.02&completion=replacement`);
      await done(page);
      await page.getByRole("button", { name: "One step back" }).click();
      await expect.poll(() => hash(page)).toContain("frame=5");
      const late = await fenOf(page);
      const address = page.url();
      await page.goto("about:blank");
      await page.goto(address);
      await done(page);
      expect(await fenOf(page)).toBe(late);
      expect(await page.getByLabel("Seed").inputValue()).toBe("11");
      expect(await page.getByLabel("Drift scale w, typed").inputValue()).toBe("1.020");

      // With the keyboard alone: the white queen on a8, then an empty square to its right.
      await page.getByRole("button", { name: "Paint: white queen" }).press("Enter");
      await page.getByRole("button", { name: /^a8: / }).press("Enter");
      await page.getByRole("button", { name: "Paint: empty square" }).press("Enter");
      await page.getByRole("button", { name: /^a8: white queen, known/ }).press("ArrowRight");
      await page.keyboard.press("Enter");
      const known = "Q1??????/????????/????????/????????/????????/????????/????????/????????";
      await expect
        .poll(() =>
          page.evaluate(() =>
            new URLSearchParams(location.hash.split("?").slice(1).join("?")).get("known"),
          ),
        )
        .toBe(known);
      // "Done" may still belong to the previous board.
      const kept = async (): Promise<boolean> => {
        const made = parseFen((await fenOf(page)) ?? "");
        return parseFen(known, { unknown: true }).every(
          (k, square) => k === UNKNOWN || made[square] === k,
        );
      };
      await expect.poll(kept, { timeout: 120_000 }).toBe(true);
      await done(page);
      expect(await kept()).toBe(true);
      const download = page.waitForEvent("download");
      await page.getByRole("button", { name: "Save PNG" }).click();
      await (await download).saveAs(join(folder, "board.png"));
      const png = await readFile(join(folder, "board.png"));
      expect(png.subarray(1, 4).toString()).toBe("PNG");
      expect(errors).toEqual([]);
    });

    it("runs on one thread on a plain static host; pauses, steps, continues and saves a board", async () => {
      const { page, errors } = await open(browser, plain.url);
      await page.getByText("WebAssembly, 1 thread").click();
      await page.getByText(/does not send the headers that threads need/).waitFor();
      await withTiny(page);
      await page.goto(`${plain.url}#/chess?steps=60&boards=4`);
      const stepNow = async (): Promise<number> =>
        Number(/^Step (\d+) /.exec((await page.locator(".status").textContent()) ?? "")?.[1]);
      await page.evaluate(pauseAtOnce);
      // A step in progress at the pause still arrives.
      await page.waitForTimeout(500);
      const paused = await stepNow();
      expect(paused).toBeLessThan(60);
      await page.getByRole("slider", { name: "Time" }).press("End");
      await page.getByRole("button", { name: "One step forward" }).click();
      await expect.poll(stepNow).toBe(paused + 1);
      await page.waitForTimeout(200);
      expect(await stepNow()).toBe(paused + 1);
      await page.getByRole("button", { name: "Play" }).click();
      await done(page);
      await page.getByRole("slider", { name: "Time" }).press("End");
      await page.getByRole("button", { name: "Board 3" }).click();
      const fen = await fenOf(page);
      const download = page.waitForEvent("download");
      await page.getByRole("button", { name: "Save SVG" }).click();
      const saved = await download;
      expect(saved.suggestedFilename()).toBe("diffeo-chess-7-3.svg");
      const pieces = [...(fen ?? "").split(" ")[0]].filter((c) => /[a-z]/i.test(c)).length;
      await saved.saveAs(join(folder, "board.svg"));
      expect(
        (await readFile(join(folder, "board.svg"), "utf8")).match(/<use /g) ?? [],
      ).toHaveLength(pieces);
      expect(errors).toEqual([]);
      await page.close();
    });

    it("names a missing page or file, and what to do", async () => {
      await page.goto(`${url}#/nowhere`);
      const alert = page.getByRole("alert");
      expect(await alert.textContent()).toContain("The studio has no page “nowhere”.");
      await alert.getByRole("link", { name: "Go to the home page" }).click();
      await page.getByRole("heading", { level: 1 }).waitFor();

      await page.context().route("**/*.safetensors", (route) => route.fulfill({ status: 500 }));
      await page.goto(`${url}#/chess`);
      await alert
        .getByText(
          /^The model could not be downloaded \(status 500\)\. Check that .* is served, and reload the page\./,
        )
        .waitFor();
      await page
        .getByLabel("Open a model file")
        .setInputFiles({ name: "a.safetensors", mimeType: "", buffer: Buffer.from("no model") });
      await alert.getByText(/safetensors/).waitFor();
    });

    it("computes on WebGPU if there is an adapter", async () => {
      const { page, errors } = await open(browser, url);
      if (!(await page.evaluate(hasAdapter)))
        return leftOut("the studio on WebGPU", "Chromium finds no adapter here");
      await page.locator("summary").getByText("WebAssembly, ").click();
      await page.getByText(/in software, which is slower/).waitFor();
      await page.getByLabel("WebGPU").check();
      // The home page does not use it.
      await page.getByText(/only Chess and Sudoku use the graphics processor/).waitFor();
      await withTiny(page);
      await page.goto(`${url}#/chess?steps=2`);
      await done(page);
      expect(parseFen((await fenOf(page)) ?? "")).toHaveLength(64);
      expect(await page.locator("summary").textContent()).toContain("WebGPU");
      expect(errors).toEqual([]);
      await page.close();
    });
  });
