/**
 * The public symbols of every path in the `exports` of the packages, with kind and whether the
 * declaration is documented. Read from the sources by TypeScript.
 *
 * Export statements of an index and declarations that are marked `@internal` are for other packages
 * of this repository. The declaration build removes both.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import ts from "typescript";

type Kind = "class" | "const" | "function" | "namespace" | "type";

interface PublicSymbol {
  readonly name: string;
  readonly kind: Kind;
  /** The declarations behind the exported name: several for an overloaded function. */
  readonly declarations: readonly ts.Declaration[];
  /** Whether one of its declarations has TSDoc. */
  readonly documented: boolean;
}

interface Entry {
  /** The path to import from, such as `diffeo/graph`. */
  readonly path: string;
  /** Its source, relative to the root. */
  readonly file: string;
  /** Entries that this one re-exports with `export *`. */
  readonly whole: readonly string[];
  /** Symbols of this entry that no entry of `whole` has, by name. */
  readonly symbols: readonly PublicSymbol[];
}

export interface Surface {
  readonly program: ts.Program;
  readonly entries: readonly Entry[];
}

/** Folders of packages that are published with code, relative to the root. */
const publishedPackages = (root: string): string[] =>
  readdirSync(join(root, "packages"))
    .map((name) => join("packages", name))
    .filter((folder) => existsSync(join(root, folder, "package.json")))
    .sort();

/** The source file behind each path that a package exports. */
function entryFiles(root: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const folder of publishedPackages(root)) {
    const { name, exports } = JSON.parse(
      readFileSync(join(root, folder, "package.json"), "utf8"),
    ) as { name: string; exports: Record<string, string | { readonly "diffeo-source"?: string }> };
    for (const [path, target] of Object.entries(exports))
      if (typeof target !== "string" && target["diffeo-source"] !== undefined)
        files.set(
          path === "." ? name : `${name}${path.slice(1)}`,
          join(root, folder, target["diffeo-source"]),
        );
  }
  return files;
}

/** The TypeScript program of given files, with the settings of the repository. */
function programOf(root: string, files: readonly string[]): ts.Program {
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
  return ts.createProgram([...files], { ...options, noEmit: true });
}

/** Whether a comment directly above a node, or the statement that holds it, says `@internal`. */
function isInternal(node: ts.Node): boolean {
  const statement =
    ts.isVariableDeclaration(node) && ts.isVariableStatement(node.parent.parent)
      ? node.parent.parent
      : node;
  const text = statement.getSourceFile().text;
  const comments = ts.getLeadingCommentRanges(text, statement.pos) ?? [];
  return comments.some(({ pos, end }) => text.slice(pos, end).includes("@internal"));
}

function kindOf(declaration: ts.Declaration): Kind {
  if (ts.isClassDeclaration(declaration)) return "class";
  if (ts.isInterfaceDeclaration(declaration) || ts.isTypeAliasDeclaration(declaration))
    return "type";
  if (ts.isFunctionDeclaration(declaration)) return "function";
  if (ts.isNamespaceExport(declaration) || ts.isSourceFile(declaration)) return "namespace";
  const { initializer } = declaration as ts.VariableDeclaration;
  return initializer !== undefined &&
    (ts.isArrowFunction(initializer) || ts.isFunctionExpression(initializer))
    ? "function"
    : "const";
}

function symbolOf(checker: ts.TypeChecker, name: string, exported: ts.Symbol): PublicSymbol[] {
  const target =
    exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
  const namespace = exported.declarations?.find(ts.isNamespaceExport);
  const declarations = namespace === undefined ? (target.declarations ?? []) : [namespace];
  // Symbols of other packages are documented there.
  const own = declarations.filter((d) => !d.getSourceFile().fileName.includes("node_modules"));
  if (declarations.some(isInternal)) return [];
  const commented = namespace === undefined ? target : exported;
  const text =
    namespace === undefined
      ? ts.displayPartsToString(commented.getDocumentationComment(checker))
      : (ts.getJSDocCommentsAndTags(namespace.parent)[0]?.getText() ?? "");
  return [
    {
      name,
      kind: kindOf(declarations[0]),
      declarations: own,
      documented: own.length === 0 || text.trim() !== "",
    },
  ];
}

