import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

/** The house from top to bottom: a folder imports from those above it alone. Two in one row do not know each other. */
const rows: readonly (readonly string[])[] = [
  ["graph"],
  ["engine"],
  ["random"],
  ["bijector"],
  ["score"],
  ["sde"],
  ["sampler"],
  ["matching"],
  ["model"],
  ["train"],
  ["categorical", "figure"],
  ["chess", "density"],
  ["cli"],
];
const rank = new Map(rows.flatMap((row, i) => row.map((folder) => [folder, i] as const)));

const root = fileURLToPath(new URL("../src", import.meta.url));
const files = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts") && path.includes(sep))
  .map((path) => join(root, path));

const folderOf = (file: string): string => relative(root, file).split(sep)[0];

/** What a file imports or exports from elsewhere, statically or not, types included. */
function importsOf(file: string): string[] {
  const text = readFileSync(file, "utf8").replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
  const statement = /^\s*(?:import|export)\s(?:[^;"']*?\sfrom\s)?\s*["']([^"']+)["']/gm;
  const expression = /\bimport\(\s*["']([^"']+)["']/g;
  return [...text.matchAll(statement), ...text.matchAll(expression)].map((match) => match[1]);
}

const all = files.flatMap((file) => importsOf(file).map((name) => ({ file, name, folder: folderOf(file) })));
const show = ({ file, name }: { file: string; name: string }): string => `${relative(root, file)} imports ${name}`;

describe("the folders of src", () => {
  it("are the ones of the design", () => {
    expect([...new Set(files.map(folderOf))].filter((folder) => !rank.has(folder))).toEqual([]);
  });

  it("are read: every import leads to a file", () => {
    const local = all.filter(({ name }) => name.startsWith("."));
    expect(local.length).toBeGreaterThan(files.length);
    expect(local.filter(({ file, name }) => !existsSync(resolve(dirname(file), name))).map(show)).toEqual([]);
  });

  it("import only from folders above them", () => {
    const wrong = all.filter(({ file, name, folder }) => {
      if (!name.startsWith(".")) return false;
      const other = folderOf(resolve(dirname(file), name));
      return other !== folder && !((rank.get(other) ?? Number.POSITIVE_INFINITY) < (rank.get(folder) as number));
    });
    expect(wrong.map(show)).toEqual([]);
  });

  it("know no runtime, unless they are the engine", () => {
    expect(all.filter(({ name, folder }) => name.includes("onnxruntime") && folder !== "engine").map(show)).toEqual([]);
  });
});

describe("src/graph", () => {
  it("runs anywhere: of packages it imports pbf alone, and nothing of Node", () => {
    const outside = all.filter(({ name, folder }) => folder === "graph" && !name.startsWith("."));
    expect(outside.filter(({ name }) => name !== "pbf").map(show)).toEqual([]);
  });
});
