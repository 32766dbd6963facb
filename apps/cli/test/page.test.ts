/**
 * The packages together in a page, bundled by Vite: it loads models from bytes, samples chess
 * positions, draws rows of a table, fits one and draws from a posterior.
 * Built from what is published and run by headless Chromium; built from the sources too.
 */
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { between, category, positive } from "diffeo/domain";
import { key } from "diffeo/random";
import { sampleBoards, unpack } from "diffeo-chess";
import { fitTable, serializeTableModel } from "diffeo-tables";
import { generate, likelihood, prepare, runDensity } from "diffeo-tables/density";
import { build, defaultClientConditions } from "vite";
import { describe, expect, it } from "vitest";
import { saveTinyModel, tinyModel } from "../../../packages/chess/test/tiny.ts";
import { openPage } from "../../../packages/diffeo/test/engine/browser.ts";
import { house } from "../../../packages/diffeo/test/engine/packed.ts";
import { leftOut, startChromium } from "../../../packages/diffeo/test/engine/starts.ts";
import { built } from "../../../test/build.ts";
import { testFolder } from "../../../test/folder.ts";

const { folder } = testFolder("page");

const PAGE = `
import { configureWeb } from "diffeo/web";
import { parseModel } from "diffeo/categorical";
import { positive, real } from "diffeo/domain";
import { div, expandDims, log, mul, squaredNorm, sub } from "diffeo/graph";
import { arvizJson, samplePosterior } from "diffeo/mcmc";
import { key } from "diffeo/random";
import * as chess from "diffeo-chess";
import * as tables from "diffeo-tables";
import * as density from "diffeo-tables/density";
const posterior = (options) =>
  samplePosterior(
    {
      parameters: { mu: real(), sigma: positive() },
      logDensity: ({ mu, sigma }, { y }) =>
        sub(mul(squaredNorm(div(sub(y, expandDims(mu, -1)), expandDims(sigma, -1))), -0.5), mul(log(sigma), y.shape[0])),
    },
    options,
  );
Object.assign(globalThis, { page: { configureWeb, parseModel, key, chess, tables, density, posterior, arvizJson } });`;

/** What the page puts on its global object. */
interface OnPage {
  readonly page: Pick<typeof import("diffeo/web"), "configureWeb"> &
    Pick<typeof import("diffeo/categorical"), "parseModel"> &
    Pick<typeof import("diffeo/mcmc"), "arvizJson"> & {
      readonly key: typeof key;
      readonly posterior: (
        options: import("diffeo/mcmc").SamplePosteriorOptions,
      ) => Promise<import("diffeo/mcmc").Posterior>;
      readonly chess: typeof import("diffeo-chess");
      readonly tables: typeof import("diffeo-tables");
      readonly density: typeof import("diffeo-tables/density");
    };
}

/** A site of a page that finds the packages in `modules`, and the files it was made of. */
async function siteOf(
  name: string,
  modules: string,
  conditions: readonly string[],
): Promise<{ readonly site: string; readonly files: readonly string[] }> {
  const root = join(folder, name);
  mkdirSync(join(root, "node_modules"), { recursive: true });
  for (const each of ["diffeo", "diffeo-chess", "diffeo-tables"])
    symlinkSync(join(modules, each), join(root, "node_modules", each));
  writeFileSync(
    join(root, "index.html"),
    '<!doctype html><script type="module" src="./page.js"></script>',
  );
  writeFileSync(join(root, "page.js"), PAGE);
  const site = join(root, "site");
  const files: string[] = [];
  await build({
    root,
    configFile: false,
    logLevel: "error",
    resolve: { conditions: [...conditions, ...defaultClientConditions] },
    build: { outDir: site, minify: false },
    plugins: [{ name: "files", moduleParsed: ({ id }) => void files.push(id) }],
  });
  return { site, files };
}

/** Names of scripts of a site whose text has something in it. */
const scriptsWith = (site: string, what: RegExp): string[] =>
  readdirSync(join(site, "assets")).filter(
    (name) => /\.m?js$/.test(name) && what.test(readFileSync(join(site, "assets", name), "utf8")),
  );

const boards = { count: 3, steps: 5, seed: 1 };
/**
 * Few points, kernels and features: whether the page computes what Node does shows as well as with
 * many.
 */
const fit = {
  rows: 300,
  options: {
    loss: "gssm-vr",
    ...{ seed: 1, inducing: 6, batch: 40, epochs: 3, ridgeSteps: 5, samples: 2000 },
    model: { width: 4, logScales: [0, 1] },
  },
} as const;

/** A model of three columns, of which one is a label, with a flow and a transformer. */
const tableModel = () =>
  fitTable(
    Array.from({ length: 60 }, (_, i) => [
      1 + (i % 7) + (i % 2),
      (1 + (i % 5)) / 8,
      i % 2 ? "odd" : "even",
    ]),
    {
      columns: { size: positive(), share: between(0, 1), kind: category(["even", "odd"]) },
      ...{ flow: "spline", network: "transformer", width: 8, blocks: 1, steps: 4, threads: 1 },
    },
  );