/** The public symbols of all packages below a root. */
export function readSurface(root: string): Surface {
  const files = entryFiles(root);
  const program = programOf(root, [...files.values()]);
  const checker = program.getTypeChecker();
  const pathOf = new Map([...files].map(([path, file]) => [file, path]));

  const collect = (file: ts.SourceFile, whole: string[], found: PublicSymbol[]): void => {
    const exported = checker.getSymbolAtLocation(file)?.exports ?? new Map();
    for (const [key, symbol] of exported as Map<string, ts.Symbol>) {
      if (key === "__export") continue;
      const statement = (symbol.declarations ?? []).map(exportStatement);
      if (!statement.some(isInternal)) found.push(...symbolOf(checker, symbol.name, symbol));
    }
    for (const statement of file.statements) {
      if (!ts.isExportDeclaration(statement) || statement.exportClause !== undefined) continue;
      if (isInternal(statement)) continue;
      const module = checker.getSymbolAtLocation(statement.moduleSpecifier as ts.Expression);
      const target = module?.declarations?.[0] as ts.SourceFile;
      const path = pathOf.get(target.fileName);
      if (path === undefined) collect(target, whole, found);
      else whole.push(path);
    }
  };

  const entries = [...files].map(([path, name]) => {
    const [whole, found]: [string[], PublicSymbol[]] = [[], []];
    collect(program.getSourceFile(name) as ts.SourceFile, whole, found);
    const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
    return { path, file: relative(root, name), whole: whole.sort(), symbols: found.sort(byName) };
  });
  return { program, entries };
}

/** The statement by which a declaration is exported. */
function exportStatement(declaration: ts.Declaration): ts.Node {
  let node: ts.Node = declaration;
  while (node.parent !== undefined && !ts.isSourceFile(node.parent)) node = node.parent;
  return node;
}

/** The list of public symbols, a line each under the path that exports them. */
export const surfaceList = ({ entries }: Surface): string =>
  entries
    .map(({ path, whole, symbols }) =>
      [
        `# ${path}`,
        ...whole.map((other) => `* from ${other}`),
        ...symbols.map(({ name, kind }) => `${name} ${kind}`),
      ].join("\n"),
    )
    .join("\n\n")
    .concat("\n");

/**
 * `path: name` of each public value that occurs in no code of a document and in no example. A name
 * in the text of a document counts where it stands in backquotes.
 */
export function unmentioned(root: string, { entries }: Surface): string[] {
  const read = (folder: string, ending: string): string[] =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      // The API reference names all symbols, since it is generated from them.
      .filter((path) => path.endsWith(ending) && !path.startsWith(join("reference", "api")))
      .map((path) => readFileSync(join(root, folder, path), "utf8"));
  const documents = [...read("docs", ".md"), readFileSync(join(root, "README.md"), "utf8")];
  const code = documents.flatMap((text) => text.match(/```[\s\S]*?```|`[^`\n]+`/g) ?? []);
  const words = new Set(
    [...code, ...read("examples", ".ts")].flatMap((text) => text.match(/[\p{L}_$][\w$]*/gu) ?? []),
  );
  return entries.flatMap(({ path, symbols }) =>
    symbols
      .filter(({ kind, name }) => kind !== "type" && !words.has(name))
      .map(({ name }) => `${path}: ${name}`),
  );
}

/** `path: name (file:line)` of each public symbol without documentation. */
export const undocumented = (root: string, { entries }: Surface): string[] =>
  entries.flatMap(({ path, symbols }) =>
    symbols
      .filter(({ documented }) => !documented)
      .map(({ name, declarations: [first] }) => {
        const file = first.getSourceFile();
        const { line } = file.getLineAndCharacterOfPosition(first.getStart());
        return `${path}: ${name} (${relative(root, file.fileName)}:${line + 1})`;
      }),
  );
