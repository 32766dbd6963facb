/** Runs the program of a code block in the page, with the one-file build of diffeo. */
import { withBase } from "vitepress";

type Paths = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** What a program printed, and the value of the variable that is drawn. */
export interface Outcome {
  readonly printed: readonly string[];
  readonly value: unknown;
}

let library: Promise<Paths> | undefined;

/** The library by import path, fetched with the first program. */
const fetchLibrary = (): Promise<Paths> => {
  library ??= import(/* @vite-ignore */ withBase("/cdn/diffeo.js")).then(
    (module: { readonly paths: Paths }) => module.paths,
    (error: unknown) => {
      library = undefined;
      throw error;
    },
  );
  return library;
};

const text = (value: unknown): string => {
  if (typeof value === "string") return value;
  const json = JSON.stringify(value, (_, inner: unknown) => {
    if (ArrayBuffer.isView(inner)) return Array.from(inner as Float64Array);
    return typeof inner === "number" ? Number(inner.toPrecision(6)) : inner;
  });
  return json ?? String(value);
};

/** `import { a as b } from "diffeo/c"` as a declaration: a program run from text has no imports. */
const withoutImports = (code: string): string =>
  code
    .replace(/^import type .*$/gm, "")
    .replace(
      /import\s*\{([^}]*)\}\s*from\s*("[^"]+");?/g,
      (_, names: string, path: string) =>
        `const {${names.replace(/\s+as\s+/g, ": ")}} = paths[${path}];`,
    );

/**
 * Runs a program.
 *
 * @param code JavaScript, with imports of diffeo's paths
 * @param drawn the name of the variable to return, if any
 */
export async function run(code: string, drawn: string | undefined): Promise<Outcome> {
  const paths = await fetchLibrary();
  const printed: string[] = [];
  const print = (...values: unknown[]): number => printed.push(values.map(text).join(" "));
  const AsyncFunction = (async () => undefined).constructor as new (
    ...words: string[]
  ) => (paths: Paths, console: { readonly log: typeof print }) => Promise<unknown>;
  const body = `"use strict"; ${withoutImports(code)}\nreturn ${drawn ?? "undefined"};`;
  const value = await new AsyncFunction("paths", "console", body)(paths, { log: print });
  return { printed, value };
}
