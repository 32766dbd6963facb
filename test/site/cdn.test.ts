/** The one-file builds in pages of a plain HTTP server, without a bundler or an import map. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, describe, expect, it } from "vitest";
import { leftOut, startChromium } from "../../packages/diffeo/test/engine/starts.ts";
import { writeCdn } from "../../scripts/cdn.ts";
import { testFolder } from "../folder.ts";
import { serve } from "./serve.ts";

const root = join(import.meta.dirname, "..", "..");
const { folder } = testFolder("cdn");

const html = (script: string): string =>
  `<!doctype html><title>page</title><link rel="icon" href="data:,"><script type="module">${script}</script>`;

/** Samples on the triangle, and the gradient of a function. */
const small = html(`
  import { additiveLogistic, compile, exp, gaussian, grad, key, paths, reversePush, sample, sum, vp }
    from "./files/diffeo.js";
  const sde = vp();
  const data = gaussian({ mean: [1, -1], covariance: 0.3 });
  const { meanFactor, std } = sde.transition;
  const score = (x, t) => data.marginal(meanFactor(t), std(t)).score(x);
  const process = reversePush(sde, additiveLogistic(), score);
  const { samples, exits } = await sample(process, { count: 500, shape: [2], key: key(7), steps: 50 });
  const f = compile(grad((x) => sum(exp(x))), [[2]], { type: "float64" });
  globalThis.found = {
    exits, points: [...samples.data], gradient: [...(await f([0, 1])).data],
    names: [typeof paths["diffeo/domain"].ordered, typeof paths["diffeo/mcmc"].samplePosterior],
  };`);

/** A convolution, which needs ONNX Runtime. */
const convolution = (module: string, settings: string): string =>
  html(`
  import { compile, configureWeb, conv2d } from "${module}";
  ${settings}
  const image = { shape: [1, 4, 4, 1], dtype: "float32", data: new Float32Array(16).fill(1) };
  const kernel = { shape: [3, 3, 1, 1], dtype: "float32", data: new Float32Array(9).fill(1) };
  const f = compile((x, w) => conv2d(x, w), [image.shape, kernel.shape]);
  globalThis.found = [...(await f(image, kernel)).data];`);

/** A table that is fitted, saved, read and sampled in the page. */
const tables = html(`
  import { between, category, configureWeb, fitTable, parseTableModel, serializeTableModel } from "./files/diffeo-tables.js";
  configureWeb({ wasmPaths: "/onnxruntime/" });
  const rows = Array.from({ length: 200 }, (_, i) => ({ share: ((i * 37) % 100 + 0.5) / 100, kind: "ab"[i % 2] }));
  const fitted = await fitTable(rows, { columns: { share: between(0, 1), kind: category(["a", "b"]) }, steps: 20, given: false });
  const bytes = new Uint8Array(await new Blob(serializeTableModel(fitted)).arrayBuffer());
  const model = parseTableModel(bytes);
  globalThis.found = (await model.sample({ count: 20 })).rows;`);

await Promise.all([
  writeCdn("diffeo", join(folder, "files")),
  writeCdn("diffeo-tables", join(folder, "files")),
]);
// The addresses of a CDN of npm packages.
mkdirSync(join(folder, "npm", "diffeo@0.1.0", "dist", "cdn"), { recursive: true });
await writeCdn("diffeo", join(folder, "npm", "diffeo@0.1.0", "dist", "cdn"));
const pages = {
  "small.html": small,
  "cdn.html": convolution("./npm/diffeo@0.1.0/dist/cdn/diffeo.js", ""),
  "own.html": convolution("./files/diffeo.js", 'configureWeb({ wasmPaths: "/onnxruntime/" });'),
  "tables.html": tables,
};
for (const [name, text] of Object.entries(pages)) writeFileSync(join(folder, name), text);

const started = await startChromium("--disable-gpu");
afterAll(() => ("browser" in started ? started.browser.close() : undefined));

describe("one file in a page of a plain HTTP server", () => {
  if ("why" in started) {
    it("is left out without a browser", () => leftOut("the one-file builds", started.why));
    return;
  }
  const { browser } = started;
  const runtime = join(root, "node_modules", "onnxruntime-web", "dist");
  /** The result of a page, and the files it fetched. */
  async function visit<T>(name: keyof typeof pages): Promise<{ found: T; requested: string[] }> {
    const server = await serve({
      "/": folder,
      "/onnxruntime/": runtime,
      "/npm/onnxruntime-web@1.30.0/dist/": runtime,
    });
    const page: Page = await browser.newPage();
    const errors: string[] = [];
    page.on("pageerror", ({ message }) => errors.push(message));
    await page.goto(`${server.url}/${name}`);
    await page.waitForFunction(() => "found" in globalThis).catch(() => undefined);
    expect(errors).toEqual([]);
    const found = await page.evaluate(() => (globalThis as unknown as { found: T }).found);
    await page.close();
    server.close();
    return { found, requested: [...server.requested] };
  }

  it("samples and differentiates from one script, without ONNX Runtime", async () => {
    const { found, requested } = await visit<{
      exits: number;
      points: number[];
      gradient: number[];
      names: string[];
    }>("small.html");
    expect(requested).toEqual(["/small.html", "/files/diffeo.js"]);
    expect(found.gradient[1]).toBeCloseTo(Math.E, 14);
    expect(found.exits).toBe(0);
    expect(found.names).toEqual(["function", "function"]);
    const firsts = found.points.filter((_, i) => i % 2 === 0);
    expect(found.points.every((y) => y > 0 && y < 1)).toBe(true);
    // y₁ = 1/(1 + e^(−x₁) (1 + e^(x₂))) has the mean .66 for x ~ N((1, −1), .3 I).
    expect(firsts.reduce((a, b) => a + b, 0) / firsts.length).toBeCloseTo(0.655, 1);
  });

  it("finds ONNX Runtime next to it on a CDN, and at the path that the page sets", async () => {
    const expected = [4, 6, 6, 4, 6, 9, 9, 6, 6, 9, 9, 6, 4, 6, 6, 4];
    const cdn = await visit<number[]>("cdn.html");
    expect(cdn.found).toEqual(expected);
    expect(cdn.requested.filter((path) => path.endsWith(".wasm"))).toEqual([
      "/npm/onnxruntime-web@1.30.0/dist/ort-wasm-simd-threaded.wasm",
    ]);
    const own = await visit<number[]>("own.html");
    expect(own.found).toEqual(expected);
    expect(own.requested.filter((path) => path.endsWith(".wasm"))).toEqual([
      "/onnxruntime/ort-wasm-simd-threaded.wasm",
    ]);
  });

  it("fits a table, reads its model from bytes and samples rows", async () => {
    const { found } = await visit<[number, string][]>("tables.html");
    expect(found).toHaveLength(20);
    expect(found.every(([, kind]) => kind === "a" || kind === "b")).toBe(true);
  });
});