describe("a page of all packages", () => {
  it("is the same built from sources and from the published packages", async () => {
    const { site, files } = await siteOf("source", join(house, "node_modules"), ["diffeo-source"]);
    expect(files).toContain(join(house, "packages/chess/src/diffusion/sample.ts"));
    expect(files.filter((path) => /packages\/\w+\/dist\//.test(path))).toEqual([]);
    expect(scriptsWith(site, /onnxruntime[-_](node|binding)|from ?"node:/)).toEqual([]);
    expect(scriptsWith(site, /is not a density written by diffeo/)).toHaveLength(1);
  });

  it("loads models from bytes, samples chess positions, samples rows, fits a table and samples a posterior", async () => {
    const { site, files } = await siteOf("published", join(built(), "node_modules"), []);
    expect(files).toContain(join(built(), "packages/chess/dist/diffusion/sample.js"));
    expect(files.filter((path) => /packages\/\w+\/src\//.test(path))).toEqual([]);
    expect(scriptsWith(site, /onnxruntime[-_](node|binding)|from ?"node:/)).toEqual([]);
    const started = await startChromium("--disable-gpu");
    if ("why" in started)
      return leftOut(
        "the run of a page that samples boards, draws rows and fits a table; it is built",
        started.why,
      );
    await saveTinyModel(join(site, "model.safetensors"));
    const model = await tableModel();
    writeFileSync(join(site, "table.safetensors"), Buffer.concat(serializeTableModel(model)));
    const { page, close } = await openPage(site, started.browser);
    await page.waitForFunction(() => "page" in globalThis);
    const found = await page.evaluate(
      async ({ boards: { seed, ...call }, fit: { rows, options } }) => {
        const { configureWeb, parseModel, key, chess, tables, density, posterior, arvizJson } = (
          globalThis as unknown as OnPage
        ).page;
        configureWeb({ threads: 1 });
        const bytes = new Uint8Array(await (await fetch("model.safetensors")).arrayBuffer());
        const draw = await chess.openBoards(parseModel(bytes));
        const { positions } = await draw({ ...call, key: key(seed) });
        await draw.dispose();
        const file = new Uint8Array(await (await fetch("table.safetensors")).arrayBuffer());
        const read = tables.parseTableModel(file);
        const drawnRows = await read.sample({ count: 200 });
        const odd = await read.sample({ count: 5, given: { kind: "odd" } });
        const table = density.generate("two-moons", rows, key("table"));
        const { fit, measures, spec } = await density.runDensity(
          density.prepare(table, key("data")),
          options,
        );
        const parts = density.serializeDensity(spec, fit.chosen);
        const model = density.parseDensity(
          new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer()),
        );
        const { logDensity } = await density.scoreRows(model, table);
        const drawn = await posterior({
          data: { y: [1.2, 0.7, 3.1, 2.2, 1.9, 0.4] },
          key: key(1),
          warmup: 100,
          draws: 60,
        });
        return {
          mu: drawn.summary().mu,
          draws: JSON.parse([...arvizJson(drawn)].join("")).posterior.sigma.flat().length,
          classes: Array.from(chess.unpack(positions)),
          drawn: drawnRows.rows,
          odd: odd.rows,
          curve: fit.curve.loss,
          likelihood: measures && density.likelihood(measures.chosen),
          scored: logDensity.length,
          mean: logDensity.reduce((sum, v) => sum + v, 0) / logDensity.length,
        };
      },
      { boards, fit },
    );
    await close();
    await started.browser.close();
    // The posterior of μ is Student's around the mean of the data.
    expect(Math.abs(found.mu.mean - 9.5 / 6)).toBeLessThan(5 * found.mu.meanError);
    expect(found.draws).toBe(240);
    // WebAssembly rounds otherwise than Node's runtime: a square may tip, boards may not.
    const { seed, ...call } = boards;
    const { positions } = await sampleBoards(tinyModel(), { ...call, key: key(seed), threads: 1 });
    const classes = unpack(positions);
    expect(found.classes).toHaveLength(classes.length);
    expect(found.classes.filter((c, i) => c !== classes[i]).length).toBeLessThanOrEqual(2);
    expect(found.drawn).toHaveLength(200);
    const { rows: drawn } = await model.sample({ count: 200 });
    const near = found.drawn.filter(([size, share, kind], i) => {
      expect(model.domain.fault([size, share, kind])).toBeUndefined();
      const [wantedSize, wantedShare, wantedKind] = drawn[i];
      const isNear = Math.abs(Math.log(Number(size) / Number(wantedSize))) < 1e-3;
      return kind === wantedKind && isNear && Math.abs(Number(share) - Number(wantedShare)) < 1e-3;
    });
    expect(near.length).toBeGreaterThan(198);
    expect(found.odd.map(([, , kind]) => kind)).toEqual(new Array(5).fill("odd"));
    const table = generate("two-moons", fit.rows, key("table"));
    const { fit: own, measures } = await runDensity(prepare(table, key("data")), fit.options);
    expect(found.curve).toHaveLength(own.curve.loss.length);
    for (const [i, loss] of found.curve.entries()) expect(loss).toBeCloseTo(own.curve.loss[i], 3);
    expect(found.scored).toBe(fit.rows);
    expect(Number.isFinite(found.mean)).toBe(true);
    expect(found.likelihood).toBeCloseTo(measures ? likelihood(measures.chosen) : Number.NaN, 1);
  });
});
