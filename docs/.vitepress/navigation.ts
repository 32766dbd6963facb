/**
 * The navigation, made from the folders of `docs/`: a group per folder, an entry per page. A page
 * is named by `title` in its front matter, or else by its first heading; `order` in the front
 * matter places it before pages without one, and `index.md` comes first.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { DefaultTheme } from "vitepress";

type Item = DefaultTheme.SidebarItem;

export const docs = join(import.meta.dirname, "..");

/** The folders in the order in which a reader meets them, and what the navigation calls them. */
const SECTIONS = [
  ["start", "Start"],
  ["tutorials", "Tutorials"],
  ["how-to", "How-to"],
  ["reference", "Reference"],
  ["explanation", "Explanation"],
  ["results", "Results"],
  ["compare", "Compare"],
  ["decisions", "Decisions"],
] as const;

/** What a page says about itself. */
function pageOf(path: string): { readonly title: string; readonly order: number } {
  const text = readFileSync(path, "utf8");
  const [, matter = ""] = /^---\n([\s\S]*?)\n---/.exec(text) ?? [];
  const field = (name: string): string | undefined =>
    new RegExp(`^${name}: *"?(.*?)"?$`, "m").exec(matter)?.[1];
  const heading = /^# +(.*)$/m.exec(text)?.[1]?.replaceAll("`", "");
  const title = field("title") ?? heading ?? basename(path, ".md");
  return { title, order: Number(field("order") ?? Number.POSITIVE_INFINITY) };
}

/** The pages directly inside a folder of `docs/`. */
function pagesOf(folder: string): Item[] {
  const path = join(docs, folder);
  if (!existsSync(path)) return [];
  return readdirSync(path)
    .filter((name) => name.endsWith(".md") && !/^\[|\.Namespace\./.test(name))
    .map((name) => {
      const { title, order } = pageOf(join(path, name));
      const rank = name === "index.md" ? Number.NEGATIVE_INFINITY : order;
      const link = `/${join(folder, name).replace(/(index)?\.md$/, "")}`;
      return { text: title, link, rank };
    })
    .sort((a, b) => (a.rank === b.rank ? a.text.localeCompare(b.text) : a.rank - b.rank))
    .map(({ text, link }) => ({ text, link }));
}

/** The groups of the sidebar: all sections; on pages of the reference also the API. */
export function sidebar(): DefaultTheme.SidebarMulti {
  const groups = SECTIONS.map(([folder, text]) => ({ text, items: pagesOf(folder) }));
  const others = pagesOf(".").filter(({ link }) => link !== "/");
  const filled = [...groups, { text: "Guides", items: others }].filter(
    ({ items }) => items.length > 0,
  );
  const reference = filled.filter(({ text }) => text === "Reference");
  return {
    "/reference/": [...reference, { text: "API", items: pagesOf("reference/api") }],
    "/": filled,
  };
}

/** The bar at the top: a link per section that has a first page. */
export function bar(): DefaultTheme.NavItem[] {
  return SECTIONS.filter(([folder]) => folder !== "decisions").flatMap(([folder, text]) => {
    const [first] = pagesOf(folder);
    return first === undefined ? [] : [{ text, link: first.link!, activeMatch: `^/${folder}/` }];
  });
}
