import { defineConfig } from "tsdown";

/** One file of `dist` a file of `src`, so that a worker finds its script and a bundler drops what a page does not use. */
export default defineConfig({
  entry: ["src/index.ts", "src/web.ts", "src/*/index.ts", "src/*/files.ts", "src/engine/worker.js", "src/cli/main.ts"],
  format: "esm",
  platform: "neutral",
  deps: { neverBundle: [/^node:/] },
  unbundle: true,
  dts: true,
  target: "es2022",
});
