/**
 * The `@example` blocks of public symbols, as programs that TypeScript checks. An example may use
 * the symbols of its own path, of `diffeo`, and the values of `given`; it imports everything else.
 */
import { join } from "node:path";
import ts from "typescript";
import type { Surface } from "./symbols.ts";

interface Example {
  /** `path: name` of its symbol. */
  readonly of: string;
  readonly path: string;
  readonly code: string;
}

/** Values that examples use without declaring them. */
const given = `
  import type { Tensor } from "diffeo/graph";
  import type { MarginalScore } from "diffeo/sde";
  declare global {
    /** Points and data. */
    const x: Tensor, y: Tensor;
    const score: MarginalScore;
    /** The content of a file. */
    const bytes: Uint8Array<ArrayBuffer>;
    const rows: number[][];
  }
`;

/** Every example of a public symbol, without the fence around it. */
export function examplesOf({ entries }: Surface): Example[] {
  return entries.flatMap(({ path, symbols }) =>
    symbols.flatMap(({ name, declarations }) =>
      declarations
        .flatMap((declaration) => ts.getJSDocTags(declaration))
        .filter((tag) => tag.tagName.text === "example")
        .map((tag) => ({
          of: `${path}: ${name}`,
          path,
          code: (ts.getTextOfJSDocComment(tag.comment) ?? "").replaceAll(/^```.*$/gm, ""),
        })),
    ),
  );
}

/** The names that a program uses. */
function namesIn(code: string): Set<string> {
  const names = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) names.add(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("example.ts", code, ts.ScriptTarget.ES2022, true));
  return names;
}

/** The names that a program declares or imports itself, at its top. */
function declaredIn(code: string): Set<string> {
  const file = ts.createSourceFile("example.ts", code, ts.ScriptTarget.ES2022, true);
  const names = new Set<string>();
  const add = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) names.add(node.text);
    else if (!ts.isImportDeclaration(node) || node.importClause !== undefined)
      ts.forEachChild(node, (child) => {
        if (ts.isExpression(child) && !ts.isIdentifier(child)) return;
        add(child);
      });
  };
  for (const statement of file.statements) {
    if (ts.isImportDeclaration(statement)) add(statement);
    if (ts.isVariableStatement(statement))
      for (const { name } of statement.declarationList.declarations) add(name);
    if (ts.isFunctionDeclaration(statement) && statement.name) add(statement.name);
  }
  return names;
}

/** An example with imports of the symbols of its path and of `diffeo` that it uses. */
function programText({ path, code }: Example, { entries }: Surface): string {
  const used = namesIn(code);
  const taken = declaredIn(code);
  const lines: string[] = [];
  const exportedBy = (name: string): string[] => {
    const entry = entries.find((e) => e.path === name);
    return [
      ...(entry?.symbols.map((s) => s.name) ?? []),
      ...(entry?.whole ?? []).flatMap(exportedBy),
    ];
  };
  for (const from of new Set([path, "diffeo"])) {
    const names = [...new Set(exportedBy(from))].filter((n) => used.has(n) && !taken.has(n));
    for (const name of names) taken.add(name);
    if (names.length > 0) lines.push(`import { ${names.join(", ")} } from "${from}";`);
  }
  return [...lines, code, "export {};"].join("\n");
}

/** The errors that TypeScript finds in examples: `path: name: message`. */
export function faultsOfExamples(
  root: string,
  surface: Surface,
  examples: readonly Example[],
): string[] {
  const texts = new Map(
    examples.map((example, i) => [
      join(root, "test", "surface", `example-${i}.ts`),
      programText(example, surface),
    ]),
  );
  texts.set(join(root, "test", "surface", "given.ts"), given);
  const options = { ...surface.program.getCompilerOptions(), noUnusedLocals: false };
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (name) => texts.has(name) || fileExists(name);
  host.readFile = (name) => texts.get(name) ?? readFile(name);
  host.getSourceFile = (name, version, ...rest) => {
    const text = texts.get(name);
    // Files of the packages are already parsed.
    return text === undefined
      ? (surface.program.getSourceFile(name) ?? getSourceFile(name, version, ...rest))
      : ts.createSourceFile(name, text, version);
  };
  const program = ts.createProgram([...texts.keys()], options, host);
  return [...texts.keys()].flatMap((name, i) => {
    const file = program.getSourceFile(name) as ts.SourceFile;
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map(
      ({ messageText }) =>
        `${examples[i]?.of ?? "given"}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`,
    );
  });
}
