/**
 * Writes the API reference as Markdown into docs/reference/api, one page per import path: the
 * public symbols with their TSDoc, read from the sources by TypeDoc.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { Application, type ProjectReflection, type TypeDocOptions } from "typedoc";
import type { PluginOptions } from "typedoc-plugin-markdown";
import { readSurface } from "../test/surface/symbols.ts";

const root = join(import.meta.dirname, "..");

/** The settings of the Markdown: one page per path, properties and parameters in tables. */
const markdown: PluginOptions = {
  entryFileName: "index",
  outputFileStrategy: "modules",
  flattenOutputFiles: true,
  hideBreadcrumbs: true,
  hidePageHeader: true,
  useCodeBlocks: true,
  parametersFormat: "table",
  interfacePropertiesFormat: "table",
  typeDeclarationFormat: "table",
  pageTitleTemplates: { module: ({ name }) => `\`${name}\`` },
};

/** The first comment of an entry's source, which describes the path. */
function introduction(source: string): string {
  const [, text] = /^\/\*\*([\s\S]*?)\*\//.exec(readFileSync(source, "utf8")) ?? [];
  return text === undefined ? "" : `/**${text}\n * @module\n */\n`;
}

/**
 * Writes one file per path into a folder, which exports only the public symbols of that path:
 * indexes also have symbols for other packages of the repository.
 */
function writeEntries(folder: string): ReadonlyMap<string, string> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const files = new Map<string, string>();
  for (const { path, file, symbols } of readSurface(root).entries) {
    if (symbols.length === 0) continue;
    const source = join(root, file);
    const names = symbols.map(({ name, kind }) => (kind === "type" ? `type ${name}` : name));
    const name = `${path.replaceAll("/", "_")}.ts`;
    const from = JSON.stringify(relative(folder, source));
    const code = `export { ${names.join(", ")} } from ${from};\n`;
    writeFileSync(join(folder, name), introduction(source) + code);
    files.set(path, join(folder, name));
  }
  const settings = { extends: relative(folder, join(root, "tsconfig.json")), include: ["*.ts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ ...settings, exclude: [] }));
  return files;
}

/** Reads the public symbols. */
async function readProject(
  app: Application,
  files: ReadonlyMap<string, string>,
): Promise<ProjectReflection> {
  const project = await app.convert();
  if (project === undefined) throw new Error("TypeDoc could not read the packages.");
  const pathOf = new Map([...files.keys()].map((path) => [path.replaceAll("/", "_"), path]));
  for (const module of project.children ?? []) {
    const path = pathOf.get(module.name.replace(/^.*\//, ""));
    if (path === undefined) throw new Error(`TypeDoc read ${module.name}, which is not a path.`);
    module.name = path;
  }
  return project;
}

/**
 * Writes the pages into `folder`, which is replaced; `scratch` is a folder inside the repository.
 */
export async function writeApi(folder: string, scratch: string): Promise<void> {
  const files = writeEntries(scratch);
  const options: TypeDocOptions & PluginOptions = {
    ...markdown,
    entryPoints: [...files.values()],
    tsconfig: join(scratch, "tsconfig.json"),
    plugin: ["typedoc-plugin-markdown"],
    skipErrorChecking: true,
    excludeInternal: true,
    excludeExternals: true,
    disableSources: true,
    outputs: [{ name: "markdown", path: folder }],
    readme: "none",
    groupOrder: ["Functions", "Variables", "Classes", "*"],
    name: "API",
    logLevel: "Error",
  };
  const app = await Application.bootstrapWithPlugins(options);
  const project = await readProject(app, files);
  rmSync(folder, { recursive: true, force: true });
  await app.generateOutputs(project);
}
