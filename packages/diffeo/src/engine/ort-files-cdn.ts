/**
 * The files of ONNX Runtime for the one-file build (`dist/cdn/diffeo.js`), which has this module
 * instead of `ort-files.ts`. They are fetched from the package `onnxruntime-web` if the script
 * itself comes from a CDN of npm packages or from node_modules, else from the folder that the page
 * sets. Without a folder ONNX Runtime is not used.
 */
import type * as Ort from "onnxruntime-web";

/** The version with which the library is tested. */
declare const ORT_VERSION: string;

/** The prefix of the package in `https://cdn…/npm/diffeo@1.2.3/dist/cdn/diffeo.js` and the like. */
const [, host] =
  /^(.*\/)diffeo(?:-tables)?(?:@[^/]*)?\/dist\/cdn\/[^/]*$/.exec(import.meta.url) ?? [];

const version = host?.endsWith("/node_modules/") ? "" : `@${ORT_VERSION}`;

export const defaultFolder =
  host === undefined ? undefined : `${host}onnxruntime-web${version}/dist/`;

const fetched =
  (name: string) =>
  async (folder = defaultFolder): Promise<typeof Ort> => {
    if (folder === undefined) throw new Error("the page has not set where its files are");
    return import(
      /* @vite-ignore */ new URL(name, new URL(folder, globalThis.location?.href)).href
    );
  };

export const builds: Readonly<Record<string, (folder?: string) => Promise<typeof Ort>>> = {
  onnxruntime: fetched("ort.wasm.min.mjs"),
  webgpu: fetched("ort.webgpu.min.mjs"),
};

/** Threads start from the runtime's own files. */
export const threadScript = (): "default" => "default";
