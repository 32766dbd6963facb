/**
 * Builds the studio as static files, with ONNX Runtime and the shipped models. Addresses are
 * relative, so that it works in any folder of any host. Packages are read from their sources.
 */
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { renderToString } from "katex";
import type { PreprocessorGroup } from "svelte/compiler";
import { defaultClientConditions, defineConfig, type Plugin } from "vite";
import { licences } from "./licences.ts";

/** Renders equations by KaTeX during the build, so that the browser does not load KaTeX itself. */
const equations: PreprocessorGroup = {
  name: "equations",
  markup: ({ content }) => ({
    code: content.replaceAll(/<Equation\s([\s\S]*?)\/>/g, (_, attributes: string) => {
      const [all, plain, raw] =
        /\btex=(?:"([^"]*)"|\{String\.raw`([^`]*)`\})/.exec(attributes) ?? [];
      if (all === undefined)
        throw new Error(`an <Equation> needs its TeX as a literal: ${attributes}`);
      const displayMode = !/\binline\b/.test(attributes.replace(all, ""));
      const html = renderToString(plain ?? raw, { displayMode, output: "htmlAndMathml" });
      return `<Equation ${attributes.replace(all, () => `html={${JSON.stringify(html)}}`)}/>`;
    }),
  }),
};

/** Keeps the first of three formats of each font in KaTeX's style sheet: all supported browsers read it. */
const woff2Only: Plugin = {
  name: "woff2-only",
  enforce: "pre",
  transform: (code, id) =>
    id.includes("katex.min.css")
      ? code.replaceAll(/,url\([^)]*\.(?:woff|ttf)\) format\("\w+"\)/g, "")
      : undefined,
};

/** The functions of d3 that charts use, among those that the files below import. */
const USED_OF_D3 = ["creator", "select", "curveLinear", "curveStep"];

/**
 * Removes map projections, colour schemes, ramps and most curves from Plot, a quarter of its size,
 * because the charts do not use them.
 */
const withoutUnusedPlot: Plugin = {
  name: "without-unused-plot",
  transform: (code, id) =>
    /\/plot\/src\/(?:plot|projection|scales\/schemes|legends\/ramp|curve)\.js$/.test(id)
      ? code.replace(/import\s*\{([^}]*)\}\s*from "d3";/, (_, list: string) => {
          const names = list.split(",").map((name) => name.trim());
          const isKept = (name: string): boolean => USED_OF_D3.includes(name);
          const kept = names.filter(isKept);
          // Functions that do nothing: a file calls one of them when it is loaded.
          const removed = names
            .filter((name) => !isKept(name))
            .map((name) => `${name} = () => undefined`);
          return `import { ${kept.join(", ")} } from "d3"; const ${removed.join(", ")};`;
        })
      : undefined,
};

const INTERNAL = '(() => { throw new Error("internal: a worker in a worker"); })()';

/**
 * Removes the library's own worker for sessions, because the studio already runs them in a worker.
 * Otherwise the build would contain a second, unused copy of the runtime.
 */
const noWorkerInWorker: Plugin = {
  name: "no-worker-in-worker",
  transform: (code, id) =>
    id.endsWith("/engine/web-thread.ts")
      ? code.replace(
          /new Worker\(new URL\("\.\/web-worker\.js", import\.meta\.url\), [^)]*\)/,
          INTERNAL,
        )
      : undefined,
};

/** Headers that isolate the page, which threads of WebAssembly need. */
const headers = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
};

/** Keeps comments with licences and removes annotations for bundlers. */
const rolldownOptions = {
  checks: { pluginTimings: false },
  output: { comments: { legal: true, annotation: false, jsdoc: false } },
};

const { page, worker } = licences();

export default defineConfig({
  root: import.meta.dirname,
  base: "./",
  plugins: [woff2Only, withoutUnusedPlot, svelte({ preprocess: equations }), page],
  worker: { format: "es", plugins: () => [noWorkerInWorker, worker()], rolldownOptions },
  resolve: { conditions: ["diffeo-source", ...defaultClientConditions] },
  build: {
    target: "es2022",
    // No data: addresses: the policy of `diffeo studio` allows files of its server only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
    rolldownOptions,
  },
  server: { headers },
  preview: { headers },
});
