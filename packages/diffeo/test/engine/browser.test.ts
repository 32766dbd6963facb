/**
 * The built package in a real browser: bundled by Vite, served cross-origin isolated, run by
 * headless Chromium.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { additiveLogistic, fromOnnx, random, reversePush, sample, vp } from "../../src/index.ts";
import type * as Web from "../../src/web.ts";
import { type OpenPage, openPage } from "./browser.ts";
import { house, packed, root } from "./packed.ts";
import { leftOut, startChromium, WEBGPU } from "./starts.ts";
import { digest } from "./survey.ts";

/** What the page puts on its global object. */
interface OnPage {
  readonly diffeo: typeof Web;
  readonly survey: typeof import("./survey.ts");
}

let project: ReturnType<typeof packed>;
let site: string;

beforeAll(async () => {
  project = packed();
  const survey = join(root, "test", "engine", "survey.ts");
  writeFileSync(
    join(project.folder, "index.html"),
    '<!doctype html><script type="module" src="./page.js"></script>',
  );
  writeFileSync(
    join(project.folder, "page.js"),
    `import * as diffeo from "diffeo/web";
     import * as survey from ${JSON.stringify(survey)};
     Object.assign(globalThis, { diffeo, survey });`,
  );
  site = join(project.folder, "site");
  await build({
    root: project.folder,
    configFile: false,
    logLevel: "error",
    build: { outDir: site, minify: false },
  });
}, 300_000);

afterAll(() => project.remove());

const ready = (): boolean => "survey" in globalThis;

const started = await startChromium("--disable-gpu");
afterAll(() => ("browser" in started ? started.browser.close() : undefined));

