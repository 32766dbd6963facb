/** What documents promise is there: links, and paths to import from. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, normalize, resolve } from "node:path";
import { describe, expect, it } from "vitest";

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
    // The studio is a part of the site, and its API reference is generated: neither is a file here.
    .filter((link) => !/^https?:|^\/studio\/|(^|\/)api\//.test(link));

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
      "diffeo-studio": "apps/studio",
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

it("the README's program prints what the README says", () => {
  const text = readFileSync(join(root, "README.md"), "utf8");
  const [, program] = /```js\n(import[\s\S]*?)```/.exec(text)!;
  const [, promised] = /\/\/ (.*)\s*$/.exec(program)!;
  const folder = mkdtempSync(join(root, "node_modules", ".readme-"));
  try {
    writeFileSync(join(folder, "program.mjs"), program);
    const words = ["--conditions=diffeo-source", "--import", "tsx", join(folder, "program.mjs")];
    const printed = execFileSync(process.execPath, words, { cwd: root, encoding: "utf8" });
    expect(printed.trim()).toBe(promised);
  } finally {
    rmSync(folder, { recursive: true });
  }
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
