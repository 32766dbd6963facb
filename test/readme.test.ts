/** What documents promise is there: links, and paths to import from. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { commands } from "../apps/cli/src/commands.ts";

const root = join(import.meta.dirname, "..");
const pages = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => !/^(\.vitepress|repository|reference\/api)(\/|$)/.test(name))
    .map((name) => `docs/${name}`),
]
  .concat(
    "models/README.md",
    ...readdirSync(join(root, "studies")).map((name) => `studies/${name}/README.md`),
  )
  .filter((page) => page.endsWith(".md") && existsSync(join(root, page)));

const linksOf = (page: string): string[] =>
  [...readFileSync(join(root, page), "utf8").matchAll(/\]\(([^)]+)\)/g)]
    .map(([, link]) => link)
    .filter((link) => !/^https?:/.test(link));

/** The names by which a page's headings are linked to: lower case, no signs, spaces as hyphens. */
const headingsOf = (page: string): string[] =>
  [...readFileSync(page, "utf8").matchAll(/^#+ (.*)$/gm)].map(([, text]) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );

/** Whether a link leads to a file and, if it names one, to a heading in it. */
function leads(page: string, link: string): boolean {
  const [path, heading] = link.split("#");
  const target = path === "" ? join(root, page) : resolve(root, dirname(page), path);
  return existsSync(target) && (heading === undefined || headingsOf(target).includes(heading));
}

describe.each(pages)("%s", (page) => {
  it("links to files and headings that are there", () => {
    expect(linksOf(page).filter((link) => !leads(page, link))).toEqual([]);
  });

  it("names paths of packages that can be imported", () => {
    const named = readFileSync(join(root, page), "utf8").matchAll(
      /`(diffeo(?:-\w+)?)(\/[\w/]+)?`/g,
    );
    const folder: Readonly<Record<string, string>> = {
      diffeo: "packages/diffeo",
      "diffeo-cli": "apps/cli",
    };
    const missing = [...named]
      .filter(([, name]) => name !== "diffeo-source")
      .filter(([, name, path = ""]) => {
        const home =
          folder[name] ??
          (name === "diffeo-models" ? "models" : `packages/${name.replace("diffeo-", "")}`);
        const { exports } = JSON.parse(readFileSync(join(root, home, "package.json"), "utf8")) as {
          exports: object;
        };
        return path !== "" && !Object.hasOwn(exports, `.${path}`);
      });
    expect(missing.map(([text]) => text)).toEqual([]);
  });
});

it("the README names every command", () => {
  const text = readFileSync(join(root, "README.md"), "utf8");
  const asked = Object.entries(commands.commands).map(([name, entry]) => {
    const below = "commands" in entry ? Object.keys(entry.commands) : [];
    return ["diffeo", name, below.toSorted().join("|")].join(" ").trim();
  });
  const named = [...text.matchAll(/`(diffeo \w+)( [\w|]+)?`/g)].map(([, name, below = ""]) =>
    [name, below.trim().split("|").toSorted().join("|")].join(" ").trim(),
  );
  expect(asked.filter((name) => !named.includes(name))).toEqual([]);
});

it("the README and its documents link only to what is packed with the library", () => {
  const { files } = JSON.parse(
    readFileSync(join(root, "packages/diffeo/package.json"), "utf8"),
  ) as { files: string[] };
  const packed = (page: string, link: string): boolean =>
    files.includes(normalize(join(dirname(page), link)).split("/")[0]);
  const own = pages.filter((page) => page === "README.md" || page.startsWith("docs/"));
  expect(own.flatMap((page) => linksOf(page).filter((link) => !packed(page, link)))).toEqual([]);
});
