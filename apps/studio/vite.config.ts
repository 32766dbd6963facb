/**
 * The studio as static files: relative addresses, so that any host and any folder of it will do, and everything it needs
 * among them, the ONNX Runtime and the shipped model too. Packages are read from their sources.
 */
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defaultClientConditions, defineConfig, type Plugin } from "vite";

/** KaTeX's style sheet names every font in three formats; all browsers that run the studio read the first. */
const woff2Only: Plugin = {
  name: "woff2-only",
  enforce: "pre",
  transform: (code, id) =>
    id.includes("katex.min.css") ? code.replaceAll(/,url\([^)]*\.(?:woff|ttf)\) format\("\w+"\)/g, "") : undefined,
};

const INTERNAL = '(() => { throw new Error("internal: a worker in a worker"); })()';

/**
 * The library can put its sessions into a worker; the studio's are in one already. Without this its script and a second copy of
 * the runtime's would be built and served for nobody.
 */
const noWorkerInWorker: Plugin = {
  name: "no-worker-in-worker",
  transform: (code, id) =>
    id.endsWith("/engine/web-thread.ts")
      ? code.replace(/new Worker\(new URL\("\.\/web-worker\.js", import\.meta\.url\), [^)]*\)/, INTERNAL)
      : undefined,
};

/** What threads of WebAssembly need: a page that shares memory with nobody else. */
const headers = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
};

export default defineConfig({
  root: import.meta.dirname,
  base: "./",
  plugins: [woff2Only, svelte()],
  worker: { format: "es", plugins: () => [noWorkerInWorker], rolldownOptions: { checks: { pluginTimings: false } } },
  resolve: { conditions: ["diffeo-source", ...defaultClientConditions] },
  build: {
    target: "es2022",
    // Every file under its own address: `diffeo studio` lets a page read from its server alone.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  server: { headers },
  preview: { headers },
});