describe("a page built with diffeo/web", () => {
  it("contains ONNX Runtime for browsers and no code of Node", () => {
    const files = readdirSync(join(site, "assets"));
    expect(files.filter((f) => f.endsWith(".wasm"))).toHaveLength(2);
    const ofNode = (f: string): boolean =>
      /onnxruntime[-_](node|binding)/.test(readFileSync(join(site, "assets", f), "utf8"));
    expect(files.filter((f) => /\.m?js$/.test(f) && ofNode(f))).toEqual([]);
  });

  if ("browser" in started) {
    // One page for all that WebAssembly computes: to start it anew takes longer than most of what
    // it is asked.
    let opened: OpenPage;
    beforeAll(async () => {
      opened = await openPage(site, started.browser);
      await opened.page.waitForFunction(ready);
    });
    afterAll(() => opened.close());
    it("computes every operation in WebAssembly on two threads, and has the random numbers of Node", async () => {
      const report = await opened.page.evaluate(async () => {
        const { diffeo, survey } = globalThis as unknown as OnPage;
        diffeo.configureWeb({ threads: 2 });
        const findings = await survey.survey(
          diffeo,
          survey.onDevice(diffeo, { device: "onnxruntime" }),
          ["float32", "float64"],
        );
        const names = (await diffeo.devices()).map((d) => d.name);
        return { findings, names, digest: survey.digest(diffeo.random) };
      });
      expect(report.findings.length).toBeGreaterThan(200);
      const bound = { float32: 1e-5, float64: 1e-12 };
      expect(report.findings.filter((f) => !(f.error <= bound[f.type]))).toEqual([]);
      expect(report.names).toEqual(["cpu", "onnxruntime", "webgpu", "wasm", "reference"]);
      expect(report.digest).toBe(digest(random));
      expect(opened.page.workers()).toHaveLength(1);
    });

    it("computes on WebGPU, also with two simultaneous calls", async () => {
      const gpu = await startChromium(...WEBGPU);
      if ("why" in gpu) return leftOut("WebGPU in a page", gpu.why);
      const { page, close } = await openPage(site, gpu.browser);
      await page.waitForFunction(ready);
      const report = await page.evaluate(async () => {
        const { gpu } = navigator as unknown as {
          readonly gpu?: { requestAdapter(): Promise<unknown> };
        };
        if (!(await gpu?.requestAdapter())) return undefined;
        const { diffeo, survey } = globalThis as unknown as OnPage;
        const few = (name: string): boolean =>
          /^(exp|matmul|softmax|inverse|gradEach|conv2d, stride 2, same)$/.test(name);
        const evaluate = survey.onDevice(diffeo, { device: "webgpu" });
        const findings = await survey.survey(diffeo, evaluate, ["float32"], few);
        const f = diffeo.compile((x: Web.Tensor) => diffeo.exp(x), [[2]], { device: "webgpu" });
        const twice = await Promise.all([f([0, 1]), f([1, 0])]);
        return {
          findings,
          twice: twice.map(({ data }) => Array.from(data as Float32Array, Math.fround)),
        };
      });
      await close();
      await gpu.browser.close();
      if (!report) return leftOut("WebGPU in a page", "Chromium finds no adapter here");
      expect(report.findings).toHaveLength(6);
      expect(report.findings.filter((f) => !(f.error <= 1e-4))).toEqual([]);
      const [first, second] = report.twice;
      expect(first[1]).toBeCloseTo(Math.E, 5);
      expect(second).toEqual([...first].reverse());
    });

    it("computes in a worker of the page without blocking it, and passes on errors of the worker", async () => {
      const report = await opened.page.evaluate(async () => {
        const { diffeo } = globalThis as unknown as OnPage;
        const n = 300;
        const power = (x: Web.Tensor): Web.Tensor => {
          let y = x;
          for (let i = 0; i < 40; i++) y = diffeo.mul(diffeo.matmul(y, x), 1 / n);
          return y;
        };
        const f = diffeo.compile(power, [[n, n]], { worker: true });
        const ones = {
          shape: [n, n],
          dtype: "float32" as const,
          data: new Float32Array(n * n).fill(1),
        };
        await f(ones);
        let ticks = 0;
        const clock = setInterval(() => ticks++, 5);
        const { data } = await f(ones);
        clearInterval(clock);
        await f.dispose();
        const failed = await diffeo
          .compile((x: Web.Tensor) => diffeo.exp(x), [[1]], { device: "webgpu", worker: true })([0])
          .then(String, (error: Web.DiffeoError) => `${error.name} ${error.kind}`);
        return { first: data[0], ticks, failed };
      });
      expect(report.first).toBeCloseTo(1, 3);
      // A page that computes by itself ticks not once in forty products of 300 × 300.
      expect(report.ticks).toBeGreaterThan(5);
      expect(report.failed).toBe("DiffeoError device");
    });

    it("samples a PyTorch network on the simplex with the same result as Node", async () => {
      const bytes = readFileSync(join(house, "examples", "torch-score.onnx"));
      const options = { shape: [3], count: 20, steps: 10 };
      const sde = vp();
      const own = await sample(
        reversePush(sde, additiveLogistic(), await fromOnnx(bytes, { predicts: "noise", sde })),
        { ...options, key: random.key(7) },
      );
      const report = await opened.page.evaluate(
        async ({ file, how }) => {
          const { diffeo } = globalThis as unknown as OnPage;
          const sde = diffeo.vp();
          const score = await diffeo.fromOnnx(Uint8Array.from(file), {
            predicts: "noise",
            sde,
          });
          const process = diffeo.reversePush(sde, diffeo.additiveLogistic(), score);
          const { samples } = await diffeo.sample(process, { ...how, key: diffeo.random.key(7) });
          return { found: score.describe().split("\n")[0], values: Array.from(samples.data) };
        },
        { file: [...bytes], how: options },
      );
      expect(report.found).toMatch(/^pytorch 2/);
      expect(Math.min(...report.values)).toBeGreaterThan(0);
      own.samples.data.forEach((v, i) => {
        expect(Math.abs(v - report.values[i])).toBeLessThan(1e-4);
      });
    });

    it("says what to do without WebGPU, and for settings that come too late", async () => {
      const messages = await opened.page.evaluate(async () => {
        const { diffeo } = globalThis as unknown as OnPage;
        const run = (options: Web.CompileOptions): Promise<string> =>
          diffeo
            .compile(
              (x: Web.Tensor) => diffeo.exp(x),
              [[1]],
              options,
            )([0])
            .then(String, (error: Error) => error.message);
        const told = [await run({ device: "webgpu" }), await run({ device: "cuda" })];
        try {
          diffeo.configureWeb({ threads: 1 });
        } catch (error) {
          told.push((error as Error).message);
        }
        return told;
      });
      expect(messages).toEqual([
        expect.stringMatching(/"webgpu" did not start.*Use a browser and a machine with WebGPU/s),
        'unknown device "cuda". Use one of cpu, onnxruntime, webgpu, wasm, reference.',
        expect.stringMatching(/configureWeb was called after the first session/),
      ]);
    });
  } else
    it("is not run, only built", () => {
      leftOut("the page, of which devices.test.ts runs the WebAssembly in Node", started.why);
      expect(readFileSync(join(site, "index.html"), "utf8")).toContain("assets/");
    });
});
