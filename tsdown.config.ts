import { defineConfig } from "tsdown";

/**
 * Every package by itself. One file of `dist` a file of `src`, so that a worker finds its script
 * and a bundler drops what a page does not use.
 */
export default defineConfig({
  workspace: ["packages/*", "apps/cli"],
  entry: [
    "src/{index,density,web,chart,posterior,main,run}.ts",
    "src/*/index.ts",
    "src/*/worker.ts",
    "src/engine/web{.ts,-worker.js}",
    "src/page-document.ts",
    "src/node/{runtime.ts,document.ts,worker.js,parquet-worker.js,ort.js}",
  ],
  format: "esm",
  platform: "neutral",
  deps: { neverBundle: [/^node:/, "#runtime", "#document"] },
  unbundle: true,
  dts: true,
  target: "es2022",
});
