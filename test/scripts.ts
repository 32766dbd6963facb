/**
 * Scripts of tests as plain JavaScript, next to the packages as they are published. A process that
 * runs such a script starts in a third of the time that compiling its sources would take.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import ts from "typescript";
import { built } from "./build.ts";

const compilerOptions: ts.CompilerOptions = {
  module: ts.ModuleKind.ESNext,
  target: ts.ScriptTarget.ES2022,
  verbatimModuleSyntax: true,
  rewriteRelativeImportExtensions: true,
};

/**
 * The scripts as JavaScript, all in one folder, which is removed when this process ends.
 */
export function plainScripts<Name extends string>(
  scripts: Readonly<Record<Name, URL>>,
): Readonly<Record<Name, URL>> {
  const folder = mkdtempSync(join(built(), "scripts-"));
  process.once("exit", () => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const plain = (script: URL): URL => {
    const path = join(folder, basename(script.pathname).replace(/\.ts$/, ".js"));
    writeFileSync(
      path,
      ts.transpileModule(readFileSync(script, "utf8"), { compilerOptions }).outputText,
    );
    return pathToFileURL(path);
  };
  const entries = Object.entries<URL>(scripts).map(([name, script]) => [name, plain(script)]);
  return Object.fromEntries(entries) as Record<Name, URL>;
}
