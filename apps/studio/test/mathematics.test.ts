/** The pages of scores and of paths in a browser: what they show is correct, and links restore it. */
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import { leftOut } from "../../../packages/diffeo/test/engine/starts.ts";
import { FROZEN, hash, longestTask, open, violations } from "./browser.ts";
import { type OpenStudio, openStudio } from "./opened.ts";

/** Long enough for a loaded machine. */
const SOON = { timeout: 120_000 };

const studio = inject("studio");

/** “2.8 · 10⁻¹⁰” as a number. */
function numberOf(text: string): number {
  const plain = text.replaceAll(/[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]/g, (c) =>
    c === "⁻" ? "-" : String("⁰¹²³⁴⁵⁶⁷⁸⁹".indexOf(c)),
  );
  return Number(plain.replace(" · 10", "e"));
}

const largestError = async (page: Page): Promise<number> =>
  numberOf((await page.getByLabel("Largest error").textContent(SOON)) ?? "");

/**
 * Chooses a map and goes back, on a page so busy that it receives the event of the new address only
 * when it is about to write the old one.
 */
function chooseAndGoBack(map: string): void {
  const choice = [...document.querySelectorAll("select")].find(
    ({ labels }) => labels[0]?.textContent === "Map φ",
  );
  if (!choice) throw new Error("the page has no list of maps");
  choice.value = map;
  choice.dispatchEvent(new Event("change", { bubbles: true }));
  // After the page has reacted.
  queueMicrotask(() => {
    history.back();
    const start = performance.now();
    while (performance.now() - start < 400);
  });
}

/** The numbers of a row of the table at the point. */
async function row(page: Page, name: string): Promise<number[]> {
  const header = page.getByRole("rowheader", { name, exact: name.length === 1 });
  const cell = page.getByRole("row").filter({ has: header }).getByRole("cell");
  return ((await cell.textContent()) ?? "")
    .replaceAll("−", "-")
    .replaceAll(/[()]/g, "")
    .split(", ")
    .map(Number);
}

if ("why" in studio)
  describe("the pages of scores and paths", () => {
    it("are skipped", () => {
      leftOut("the pages of scores and paths in a browser", studio.why);
      expect(numberOf("2.8 · 10⁻¹⁰")).toBe(2.8e-10);
    });
  });
