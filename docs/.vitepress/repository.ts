/**
 * Links from documents to files of the repository outside `docs/`. Markdown files among them are
 * pages of the site under `/repository/`; other files are copied to `/files/`.
 */
import { copyFileSync, existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { dirname, join, normalize, posix, relative } from "node:path";
import type { MarkdownEnv, MarkdownRenderer } from "vitepress";
import { docs } from "./navigation.ts";

export const root = join(docs, "..");

/** The Markdown files that are pages, by the name of the page. */
export const repositoryPages: ReadonlyMap<string, string> = new Map([
  ["changelog", "CHANGELOG.md"],
  ["conduct", "CODE_OF_CONDUCT.md"],
  ["contributing", "CONTRIBUTING.md"],
  ["security", "SECURITY.md"],
  ["models", "models/README.md"],
  ...readdirSync(join(root, "studies"))
    .map((name): [string, string] => [`study-${name}`, `studies/${name}/README.md`])
    .filter(([, path]) => existsSync(join(root, path))),
]);

const pageNames = new Map([...repositoryPages].map(([name, path]) => [path, name]));
const linked = new Set<string>();

/** The path in the repository of the file that a page is made from. */
function sourceOf(page: string): string {
  const [, name] = /^repository\/(.*)\.md$/.exec(page) ?? [];
  return (name !== undefined && repositoryPages.get(name)) || posix.join("docs", page);
}

/** The address on the site of what `link`, written in the file `source`, leads to. */
function address(link: string, source: string, page: string): string {
  const [path, heading] = link.split("#");
  const target = posix.join(posix.dirname(source), decodeURI(path));
  const anchor = heading === undefined ? "" : `#${heading}`;
  const from = posix.dirname(page);
  if (target.startsWith("docs/"))
    return `./${posix.relative(from, target.slice("docs/".length))}${anchor}`;
  if (target === "README.md") return `/${anchor}`;
  const name = pageNames.get(target);
  if (name !== undefined) return `/repository/${name}${anchor}`;
  const file = join(root, target);
  if (!existsSync(file) || !statSync(file).isFile())
    throw new Error(`${source} links to ${link}, which is not a file of the repository.`);
  linked.add(target);
  return `/files/${target}`;
}

const isOutside = (link: string, page: string): boolean =>
  !/^([a-z]+:|#|\/)/.test(link) &&
  (page.startsWith("repository/") || normalize(join(dirname(page), link)).startsWith(".."));

/** A plugin of Markdown: rewrites links and pictures that lead out of `docs/`. */
export function linkToRepository(md: MarkdownRenderer): void {
  md.core.ruler.push("repository", ({ tokens, env }) => {
    const { relativePath: page } = env as MarkdownEnv;
    // VitePress renders titles by themselves, without a page.
    if (page === undefined) return;
    const source = sourceOf(page);
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const attribute = { link_open: "href", image: "src" }[token.type];
      const link = attribute && token.attrGet(attribute);
      if (!attribute || !link || !isOutside(link, page)) continue;
      if (token.type === "link_open") token.attrSet("href", address(link, source, page));
      else {
        const file = join(root, dirname(source), link);
        token.attrSet("src", relative(join(docs, dirname(page)), file));
      }
    }
  });
}

/** Copies the files that pages link to. */
export function copyLinkedFiles(outDir: string): void {
  for (const path of linked) {
    const to = join(outDir, "files", path);
    mkdirSync(dirname(to), { recursive: true });
    copyFileSync(join(root, path), to);
  }
}
