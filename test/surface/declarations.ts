/**
 * The published declarations of the packages, and the names that the types of public symbols refer
 * to, in their own package and in others.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import ts from "typescript";
import type { Surface } from "./symbols.ts";

/** A name that a declaration refers to: in a file of the same package, or in another package. */
type Reference =
  | { readonly file: string; readonly name: string }
  | { readonly module: string; readonly name: string };

interface DeclarationFile {
  readonly path: string;
  /** Declarations of the file itself, by name. */
  readonly own: ReadonlyMap<string, readonly ts.Node[]>;
  /** Names from other files and packages, by the name they have here. */
  readonly imported: ReadonlyMap<string, Reference>;
  /** Modules that the file re-exports with `export *`. */
  readonly whole: readonly string[];
}

/** Writes the declarations of all packages into a folder, without `@internal` ones. */
function writeDeclarations(root: string): string {
  // Below node_modules, where the compiler finds the types of Node.
  const cache = join(root, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "declarations-"));
  const config = join(folder, "tsconfig.json");
  const compilerOptions = {
    declaration: true,
    emitDeclarationOnly: true,
    noEmit: false,
    stripInternal: true,
    allowJs: false,
    checkJs: false,
    noCheck: true,
    outDir: join(folder, "types"),
    rootDir: root,
  };
  writeFileSync(
    config,
    JSON.stringify({
      extends: join(root, "tsconfig.json"),
      compilerOptions,
      include: [join(root, "packages", "*", "src")],
      exclude: [],
    }),
  );
  const compiler = join(root, "node_modules", "typescript-native", "bin", "tsc");
  try {
    execFileSync(process.execPath, [compiler, "-p", config]);
    return folder;
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  }
}

const namesOf = (statement: ts.Statement): string[] =>
  ts.isVariableStatement(statement)
    ? statement.declarationList.declarations.map((d) => d.name.getText())
    : "name" in statement
      ? [(statement as ts.FunctionDeclaration).name?.getText() ?? ""]
      : [];

/** The name by which a type refers to a declaration. */
const nameIn = (node: ts.Node): ts.EntityName | ts.Expression | undefined =>
  ts.isTypeReferenceNode(node)
    ? node.typeName
    : ts.isTypeQueryNode(node)
      ? node.exprName
      : ts.isExpressionWithTypeArguments(node)
        ? node.expression
        : undefined;

/** `a` of `a.b.c`. */
const leftmost = (name: ts.EntityName | ts.Expression): string => name.getText().split(".")[0];

/** Reads the declarations that `writeDeclarations` wrote into a folder. */
function declarationReader(folder: string) {
  const files = new Map<string, DeclarationFile>();

  const referenceTo = (from: string, module: string, name: string): Reference =>
    module.startsWith(".")
      ? { file: join(dirname(from), module).replace(/\.ts$/, ".d.ts"), name }
      : { module, name };

  const read = (path: string): DeclarationFile => {
    const known = files.get(path);
    if (known) return known;
    const source = ts.createSourceFile(
      path,
      existsSync(path) ? readFileSync(path, "utf8") : "",
      ts.ScriptTarget.Latest,
      true,
    );
    const own = new Map<string, ts.Node[]>();
    const imported = new Map<string, Reference>();
    const whole: string[] = [];
    for (const statement of source.statements) {
      if (ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement)) {
        const module = (statement.moduleSpecifier as ts.StringLiteral | undefined)?.text;
        const clause = ts.isImportDeclaration(statement)
          ? statement.importClause?.namedBindings
          : statement.exportClause;
        if (module === undefined) continue;
        if (clause === undefined) whole.push(module);
        else if (ts.isNamedImports(clause) || ts.isNamedExports(clause))
          for (const { name, propertyName } of clause.elements)
            imported.set(name.text, referenceTo(path, module, (propertyName ?? name).text));
        else imported.set(clause.name.text, referenceTo(path, module, "*"));
      } else
        for (const name of namesOf(statement)) own.set(name, [...(own.get(name) ?? []), statement]);
    }
    const file = { path, own, imported, whole };
    files.set(path, file);
    return file;
  };

  /** The declaration that a name of a file refers to. */
  const find = (file: DeclarationFile, name: string): Reference | undefined => {
    if (file.own.has(name)) return { file: file.path, name };
    const imported = file.imported.get(name);
    if (imported) return imported;
    for (const module of file.whole) {
      const target = referenceTo(file.path, module, name);
      if ("file" in target && find(read(target.file), name)) return target;
    }
    return undefined;
  };

  /** The names that the types of a declaration refer to. */
  const referencesIn = (file: DeclarationFile, node: ts.Node): Reference[] => {
    const found: Reference[] = [];
    const visit = (child: ts.Node): void => {
      if (ts.isImportTypeNode(child) && child.qualifier !== undefined) {
        const module = ((child.argument as ts.LiteralTypeNode).literal as ts.StringLiteral).text;
        found.push(referenceTo(file.path, module, leftmost(child.qualifier)));
      }
      const name = nameIn(child);
      const reference = name === undefined ? undefined : find(file, leftmost(name));
      if (reference) found.push(reference);
      ts.forEachChild(child, visit);
    };
    visit(node);
    return found;
  };

  /**
   * All names that given names refer to: `FILE#NAME` for those of their package, `FILE:NAME` for
   * missing ones, and `MODULE:NAME` for those of other packages.
   */
  const needed = (starts: readonly Reference[]): Set<string> => {
    const found = new Set<string>();
    const visit = (reference: Reference): void => {
      if ("module" in reference) {
        found.add(`${reference.module}:${reference.name}`);
        return;
      }
      if (reference.name === "*") return;
      const file = read(reference.file);
      const target = find(file, reference.name);
      if (target === undefined) {
        found.add(`${relative(join(folder, "types"), file.path)}:${reference.name}`);
        return;
      }
      if ("module" in target || target.file !== file.path) {
        visit(target);
        return;
      }
      const id = `${relative(join(folder, "types"), file.path)}#${target.name}`;
      if (found.has(id)) return;
      found.add(id);
      for (const node of file.own.get(target.name) ?? [])
        for (const next of referencesIn(file, node)) visit(next);
    };
    for (const start of starts) visit(start);
    return found;
  };

  return { needed };
}

/**
 * Names in the types of public symbols that are not published: `MODULE:NAME` for those of another
 * package, `FILE:NAME` for those of their own package.
 */
export function hiddenNeeds(root: string, { entries }: Surface): string[] {
  const byPath = new Map(entries.map((entry) => [entry.path, entry]));
  const isPublic = (path: string, name: string): boolean => {
    const entry = byPath.get(path);
    if (entry === undefined) return !/^diffeo/.test(path);
    const isOwn = name === "*" || entry.symbols.some((symbol) => symbol.name === name);
    return isOwn || entry.whole.some((other) => isPublic(other, name));
  };
  const folder = writeDeclarations(root);
  try {
    const { needed } = declarationReader(folder);
    const starts = entries.flatMap(({ file, symbols }) => {
      const declarations = join(folder, "types", file.replace(/\.ts$/, ".d.ts"));
      return symbols.map(({ name }) => ({ file: declarations, name }));
    });
    const others = [...needed(starts)].filter((id) => !id.includes("#"));
    return others.filter((id) => {
      const [module, name] = id.split(":");
      return module.endsWith(".d.ts") || !isPublic(module, name);
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
