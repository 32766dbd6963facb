/**
 * The studio as static files: relative addresses, so that any host and any folder of it will do,
 * and everything it needs among them, the ONNX Runtime and the shipped model too. Packages are read
 * from their sources.
 */
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { renderToString } from "katex";
import type { PreprocessorGroup } from "svelte/compiler";
import { defaultClientConditions, defineConfig, type Plugin } from "vite";
import { licences } from "./licences.ts";

/**
 * Equations as KaTeX sets them, once and for all: what a reader fetches has their marks, and not
 * what makes them.
 */
const equations: PreprocessorGroup = {
  name: "equations",
  markup: ({ content }) => ({
    code: content.replaceAll(/<Equation\s([\s\S]*?)\/>/g, (_, attributes: string) => {
      const [all, plain, raw] =
        /\btex=(?:"([^"]*)"|\{String\.raw`([^`]*)`\})/.exec(attributes) ?? [];
      if (all === undefined)
        throw new Error(`an equation whose TeX is not written beside it: ${attributes}`);
      const displayMode = !/\binline\b/.test(attributes.replace(all, ""));
      const html = renderToString(plain ?? raw, { displayMode, output: "htmlAndMathml" });
      return `<Equation ${attributes.replace(all, () => `html={${JSON.stringify(html)}}`)}/>`;
    }),
  }),
};

/**
 * KaTeX's style sheet names every font in three formats; all browsers that run the studio read the
 * first.
 */
const woff2Only: Plugin = {
  name: "woff2-only",
  enforce: "pre",
  transform: (code, id) =>
    id.includes("katex.min.css")
      ? code.replaceAll(/,url\([^)]*\.(?:woff|ttf)\) format\("\w+"\)/g, "")
      : undefined,
};

/** What charts ask for of the functions that the files below take from d3. */
const ASKED_OF_D3 = ["creator", "select", "curveLinear", "curveStep"];

/**
 * Plot can draw maps of the earth, colours by dozens of schemes with ramps to explain them, and
 * curves of twenty kinds; charts here ask for two of the last, and the rest is a quarter of it.
 */
const onlyWhatChartsAsk: Plugin = {
  name: "only-what-charts-ask",
  transform: (code, id) =>
    /\/plot\/src\/(?:plot|projection|scales\/schemes|legends\/ramp|curve)\.js$/.test(id)
      ? code.replace(/import\s*\{([^}]*)\}\s*from "d3";/, (_, list: string) => {
          const names = list.split(",").map((name) => name.trim());
          const isKept = (name: string): boolean => ASKED_OF_D3.includes(name);
          const kept = names.filter(isKept);
          // Functions that do nothing: one of the files calls one as it is loaded.
          const gone = names
            .filter((name) => !isKept(name))
            .map((name) => `${name} = () => undefined`);
          return `import { ${kept.join(", ")} } from "d3"; const ${gone.join(", ")};`;
        })
      : undefined,
};

const INTERNAL = '(() => { throw new Error("internal: a worker in a worker"); })()';

/**
 * The library can put its sessions into a worker; the studio's are in one already. Without this its
 * script and a second copy of the runtime's would be built and served for nobody.
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

/** What threads of WebAssembly need: a page that shares memory with nobody else. */
const headers = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
};

/** Of comments only licences are served: marks for bundlers are nothing to a browser. */
const rolldownOptions = {
  checks: { pluginTimings: false },
  output: { comments: { legal: true, annotation: false, jsdoc: false } },
};

const { page, worker } = licences();

export default defineConfig({
  root: import.meta.dirname,
  base: "./",
  plugins: [woff2Only, onlyWhatChartsAsk, svelte({ preprocess: equations }), page],
  worker: { format: "es", plugins: () => [noWorkerInWorker, worker()], rolldownOptions },
  resolve: { conditions: ["diffeo-source", ...defaultClientConditions] },
  build: {
    target: "es2022",
    // Every file under its own address: `diffeo studio` lets a page read from its server alone.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
    rolldownOptions,
  },
  server: { headers },
  preview: { headers },
});
