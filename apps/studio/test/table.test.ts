/** The page of tables in a browser: the same results as the command, and messages for wrong tables. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseCells, parseTableModel, rowsIn } from "diffeo-tables";
import { loadTableModel, parquetBytes } from "diffeo-tables/node";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import { leftOut } from "../../../packages/diffeo/test/engine/starts.ts";
import { FROZEN, hash, longestTask, onWebAssembly, open, violations } from "./browser.ts";
import { type OpenStudio, openStudio } from "./opened.ts";
import {
  farthest,
  SOON,
  saved,
  smallTable,
  stepsIn,
  stepsUntilFitted,
  stopAtOnce,
} from "./table-page.ts";

const studio = inject("studio");

if ("why" in studio)
  describe("the page of tables", () => {
    it("is skipped", () => {
      leftOut("the page of tables in a browser", studio.why);
      expect(parseCells(smallTable(), "t.csv").rows).toHaveLength(60);
    });
  });
else
  describe("the page of tables", () => {
    let opened: OpenStudio;
    let url: string;
    const folder = mkdtempSync(join(tmpdir(), "diffeo-table-page-"));
    const [csv, model, rows] = ["t.csv", "m.model", "rows.csv"].map((name) => join(folder, name));
    let browser: Browser;
    /** An address without a page, where nothing runs. */
    let nowhere: string;
    // One page for all tests: loading it takes longer than most of them.
    let page: Page;
    let [errors, requests]: readonly (readonly string[])[] = [[], []];
    beforeAll(async () => {
      writeFileSync(csv, smallTable());
      opened = await openStudio(studio);
      ({ url, browser } = opened);
      nowhere = `${url}#/nowhere`;
      ({ page, errors, requests } = await open(browser, nowhere, 1));
    });
    afterEach(async () => {
      expect(errors).toEqual([]);
      await page.goto(nowhere);
    });
    afterAll(async () => {
      await opened.close();
      rmSync(folder, { recursive: true });
    });

    it("fits, samples and scores like the command, to rounding, and downloads the model", async () => {
      const printed = onWebAssembly(
        [
          "table",
          "fit",
          csv,
          "--steps",
          "2",
          "--seed",
          "3",
          "--no-given",
          "--no-evaluate",
          "--out",
          model,
        ],
        [
          "table",
          "sample",
          "--model",
          model,
          "--count",
          "1000",
          "--seed",
          "5",
          "--evaluations",
          "8",
          "--out",
          rows,
        ],
      );
      await page.goto(`${url}#/table?ends=steps&steps=2&seed=3&given=no&draw=5&evaluations=8`);
      const fetched = requests.length;
      const longest = await longestTask(browser, page, async () => {
        await page.getByLabel("Choose a file").setInputFiles(csv);
        await page.getByText("all between 0 and 1").waitFor(SOON);
        await page.getByRole("button", { name: "Fit", exact: true }).click();
        await page.getByText(/^Fitted\. Validation loss: /).waitFor(SOON);
        await page
          .getByRole("button", { name: "Log-likelihood of row 2", exact: true })
          .waitFor(SOON);
      });
      expect(longest).toBeLessThan(FROZEN);
      const rowsFile = await saved(page, "Download rows", folder);
      const modelFile = await saved(page, "Download model", folder);
      await printed;
      expect([rowsFile[0], modelFile[0]]).toEqual(["t-rows.csv", "t.safetensors"]);
      // The last digit of Math.exp differs between releases of V8.
      const drawn = parseCells(readFileSync(rows, "utf8"), "rows");
      expect(farthest(parseCells(rowsFile[1].toString(), "saved"), drawn)).toBeLessThan(1e-12);
      const fitted = await loadTableModel(model);
      const taken = parseTableModel(modelFile[1]);
      expect(taken.training.validation).toBeCloseTo(fitted.training.validation, 6);
      expect({ ...taken.training, validation: 0 }).toEqual({ ...fitted.training, validation: 0 });

      // The page and the library give a row the same likelihood.
      await page.getByRole("button", { name: "Log-likelihood of row 2", exact: true }).click();
      const nats = Number(
        (await page.getByLabel("log-likelihood", { exact: true }).textContent(SOON))?.replace(
          "−",
          "-",
        ),
      );
      const [, second] = rowsIn(drawn, taken.domain);
      for (const one of [fitted, taken])
        expect(Math.abs(nats - (await one.logLikelihood([second]))[0])).toBeLessThan(0.006);
      expect(await violations(page)).toEqual([]);
      expect(requests.slice(fetched).filter((one) => !one.startsWith(url))).toEqual([]);

      // The model file alone gives the same samples.
      const first = await page
        .getByRole("row")
        .filter({ has: page.getByRole("button", { name: "Log-likelihood of row 1", exact: true }) })
        .textContent();
      await page.getByLabel("Choose a file").setInputFiles(model);
      await page.getByText(": a fitted model").waitFor(SOON);
      await expect
        .poll(
          () =>
            page
              .getByRole("row")
              .filter({
                has: page.getByRole("button", { name: "Log-likelihood of row 1", exact: true }),
              })
              .textContent(),
          SOON,
        )
        .toBe(first);
    });

    it("names a wrong cell and lets the reader edit it; an address restores an example and its rules", async () => {
      await page.goto(`${url}#/table`);
      await page.getByRole("button", { name: "Paste text" }).click();
      await page.getByLabel("Table as CSV").fill("a,b\n1,2\n3\n");
      await page.getByRole("button", { name: "Use this table" }).click();
      await page
        .getByText(
          "pasted.csv, line 3 has 1 cell, but there are 2 columns. Give every row the same number of cells.",
        )
        .waitFor(SOON);
      await page.getByRole("button", { name: "Correct it here" }).click();
      const numbers = Array.from({ length: 70 }, (_, i) => `${i + 0.5},${i}`);
      await page.getByLabel("Table as CSV").fill(["a,b", ...numbers.with(4, "x4.5,4")].join("\n"));
      await page.getByRole("button", { name: "Use this table" }).click();
      await page
        .getByText(
          /^pasted\.csv, line 6, column 1 \("a"\): "x4\.5" is not a number, though most are\./,
        )
        .waitFor(SOON);
      expect(await violations(page)).toEqual([]);
      await page.getByRole("button", { name: "Edit the table" }).click();
      await page.getByLabel("Table as CSV").fill(["a,b", ...numbers].join("\n"));
      await page.getByRole("button", { name: "Use this table" }).click();
      await page.getByText("all above 0, from 0.5 to 69.5").waitFor(SOON);
      await page.getByLabel("Kind of a").fill("betwixt:0:1");
      await page.getByLabel("Kind of a").press("Enter");
      await page
        .getByText(/there is no kind "betwixt" of column\. Use .*\bpositive\b/)
        .waitFor(SOON);
      await page.getByLabel("Kind of a").fill("between:0:100");
      await page.getByLabel("Kind of a").press("Enter");
      await expect.poll(() => page.getByRole("alert").count(), SOON).toBe(0);

      // Via another page.
      await page.goto(nowhere);
      await page.goto(
        `${url}#/table?example=ferry&seed=7&ends=3&column=${encodeURIComponent("aboard=drop\n0<departure<arrival<24")}`,
      );
      await page.getByText("ferry.csv").waitFor(SOON);
      await expect
        .poll(() => page.getByLabel("Kind of departure, arrival").inputValue(), SOON)
        .toBe("0<departure<arrival<24");
      expect(await page.getByLabel("Kind of aboard").inputValue()).toBe("drop");
      expect(await page.getByLabel("Seed", { exact: true }).inputValue()).toBe("7");
      expect(await page.getByRole("radio", { name: "3 min" }).isChecked()).toBe(true);
      await page.getByRole("button", { name: "Reset aboard" }).click();
      await expect
        .poll(() => page.getByLabel("Kind of aboard").inputValue(), SOON)
        .toBe("empirical");
      await expect.poll(() => hash(page), SOON).not.toContain("drop");
    });

    it("reads Parquet, and says why a damaged file cannot be read", async () => {
      await page.goto(`${url}#/table`);
      const whole = await parquetBytes(
        ["size", "kind"],
        [
          [1.5, "a"],
          [2.5, "b, c"],
          [4, "a"],
        ],
      );
      const file = (name: string, from: Uint8Array) => ({
        ...{ name, mimeType: "application/octet-stream", buffer: Buffer.from(from) },
      });
      const choose = page.getByLabel("Choose a file");
      await choose.setInputFiles(file("few.parquet", whole));
      await page.getByText("3 rows, 2 columns").waitFor(SOON);
      await choose.setInputFiles(file("cut.parquet", whole.subarray(0, 40)));
      await page.getByText("cut.parquet cannot be read as Parquet").waitFor(SOON);
    });

    it("stops a fit, continues it at the same step, and samples rows with a given cell", async () => {
      await page.goto(`${url}#/table?ends=steps&steps=10&seed=3&evaluations=8`);
      await page.getByLabel("Choose a file").setInputFiles(csv);
      await page.getByText("all between 0 and 1").waitFor(SOON);
      const said = page.evaluate(stopAtOnce);
      await page.getByRole("button", { name: "Fit", exact: true }).click();
      await said;
      const stopped =
        (await page
          .getByText(/^Stopped\. First of two networks, step \d+ of 10\.$/)
          .textContent(SOON)) ?? "";
      const [at] = stepsIn([stopped]);
      expect(at).toBeGreaterThanOrEqual(3);
      expect(at).toBeLessThan(10);
      const after = page.evaluate(stepsUntilFitted);
      await page.getByRole("button", { name: "Continue" }).click();
      const seen = stepsIn(await after);
      expect(seen[0]).toBeGreaterThanOrEqual(at);
      expect(seen.toSorted((a, b) => a - b)).toEqual(seen);

      const drawn = (): Promise<string[]> =>
        page
          .getByRole("row")
          .filter({ has: page.getByRole("button", { name: /^Log-likelihood of row/ }) })
          .allTextContents();
      const allHave = async (label: string): Promise<boolean> => {
        const rows = await drawn();
        return rows.length > 2 && rows.every((row) => row.includes(label));
      };
      await page.getByRole("checkbox", { name: "kind", exact: true }).check();
      await expect.poll(() => allHave("big, b"), SOON).toBe(true);
      await page.getByRole("combobox", { name: "kind", exact: true }).selectOption("small");
      await expect.poll(() => allHave("small"), SOON).toBe(true);
      await expect.poll(() => hash(page), SOON).toContain("small");
    });

    it("fits masked cells where the command would, and says why", async () => {
      await page.goto(`${url}#/table?ends=steps&steps=2`);
      const table = Array.from({ length: 1000 }, (_, i) => `${i + 0.5},${i % 3 ? "a" : "b"}`);
      const text = Buffer.from(["size,kind", ...table].join("\n"));
      const file = { name: "many.csv", mimeType: "text/csv", buffer: text };
      await page.getByLabel("Choose a file").setInputFiles(file);
      await page
        .getByText("one network of masked cells (labels, and 1,000 rows or more)")
        .waitFor(SOON);
      await page.getByRole("button", { name: "Fit", exact: true }).click();
      await page.getByText(/^Fitted\. Validation loss: /).waitFor(SOON);
      await page.getByText("Given cells").waitFor(SOON);
      const [, bytes] = await saved(page, "Download model", folder);
      expect(parseTableModel(bytes).bins).toBeDefined();
    });

    it("fits densities by three losses side by side", async () => {
      await page.goto(`${url}#/table?view=densities&points=300&set=rings`);
      const longest = await longestTask(browser, page, async () => {
        await page
          .getByLabel("Density and score field by GSSM-VR")
          .waitFor({ ...SOON, state: "attached" });
        await page
          .getByRole("img", {
            name: /^Variance of the gradient divided by its squared mean\. SSM-VR: \d/,
          })
          .waitFor(SOON);
        await page.getByRole("button", { name: "Stop" }).click();
        await page.getByRole("button", { name: "Fit again" }).first().waitFor();
      });
      expect(longest).toBeLessThan(FROZEN);
      expect(await violations(page)).toEqual([]);
    });
  });
