/**
 * `npm run long` lists code beyond the limits of the style guide: functions of more than 60 lines,
 * files of more than 300 and lines of more than 100 columns, in the sources of all packages. `npm
 * run long -- PATH…` looks only at these files and folders. It fails if it lists something; `npm
 * run lint` runs it.
 *
 * A function is counted with everything inside it, so a long closure also appears by itself.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import ts from "typescript";

const FUNCTION_LINES = 60;
const FILE_LINES = 300;
const COLUMNS = 100;
/** Formulas and tables in comments are aligned by spaces, which wrapping would destroy. */
const ALIGNED_COLUMNS = 120;
const ALIGNED = /^\s*(\*|\/\/) {2,}\S|^\s*(\*|\/\/).*\S {3,}\S/;

const root = join(import.meta.dirname, "..");

/** Exceptions with their reasons: functions as "file name", lines and files as "file". */
const exceptions: Readonly<Record<string, string>> = {
  "packages/diffeo/src/random/threefry.ts threefry": "unrolled: a loop takes 2.7 times as long",
  "apps/cli/src/table/penguins.ts": "the rows of a table",
  "packages/chess/src/board/pieces.ts": "paths of SVG",
};

interface LongFunction {
  readonly name: string;
  readonly line: number;
  readonly lines: number;
}

/** The name of a function, or that of the variable or property it is assigned to. */
function nameOf(node: ts.SignatureDeclaration): string {
  if (node.name) return node.name.getText();
  const { parent } = node;
  const named = ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent);
  return named ? parent.name.getText() : "(anonymous)";
}

/** The functions of a source that are longer than the limit, outer ones first. */
function longFunctions(source: ts.SourceFile): readonly LongFunction[] {
  const found: LongFunction[] = [];
  const lineOf = (position: number): number => source.getLineAndCharacterOfPosition(position).line;
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && "body" in node && node.body) {
      const line = lineOf(node.getStart());
      const lines = lineOf(node.end) - line + 1;
      if (lines > FUNCTION_LINES) found.push({ name: nameOf(node), line: line + 1, lines });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function sourcesBelow(path: string): readonly string[] {
  if (statSync(path).isFile()) return [path];
  const files = readdirSync(path, { recursive: true, encoding: "utf8" });
  return files.filter((file) => /\.(ts|svelte)$/.test(file)).map((file) => join(path, file));
}

/** The TypeScript of a file; of a Svelte component the script only, with its line numbers. */
function parse(path: string, text: string): ts.SourceFile {
  const script = /<script[^>]*>([\s\S]*?)<\/script>/.exec(text);
  const before = script ? text.slice(0, script.index).replace(/[^\n]/g, "") : "";
  const code = path.endsWith(".svelte") ? before + (script?.[1] ?? "") : text;
  return ts.createSourceFile(path, code, ts.ScriptTarget.Latest, true, ts.ScriptKind.TS);
}

function print(title: string, rows: readonly (readonly [number, string])[]): void {
  console.log(`${rows.length} ${title}`);
  const longestFirst = [...rows].sort(([a], [b]) => b - a);
  for (const [length, place] of longestFirst)
    console.log(`  ${String(length).padStart(5)}  ${place}`);
}

const paths = process.argv.slice(2);
const workspaces = ["packages", "apps"].flatMap((folder) =>
  readdirSync(join(root, folder)).map((name) => join(folder, name, "src")),
);
const folders = paths.length > 0 ? paths : workspaces;
const functions: [number, string][] = [];
const files: [number, string][] = [];
const columns: [number, string][] = [];
const used = new Set<string>();

/** Whether a function, line or file is an exception. */
function isException(name: string): boolean {
  if (!Object.hasOwn(exceptions, name)) return false;
  used.add(name);
  return true;
}

for (const path of folders.flatMap((folder) => sourcesBelow(join(root, folder)))) {
  const text = readFileSync(path, "utf8");
  const lines = text.trimEnd().split("\n");
  const name = relative(root, path);
  if (lines.length > FILE_LINES && !isException(name)) files.push([lines.length, name]);
  for (const [i, line] of lines.entries())
    if (line.length > (ALIGNED.test(line) ? ALIGNED_COLUMNS : COLUMNS) && !isException(name))
      columns.push([line.length, `${name}:${i + 1}`]);
  for (const found of longFunctions(parse(path, text)))
    if (!isException(`${name} ${found.name}`))
      functions.push([found.lines, `${name}:${found.line} ${found.name}`]);
}
print(`functions of more than ${FUNCTION_LINES} lines`, functions);
print(`files of more than ${FILE_LINES} lines`, files);
print(`lines of more than ${COLUMNS} columns`, columns);
const unused = paths.length > 0 ? [] : Object.keys(exceptions).filter((name) => !used.has(name));
for (const name of unused) console.log(`${name} is not long: remove it from the exceptions`);
if (functions.length + files.length + columns.length + unused.length > 0) process.exitCode = 1;
