/**
 * Builds the libraries as one ES module each, for pages that load them from a CDN or from their own
 * folder: `dist/cdn/diffeo.js` of packages/diffeo and `dist/cdn/diffeo-tables.js` of
 * packages/tables. Part of `npm run build`.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, defaultClientConditions, type Plugin } from "vite";

const root = join(import.meta.dirname, "..");
const packages = join(root, "packages");

/** The version of ONNX Runtime in the tests, which pages fetch. */
const ORT_VERSION: string = JSON.parse(
  readFileSync(join(root, "node_modules", "onnxruntime-web", "package.json"), "utf8"),
).version;

const NO_WORKER =
  '(() => { throw new Error("The one-file build cannot start a worker. Use the npm package with a bundler.") })()';

/**
 * Fetches ONNX Runtime as files of a host. Does not start workers, which must be files of the
 * page's origin.
 */
const oneFile: Plugin = {
  name: "one-file",
  enforce: "pre",
  resolveId: (source, importer) =>
    source === "./ort-files.ts" && importer?.endsWith("/engine/web.ts")
      ? join(packages, "diffeo", "src", "engine", "ort-files-cdn.ts")
      : null,
  transform: (code, id) =>
    id.endsWith("/engine/web-thread.ts")
      ? code.replace(
          /new Worker\(new URL\("\.\/web-worker\.js", import\.meta\.url\), [^)]*\)/,
          NO_WORKER,
        )
      : undefined,
};

const entries = {
  diffeo: join(packages, "diffeo", "src", "cdn.ts"),
  "diffeo-tables": join(packages, "tables", "src", "cdn.ts"),
};

/** Writes one library as a file into a folder, next to the files there. */
export async function writeCdn(name: keyof typeof entries, folder: string): Promise<void> {
  await build({
    root,
    configFile: false,
    publicDir: false,
    logLevel: "error",
    plugins: [oneFile],
    define: { ORT_VERSION: JSON.stringify(ORT_VERSION) },
    resolve: { conditions: ["diffeo-source", ...defaultClientConditions] },
    build: {
      outDir: folder,
      emptyOutDir: false,
      target: "es2022",
      lib: { entry: entries[name], formats: ["es"], fileName: name },
      // Vite keeps white space in libraries for bundlers that read its annotations; this file needs
      // none.
      rolldownOptions: { output: { codeSplitting: false, minify: true } },
    },
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await writeCdn("diffeo", join(packages, "diffeo", "dist", "cdn"));
  await writeCdn("diffeo-tables", join(packages, "tables", "dist", "cdn"));
}
