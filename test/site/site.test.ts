/** The built documentation site in a browser, from a plain HTTP server. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, describe, expect, it } from "vitest";
import { leftOut, startChromium } from "../../packages/diffeo/test/engine/starts.ts";
import { serve } from "./serve.ts";

const root = join(import.meta.dirname, "..", "..");
const dist = join(root, "docs", ".vitepress", "dist");

/** Every page that is not generated, by its address. */
const pages = existsSync(dist)
  ? readdirSync(dist, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".html") && !/^(studio|files|reference\/api|404)/.test(name))
      .map((name) => `/${name}`)
  : [];

describe("the documentation site", async () => {
  if (pages.length === 0) {
    it("is left out where it is not built", () =>
      leftOut("the documentation site", "there is no docs/.vitepress/dist (npm run docs)"));
    return;
  }
  const started = await startChromium("--disable-gpu");
  if ("why" in started) {
    it("is left out without a browser", () => leftOut("the documentation site", started.why));
    return;
  }
  const { browser } = started;
  const server = await serve({ "/": dist });
  afterAll(async () => {
    await browser.close();
    server.close();
  });

  /** The errors of a page while `use` works with it. */
  async function complaints(width: number, use: (page: Page) => Promise<void>): Promise<string[]> {
    const page = await browser.newPage({ viewport: { width, height: 800 } });
    const said: string[] = [];
    page.on("pageerror", ({ message }) => said.push(message));
    page.on("response", (response) => {
      if (response.status() >= 400) said.push(`${response.status()} ${response.url()}`);
    });
    page.on("console", (message) => {
      if (message.type() === "error") said.push(message.text());
    });
    await use(page);
    await page.close();
    return said;
  }

  it("fits the width of a phone's screen on every page", async () => {
    const wide: string[] = [];
    const said = await complaints(390, async (page) => {
      for (const path of pages) {
        await page.goto(server.url + path, { waitUntil: "domcontentloaded" });
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        if (width > 390) wide.push(`${path}: ${width}`);
      }
    });
    expect(wide).toEqual([]);
    expect(said).toEqual([]);
  });

  it("runs its live examples, unchanged and edited", async () => {
    const said = await complaints(1280, async (page) => {
      await page.goto(`${server.url}/start/`);
      const live = page.locator(".live").first();
      await live.getByRole("button", { name: "Run" }).click();
      await live.locator("circle").first().waitFor();
      expect(await live.locator("circle").count()).toBe(1000);
      expect(await live.locator(".printed").textContent()).toContain("exits: 0");
      await live.locator("code").fill('import { key } from "diffeo/nowhere";');
      await live.getByRole("button", { name: "Run" }).click();
      expect(await live.locator(".trouble").textContent()).toMatch(/Error/);
    });
    expect(said).toEqual([]);
  });

  it("runs the live example of a tutorial", async () => {
    const said = await complaints(1280, async (page) => {
      await page.goto(`${server.url}/tutorials/inverse-problem.html`);
      const live = page.locator(".live");
      await live.getByRole("button", { name: "Run" }).click();
      await live.locator("circle").first().waitFor();
      const [, sand, silt] = /sand ([.\d]+) silt ([.\d]+)/.exec(
        (await live.locator(".printed").textContent()) ?? "",
      )!;
      // Three standard errors of 1,000 samples around the page's .542 ± .115 and .194 ± .074.
      expect(Math.abs(Number(sand) - 0.542)).toBeLessThan(0.011);
      expect(Math.abs(Number(silt) - 0.194)).toBeLessThan(0.007);
    });
    expect(said).toEqual([]);
  });

  it("finds a symbol by name", async () => {
    const said = await complaints(1280, async (page) => {
      await page.goto(`${server.url}/`);
      await page.getByRole("button", { name: "Search" }).first().click();
      await page.locator("#localsearch-input").fill("additiveLogistic");
      await page.locator(".VPLocalSearchBox .result").first().waitFor();
      const results = await page.locator(".VPLocalSearchBox .result").allInnerTexts();
      expect(results.join("\n")).toContain("additiveLogistic");
    });
    expect(said).toEqual([]);
  });

  it("is accessible by axe's rules in both themes", async () => {
    const axe = readFileSync(join(root, "node_modules", "axe-core", "axe.min.js"), "utf8");
    const found: string[] = [];
    for (const colorScheme of ["light", "dark"] as const) {
      const page = await browser.newPage({ colorScheme });
      for (const path of ["/", "/start/", "/compare/", "/reference/api/diffeo.score.html"]) {
        await page.goto(server.url + path);
        await page.evaluate(axe);
        const violations = await page.evaluate(async () => {
          const { axe: rules } = globalThis as unknown as {
            axe: {
              run(
                options: object,
              ): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
            };
          };
          // The theme's search button shows its key next to its name.
          const left = { rules: { "label-content-name-mismatch": { enabled: false } } };
          return (await rules.run(left)).violations.map(
            ({ id, nodes }) => `${id}: ${nodes.length} such as ${nodes[0].html.slice(0, 120)}`,
          );
        });
        found.push(...violations.map((violation) => `${colorScheme} ${path} ${violation}`));
      }
      await page.close();
    }
    expect(found).toEqual([]);
  });

  it("has the studio", async () => {
    const said = await complaints(1280, async (page) => {
      await page.goto(`${server.url}/studio/`);
      await page.locator("h1").first().waitFor();
    });
    expect(said).toEqual([]);
  });
});
