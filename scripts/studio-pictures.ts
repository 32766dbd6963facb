/**
 * Pictures of the studio's pages for the documents: docs/studio-*.webp, at twice the pixel density.
 *
 *     npx tsx --conditions=diffeo-source scripts/studio-pictures.ts [NAME …]
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";
import { serveFolder } from "../apps/cli/src/studio/server.ts";
import { chromiumWith } from "../packages/diffeo/test/engine/starts.ts";
import { builtStudio } from "../test/build.ts";

interface Picture {
  readonly address: string;
  readonly dark?: boolean;
  readonly height: number;
  /** Waits until the page shows its content. */
  readonly ready: (page: Page) => Promise<unknown>;
}

const pictures: Readonly<Record<string, Picture>> = {
  home: {
    address: "#/",
    height: 860,
    ready: (page) => page.getByRole("button", { name: "Play", disabled: false }).waitFor(),
  },
  chess: {
    address: "#/chess?seed=12&steps=100&boards=4&frame=79",
    height: 920,
    ready: (page) => page.getByText(/^Done/).waitFor({ timeout: 300_000 }),
  },
  scores: {
    address: "#/scores",
    height: 1140,
    ready: (page) =>
      page.getByRole("rowheader", { name: /the sum of both terms/ }).waitFor({ timeout: 300_000 }),
  },
  paths: {
    address: "#/paths?steps=128",
    height: 1530,
    ready: (page) =>
      page.getByLabel("Slope of Milstein in y").getByText(/\d/).waitFor({ timeout: 300_000 }),
  },
  table: {
    address: "#/table?example=soil&ends=steps&steps=300&fit=yes",
    height: 2260,
    ready: async (page) => {
      await page.getByText(/^Fitted/).waitFor({ timeout: 900_000 });
      await page.getByRole("button", { name: "Log-likelihood of row 3", exact: true }).click();
      await page.getByText(/higher than for \d+ % of sampled rows/).waitFor({ timeout: 300_000 });
      await page
        .getByRole("heading", { name: "Columns" })
        .evaluate((heading) => heading.scrollIntoView());
    },
  },
  densities: {
    address: "#/table?view=densities",
    dark: true,
    height: 1800,
    ready: async (page) => {
      for (const loss of ["SSM-VR", "GSSM", "GSSM-VR"])
        await page
          .getByLabel(`Log-likelihood by ${loss}`, { exact: true })
          .getByText(/\d/)
          .waitFor({ timeout: 900_000 });
    },
  },
};

const wanted = process.argv.slice(2);
const serving = await serveFolder(builtStudio(), 0);
const browser = await chromium.launch(chromiumWith("--disable-gpu"));
for (const [name, { address, dark = false, height, ready }] of Object.entries(pictures)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const page = await browser.newPage({
    viewport: { width: 1280, height },
    deviceScaleFactor: 2,
    colorScheme: dark ? "dark" : "light",
    reducedMotion: "reduce",
  });
  await page.goto(`${serving.url}${address}`);
  await ready(page);
  await page.waitForTimeout(1000);
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 80 });
  writeFileSync(
    join(import.meta.dirname, "..", "docs", `studio-${name}.webp`),
    Buffer.from(data, "base64"),
  );
  await page.close();
}
await browser.close();
await serving.close();
