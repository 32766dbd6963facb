/** The prose of a file: text of documents, comments, strings of code. */
import ts from "typescript";

export interface Text {
  readonly text: string;
  /** The line in the file at which it begins, from 1. */
  readonly line: number;
}

/** The text with all matches replaced by spaces, so that line numbers do not change. */
const blank = (text: string, pattern: RegExp): string =>
  text.replace(pattern, (match) => match.replace(/[^\n]/g, " "));

/** The text without code, addresses and quoted identifiers, which are not prose. */
const prose = (text: string): string =>
  [
    /^(\s*\*? ?)(```|~~~)[\s\S]*?^\s*\*? ?\2/gm,
    /`[^`\n]+`/g,
    /@param \w+/g,
    /\]\([^)\s]*\)/g,
    /https?:\S+/g,
  ].reduce(blank, text);

/** Comments, and the strings and templates in which there are spaces. */
function codeTexts(source: string, first: number): readonly Text[] {
  const file = ts.createSourceFile("file.ts", source, ts.ScriptTarget.Latest, true);
  const lineOf = (position: number): number =>
    file.getLineAndCharacterOfPosition(position).line + first;
  const texts: Text[] = [];
  const comments = new Set<number>();
  const visit = (node: ts.Node): void => {
    for (const { pos, end } of [
      ...(ts.getLeadingCommentRanges(source, node.getFullStart()) ?? []),
      ...(ts.getTrailingCommentRanges(source, node.getEnd()) ?? []),
    ])
      if (!comments.has(pos)) {
        comments.add(pos);
        texts.push({ text: prose(source.slice(pos, end)), line: lineOf(pos) });
      }
    if (
      ts.isStringLiteralLike(node) ||
      ts.isTemplateMiddleOrTemplateTail(node) ||
      ts.isTemplateHead(node)
    )
      if (node.text.includes(" "))
        texts.push({ text: prose(node.text), line: lineOf(node.getStart()) });
    ts.forEachChild(node, visit);
  };
  visit(file);
  return texts;
}

/** A Svelte component: its markup without styles and expressions, and its script. */
function svelteTexts(source: string): readonly Text[] {
  const scripts = [...source.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)].flatMap((match) =>
    codeTexts(match[1], source.slice(0, match.index).split("\n").length),
  );
  const markup = [/<script[\s\S]*?<\/script>/g, /<style[\s\S]*?<\/style>/g, /\{[^{}]*\}/g].reduce(
    blank,
    source,
  );
  return [...scripts, { text: prose(markup), line: 1 }];
}

/** The prose of a file, by the extension of its name. */
export function textsOf(path: string, source: string): readonly Text[] {
  if (path.endsWith(".md")) return [{ text: prose(source), line: 1 }];
  if (path.endsWith(".svelte")) return svelteTexts(source);
  return codeTexts(source, 1);
}
