/** The page of posteriors in a browser, and its messages for wrong models and data. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { leftOut } from "../../../packages/diffeo/test/engine/starts.ts";
import { readData, readModel } from "../src/pages/posterior/read.ts";
import { hash, open, violations } from "./browser.ts";
import { type OpenStudio, openStudio } from "./opened.ts";

const SOON = { timeout: 60_000 };
const studio = inject("studio");

describe("a typed model", () => {
  it("may have import lines", () => {
    const found = readModel(
      'import { normal } from "diffeo/distribution";\nimport { model } from "diffeo/mcmc";\nexport default model(({ parameter }) => { parameter("a", normal(0, 1)); });',
    );
    expect(Object.keys((found.parameters as (data: object) => object)({}))).toEqual(["a"]);
  });

  it.each([
    ["export default model(({", "the model is not valid JavaScript: "],
    ["const a = 1;", "the model is not exported. Begin it with export default model("],
    ["export default 3;", "the export is not a model"],
    ['import fs from "node:fs";\nexport default model(() => {});', "imports modules other"],
    ['import { normal as n } from "diffeo/distribution";', "an import renames a symbol"],
    ["export default model(oops());", "the model fails: ReferenceError, oops is not"],
  ])("is rejected with a sentence: %s", (text, message) => {
    expect(() => readModel(text)).toThrow(message);
  });

  it("takes data as JSON and as CSV, with integers for labels", () => {
    expect(readData('{"y": [1, 2]}')).toEqual({ y: [1, 2] });
    expect(readData("y,kind\n1.5,b\n2,a\n-1,b\n")).toEqual({ y: [1.5, 2, -1], kind: [1, 0, 1] });
    expect(readData("  ")).toEqual({});
    expect(() => readData("{y: 1}")).toThrow("the data are not valid JSON");
    expect(() => readData("[1, 2]")).toThrow("the data are not a JSON object");
    expect(() => readData("y,z\n1,2\n3,\n")).toThrow(
      "the data, line 3, column z: the cell is empty",
    );
  });
});

if ("why" in studio)
  it("the page of posteriors", () => leftOut("the page of posteriors in a browser", studio.why));
else
  describe("the page of posteriors", () => {
    let opened: OpenStudio;
    let [url, browser]: [string, Browser | undefined] = ["", undefined];
    let page: Page;
    let errors: readonly string[] = [];
    beforeAll(async () => {
      opened = await openStudio(studio);
      ({ url, browser } = opened);
      ({ page, errors } = await open(browser, url));
    });
    afterAll(() => opened.close());
    const run = (): Promise<void> => page.getByRole("button", { name: "Run" }).click();

    it("samples an example, passes axe, and keeps its state in the address", async () => {
      await page.goto(`${url}#/posterior`);
      await page.getByRole("button", { name: "Robust regression" }).click();
      await run();
      await page.getByText(/4 chains of 1000 draws/).waitFor(SOON);
      const slope = page.getByRole("row", { name: /^b / });
      // Least squares without the two outliers: 1.96.
      const mean = Number(await slope.getByRole("cell").first().textContent());
      expect(mean).toBeGreaterThan(1.6);
      expect(mean).toBeLessThan(2.3);
      expect(await page.getByRole("img", { name: /^Observed y and 90 %/ }).count()).toBe(1);
      expect(await violations(page)).toEqual([]);
      await expect.poll(() => hash(page)).toContain("studentT");
      expect(errors).toEqual([]);
    });

    it("runs a model of a link only after a click, and shows its error", async () => {
      const model = 'export default model(({ observe }) => observe("y", normal(tau, 1)));';
      const words = new URLSearchParams({ model, data: '{"y": [1]}' });
      await page.goto(`${url}#/posterior?${words}`);
      await page.getByText("only when you press Run").waitFor(SOON);
      expect(await page.getByRole("alert").count()).toBe(0);
      await run();
      await page.getByRole("alert").waitFor(SOON);
      expect(await page.getByRole("alert").textContent()).toContain('"tau" is not defined');
    });
  });
