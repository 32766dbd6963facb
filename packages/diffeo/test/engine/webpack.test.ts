/** A page built by webpack, with the settings that docs/how-to/browser.md shows. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import webpack, { type Configuration } from "webpack";
import { builtLibrary } from "../../../../test/build.ts";
import { openPage } from "./browser.ts";
import { house, packed } from "./packed.ts";
import { leftOut, startChromium } from "./starts.ts";

const [, settings] =
  /```js\n(\/\/ webpack\.config\.mjs\n[\s\S]*?)```/.exec(
    readFileSync(join(house, "docs", "how-to", "browser.md"), "utf8"),
  ) ?? [];

/** A derivative on the compiler, and a convolution, which needs ONNX Runtime's file. */
const page = `
  import { compile, conv2d, exp, grad, sum } from "diffeo/web";
  globalThis.computed = async () => {
    const f = compile(grad((x) => sum(exp(x))), [[2]], { type: "float64" });
    const array = (shape) => ({
      shape, dtype: "float32", data: new Float32Array(shape.reduce((a, b) => a * b)).fill(1),
    });
    const [image, kernel] = [array([1, 4, 4, 1]), array([3, 3, 1, 1])];
    const g = compile(conv2d, [image.shape, kernel.shape]);
    return [[...(await f([0, 1])).data], [...(await g(image, kernel)).data]];
  };`;

describe("a page built by webpack", async () => {
  const started = await startChromium("--disable-gpu");
  if ("why" in started) {
    it("is left out without a browser", () => leftOut("webpack", started.why));
    return;
  }
  const { folder, remove } = packed(builtLibrary());
  afterAll(async () => {
    await started.browser.close();
    remove();
  });

  it("computes, with and without ONNX Runtime", async () => {
    writeFileSync(join(folder, "page.js"), page);
    writeFileSync(join(folder, "webpack.config.mjs"), settings);
    const url = pathToFileURL(join(folder, "webpack.config.mjs")).href;
    const { default: shown } = (await import(/* @vite-ignore */ url)) as { default: Configuration };
    const compiler = webpack({
      ...shown,
      context: folder,
      output: { path: join(folder, "site") },
      optimization: { minimize: false },
    });
    const stats = await new Promise<webpack.Stats | undefined>((resolve, reject) =>
      compiler.run((error, found) => (error ? reject(error) : resolve(found))),
    );
    expect(stats?.toJson({ all: false, errors: true }).errors).toEqual([]);
    writeFileSync(
      join(folder, "site", "index.html"),
      '<!doctype html><script defer src="./main.js"></script>',
    );
    const opened = await openPage(join(folder, "site"), started.browser);
    await opened.page.waitForFunction("globalThis.computed !== undefined");
    const [gradient, image] = (await opened.page.evaluate("globalThis.computed()")) as number[][];
    await opened.close();
    expect(gradient[0]).toBe(1);
    expect(gradient[1]).toBeCloseTo(Math.E, 14);
    expect(image.slice(0, 2)).toEqual([4, 6]);
  }, 120_000);
});
