/**
 * The licences of the packages whose code, styles or fonts are in the built studio. The build writes
 * them to `licences.txt`; a test compares that with `apps/studio/licences.txt`.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Plugin } from "vite";

interface PackageFile {
  readonly name?: string;
  readonly license?: string;
}

interface Licensed {
  readonly name: string;
  readonly license: string;
  readonly text: string;
}

/** The folder in node_modules of the package that a module belongs to. */
function packageFolder(module: string): string | undefined {
  const path = module.replace(/^\0/, "").replace(/\?.*$/, "");
  if (!path.includes("/node_modules/")) return undefined;
  for (let folder = dirname(path); folder.includes("/node_modules/"); folder = dirname(folder)) {
    const file = join(folder, "package.json");
    if (existsSync(file) && (JSON.parse(readFileSync(file, "utf8")) as PackageFile).name)
      return folder;
  }
  return undefined;
}

const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
associated documentation files (the "Software"), to deal in the Software without restriction,
including without limitation the rights to use, copy, modify, merge, publish, distribute,
sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial
portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT
NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM,
DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT
OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

/** The copyright holders of packages under the MIT licence that do not contain its text. */
const holders: Readonly<Record<string, string>> = {
  "onnxruntime-common": "Microsoft Corporation",
  "onnxruntime-web": "Microsoft Corporation",
};

/** The licence of a package, from its file. */
function licenceOf(folder: string): Licensed {
  const about = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as PackageFile;
  const { name = folder, license = "unknown" } = about;
  const file = readdirSync(folder).find((one) => /^licen[cs]e(\.(md|txt))?$/i.test(one));
  if (file) return { name, license, text: readFileSync(join(folder, file), "utf8").trim() };
  if (license !== "MIT" || !Object.hasOwn(holders, name))
    throw new Error(`${name} has no licence file. Name its copyright holder in licences.ts.`);
  return { name, license, text: `MIT License\n\nCopyright (c) ${holders[name]}\n\n${MIT}` };
}

/** The licences of the packages in some folders as one text, sorted by name. */
function licencesOf(folders: Iterable<string>): string {
  const found = [...new Set(folders)]
    .map(licenceOf)
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  const texts = found.map(({ name, license, text }) =>
    [`${name} (${license})`, "", text.replaceAll("\r\n", "\n")].join("\n"),
  );
  const opening =
    "diffeo studio is under the MIT licence. It contains code, styles and fonts of these packages.";
  return `${[opening, ...texts].join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}

/** Plugins for the page and for its workers, which collect packages in one set. */
export function licences(): { readonly page: Plugin; readonly worker: () => Plugin } {
  const folders = new Set<string>();
  const add = (module: string): void => {
    const folder = packageFolder(module);
    if (folder) folders.add(folder);
  };
  // Counts copied files, and modules with code in the build.
  const collect: Plugin["generateBundle"] = (_, bundle) => {
    for (const file of Object.values(bundle))
      if (file.type === "chunk")
        for (const [id, { renderedLength }] of Object.entries(file.modules)) {
          if (renderedLength > 0 || id.endsWith(".css")) add(id);
        }
      else for (const name of file.originalFileNames ?? []) add(join(import.meta.dirname, name));
  };
  return {
    page: {
      name: "licences",
      generateBundle(options, bundle, isWrite) {
        (collect as (...args: unknown[]) => void).call(this, options, bundle, isWrite);
        this.emitFile({ type: "asset", fileName: "licences.txt", source: licencesOf(folders) });
      },
    },
    worker: () => ({ name: "licences-of-workers", generateBundle: collect }),
  };
}
