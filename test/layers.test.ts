/**
 * The layers of the repository: which folders may import from which. Read from the sources,
 * including types and dynamic imports.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Folders of each package from top to bottom: a folder imports only from those above it. Two
 * folders in one row do not import from each other. `diffusion/fit` is a stage of `diffusion`;
 * other stages import from it through its index.
 */
const layers: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "packages/diffeo": [
    ["graph"],
    ["engine", "host"],
    ["random", "job"],
    ["two-sample"],
    ["bijector"],
    ["domain"],
    ["distribution"],
    ["score"],
    ["sde"],
    ["sampler", "outside"],
    ["matching"],
    ["model"],
    ["train"],
    ["categorical", "check", "mcmc"],
    ["node"],
  ],
  "packages/picture": [["node"]],
  "packages/chess": [["board"], ["measure"], ["diffusion"], ["picture"], ["study"], ["node"]],
  "packages/tables": [
    ["table"],
    ["dkef", "diffusion/kinds"],
    ["diffusion/schema"],
    ["diffusion/encode"],
    ["diffusion/network"],
    ["diffusion/query"],
    ["diffusion/fit", "diffusion/file"],
    ["job"],
    ["measure"],
    ["picture"],
    ["report"],
    ["study"],
    ["node"],
  ],
  "packages/studies": [
    ["study"],
    ["problem"],
    ["equal-pieces", "gradient-noise", "gssm", "learned-map", "sample-where", "where-to-train"],
    ["node"],
  ],
  "packages/queue": [["node"]],
  "apps/cli": [
    ["shell"],
    ["chess", "density", "grid", "infer", "studio", "study", "table"],
    ["queue"],
  ],
  "apps/studio": [["shell"], ["controls"], ["view"], ["pages"]],
};

/** Which packages a package may import. */
const doors: Readonly<Record<string, readonly string[]>> = {
  "packages/diffeo": [],
  "packages/picture": [],
  "packages/chess": ["diffeo", "diffeo-picture", "diffeo-models"],
  "packages/tables": ["diffeo", "diffeo-picture"],
  "packages/studies": ["diffeo", "diffeo-picture", "diffeo-chess", "diffeo-tables"],
  "packages/queue": ["diffeo"],
  "apps/cli": [
    "diffeo",
    "diffeo-picture",
    "diffeo-chess",
    "diffeo-tables",
    "diffeo-queue",
    "diffeo-studies",
    "diffeo-studio",
  ],
  "apps/studio": ["diffeo", "diffeo-chess", "diffeo-tables", "diffeo-models"],
};

interface Import {
  readonly file: string;
  readonly name: string;
}