else
  describe("the pages of scores and paths", () => {
    let opened: OpenStudio;
    let url: string;
    let browser: Browser;
    /** An address without a page, where nothing runs. */
    let nowhere: string;
    // One page for all tests: loading it takes longer than most of them.
    let page: Page;
    let errors: readonly string[];
    beforeAll(async () => {
      opened = await openStudio(studio);
      ({ url, browser } = opened);
      nowhere = `${url}#/nowhere`;
      ({ page, errors } = await open(browser, nowhere, 1));
    });
    afterEach(async () => {
      expect(errors).toEqual([]);
      await page.goto(nowhere);
    });
    afterAll(() => opened.close());

    it("compute scores to rounding, move one point in both pictures, and are restored from their address", async () => {
      const longest = await longestTask(browser, page, async () => {
        await page.goto(`${url}#/scores`);
        await row(page, "log p, log q");
      });
      expect(longest).toBeLessThan(FROZEN);
      expect(await largestError(page)).toBeLessThan(1e-6);
      const [carried, own, sum] = [
        await row(page, "Jacobian term"),
        await row(page, "Term of the map"),
        await row(page, "the sum of both terms"),
      ];
      for (const i of [0, 1]) expect(sum[i]).toBeCloseTo(carried[i] + own[i], 2);

      // One step to the right in x moves y too; one in y moves x.
      const [x, y] = [await row(page, "x"), await row(page, "y")];
      await page.getByRole("button", { name: /^The point in x/ }).press("ArrowRight");
      await expect.poll(() => row(page, "x"), SOON).toEqual([expect.closeTo(x[0] + 0.03, 3), x[1]]);
      expect((await row(page, "y"))[0]).toBeGreaterThan(y[0]);
      await page.getByRole("button", { name: /^The point in y/ }).press("Shift+ArrowDown");
      await expect.poll(async () => (await row(page, "x"))[1], SOON).toBeLessThan(x[1] - 0.05);
      const moved = await row(page, "x");
      await page.getByLabel("Map φ").selectOption("stereographic");
      await expect.poll(() => row(page, "y"), SOON).toHaveLength(3);
      expect(await largestError(page)).toBeLessThan(1e-6);
      await expect.poll(() => hash(page), SOON).toContain("map=stereographic");
      const address = page.url();
      // Via another page; a test of the chess page opens an address in a fresh one.
      await page.goto(nowhere);
      await page.goto(address);
      expect(await row(page, "x")).toEqual(moved);
      expect(await row(page, "y")).toHaveLength(3);
    });

    it("do not overwrite an address that the reader has navigated to", async () => {
      const address = "#/scores?p=gaussian&map=unitBall";
      await page.goto(`${url}${address}`);
      await row(page, "log p, log q");
      await page.goto(`${url}#/scores`);
      await expect.poll(() => page.getByLabel("Map φ").inputValue(), SOON).toBe("additiveLogistic");
      await page.evaluate(chooseAndGoBack, "stereographic");
      await expect.poll(() => page.getByLabel("Map φ").inputValue(), SOON).toBe("unitBall");
      expect(await hash(page)).toBe(address);
    });

    it("show where a typed expression is wrong, and the result of `check` for a typed map", async () => {
      await page.goto(`${url}#/scores?map=own&p=own`);
      expect(await largestError(page)).toBeLessThan(1e-6);
      await page.getByText("The map passes.").waitFor(SOON);
      await page.getByLabel("y2 in terms of x1, x2").fill("x2 + (x2");
      const sentence =
        "Character 9: the bracket at character 6 is not closed: the expression ends.";
      await page.getByText(sentence).waitFor();
      expect(await violations(page)).toEqual([]);
      await page.getByLabel("y2 in terms of x1, x2").fill("x2 + x1");
      await page.getByText(sentence).waitFor({ state: "detached" });
      // An inverse of another map.
      await page.getByLabel("x1 in terms of y1, y2 (optional)").fill("y1");
      await page.getByLabel("x2 in terms of y1, y2 (optional)").fill("y2 - y1");
      await page.getByText("The map fails.").waitFor(SOON);
      await page
        .getByText(/The inverse is not that of the map\./)
        .first()
        .waitFor();
    });

    it("agree in both orders at the order of the method, and count exits of the domain", async () => {
      await page.goto(`${url}#/paths?space=box&seed=7&steps=16&w=1.02`);
      const slope = (name: string): Promise<number> =>
        page.getByLabel(`Slope of ${name}`).textContent().then(Number);
      await expect.poll(() => slope("Milstein in y"), SOON).toBeGreaterThan(0.85);
      expect(await slope("Milstein in y")).toBeLessThan(1.35);
      expect(await slope("Euler–Maruyama in y")).toBeGreaterThan(0.4);
      expect(await slope("Euler–Maruyama in y")).toBeLessThan(0.8);
      const exits = (name: string): Promise<number> =>
        page.getByLabel(`Exits, ${name}`).textContent().then(Number);
      expect(await exits("Domain-preserving")).toBe(0);
      expect(await exits("Euler–Maruyama in y")).toBeGreaterThan(10);
      expect(await violations(page)).toEqual([]);
      await page.getByRole("radio", { name: "256" }).check({ force: true });
      await expect.poll(() => exits("Euler–Maruyama in y"), SOON).toBe(0);
      await page.getByRole("slider", { name: "Time" }).press("Home");
      await expect.poll(() => hash(page), SOON).toMatch(/steps=256.*frame=0/);
      expect(await page.locator(".time output").textContent()).toBe("forward, t = 0.00");
      const address = page.url();
      // Via another page; a test of the chess page opens an address in a fresh one.
      await page.goto(nowhere);
      await page.goto(address);
      await expect
        .poll(() => page.getByRole("radio", { name: "256" }).isChecked(), SOON)
        .toBe(true);
      expect(await page.locator(".time output").textContent()).toBe("forward, t = 0.00");
      expect(await page.getByLabel(/^Drift scale w.*typed$/).inputValue()).toBe("1.02");
    });
  });