/** The imports and re-exports of a file. */
function importsOf(file: string): Import[] {
  const text = readFileSync(file, "utf8").replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
  const statement = /^\s*(?:import|export)\s(?:[^;"']*?\sfrom\s)?\s*["']([^"']+)["']/gm;
  const expression = /\bimport\(\s*["']([^"']+)["']/g;
  return [...text.matchAll(statement), ...text.matchAll(expression)].map((match) => ({
    file,
    name: match[1],
  }));
}

const show = ({ file, name }: Import): string => `${relative(root, file)} imports ${name}`;

/** Cycles of imports, one per strongly connected component. */
function cyclesIn(edges: ReadonlyMap<string, readonly string[]>): string[][] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (file: string): void => {
    index.set(file, index.size);
    low.set(file, index.get(file) as number);
    stack.push(file);
    for (const next of edges.get(file) ?? []) {
      if (!index.has(next)) visit(next);
      if (stack.includes(next))
        low.set(file, Math.min(low.get(file) as number, low.get(next) as number));
    }
    if (low.get(file) !== index.get(file)) return;
    const set = stack.splice(stack.indexOf(file));
    if (set.length > 1) found.push(set.map((f) => relative(root, f)).sort());
  };
  for (const file of edges.keys()) if (!index.has(file)) visit(file);
  return found;
}

describe.each(Object.keys(layers))("%s", (name) => {
  const src = join(root, name, "src");
  const files = readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((path) => /\.([jt]s|svelte)$/.test(path))
    .map((path) => join(src, path));
  const all = files.flatMap(importsOf);
  const local = all.filter((i) => i.name.startsWith("."));
  const target = ({ file, name: to }: Import): string => resolve(dirname(file), to);
  const stages = layers[name].flat().filter((folder) => folder.includes("/"));
  const folderOf = (file: string): string => {
    const path = relative(src, file);
    const stage = stages.find((folder) => path.startsWith(`${folder}/`));
    return stage ?? (path.includes("/") ? path.split("/")[0] : "");
  };
  const rank = new Map(layers[name].flatMap((row, i) => row.map((folder) => [folder, i] as const)));

  it("has the folders of the table", () => {
    const folders = new Set(files.map(folderOf).filter((folder) => folder !== ""));
    expect([...folders].sort()).toEqual([...rank.keys()].sort());
  });

  it("imports only existing files", () => {
    expect(local.filter((i) => !existsSync(target(i))).map(show)).toEqual([]);
  });

  it("imports only from folders above", () => {
    const wrong = local.filter((i) => {
      const [from, to] = [folderOf(i.file), folderOf(target(i))];
      if (from === to || from === "") return false;
      return !((rank.get(to) ?? Number.POSITIVE_INFINITY) < (rank.get(from) as number));
    });
    expect(wrong.map(show)).toEqual([]);
  });

  it("enters stages through their index", () => {
    const wrong = local.filter((i) => {
      const [from, to] = [folderOf(i.file), folderOf(target(i))];
      return to.includes("/") && from !== to && !target(i).endsWith("/index.ts");
    });
    expect(wrong.map(show)).toEqual([]);
  });

  it("has no cycle of files", () => {
    const edges = new Map(
      files.map((file) => [file, local.filter((i) => i.file === file).map(target)]),
    );
    expect(cyclesIn(edges)).toEqual([]);
  });

  it("imports other packages of the repository only through their exports, and only allowed ones", () => {
    const others = all.filter((i) => /^diffeo(-|\/|$)/.test(i.name));
    expect(others.filter((i) => !doors[name].includes(i.name.split("/")[0])).map(show)).toEqual([]);
    expect(
      all.filter((i) => i.name.startsWith(".") && !target(i).startsWith(src)).map(show),
    ).toEqual([]);
  });

  it("needs Node only under node/, and runtimes only in the engine", () => {
    if (name === "apps/cli") return;
    const needsNode = (i: Import): boolean =>
      i.name.startsWith("node:") || /^diffeo[a-z-]*\/node$/.test(i.name);
    expect(all.filter((i) => folderOf(i.file) !== "node" && needsNode(i)).map(show)).toEqual([]);
    const runs = all.filter(
      (i) => i.name.includes("onnxruntime") && !["engine", "node"].includes(folderOf(i.file)),
    );
    expect(runs.map(show)).toEqual([]);
  });
});

describe("packages/queue/src", () => {
  it("loads the Redis client when it is used: other files import from node/redis only types and the address", () => {
    const src = join(root, "packages/queue/src");
    const others = readdirSync(src, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts") && !path.startsWith("node/redis/"))
      .flatMap((path) => readFileSync(join(src, path), "utf8").split("\n"));
    const values = others.filter((line) => /^(import|export) (?!type )/.test(line));
    expect(values.filter((line) => /bullmq|ioredis|redis\/(?!address)/.test(line))).toEqual([]);
  });
});

describe("packages/diffeo/src/graph", () => {
  const graph = join(root, "packages/diffeo/src/graph");
  const all = readdirSync(graph, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .flatMap((path) => importsOf(join(graph, path)));

  it("imports pbf of all packages, and nothing else", () => {
    expect(all.filter((i) => !i.name.startsWith(".") && i.name !== "pbf").map(show)).toEqual([]);
  });

  it("has primitives without knowledge of rewrite rules: only simplify.ts applies those", () => {
    const knows = all.filter((i) => i.name.startsWith("./rewrite/"));
    expect(knows.map((i) => relative(graph, i.file))).toEqual(["simplify.ts"]);
  });
});
