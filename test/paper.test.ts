/** docs/results/paper.md maps every label of the paper to existing files and names. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const page = readFileSync(join(root, "docs/results/paper.md"), "utf8");
const isPath = (code: string): boolean => /^[\w./-]+\.ts$/.test(code) && code.includes("/");

/** The code quotes of a cell, in order; names before a path are names in that file. */
function placesIn(text: string): { readonly path: string; readonly names: readonly string[] }[] {
  const places: { path: string; names: string[] }[] = [];
  for (const part of text.split(";")) {
    const quoted = [...part.matchAll(/`([^`]+)`/g)].map(([, code]) => code);
    const [before] = part.split(" in `");
    const names = part.includes(" in `")
      ? [...before.matchAll(/`([^`]+)`/g)].map(([, code]) => code)
      : [];
    for (const path of quoted.filter(isPath))
      places.push({ path, names: names.filter((name) => !isPath(name)) });
  }
  return places;
}

const rows = page
  .split("## Statements")[1]
  .split("## The chess system")[0]
  .split("\n")
  .filter((line) => line.startsWith("| ") && !/^\| (label|topic) /.test(line))
  .map((line) => line.split(" | "))
  .map(([label, , where]) => ({ label: label.slice(2), where: where.replace(/ \|$/, "") }));

const paper = join(root, "../shared/paper.tex");

describe("docs/results/paper.md", () => {
  it.runIf(existsSync(paper))("names every label of the paper", () => {
    const labels = [...readFileSync(paper, "utf8").matchAll(/\\label\{([^}]+)\}/g)].map(
      ([, l]) => l,
    );
    expect(labels.length).toBeGreaterThan(60);
    expect(labels.filter((label) => !page.includes(`\`${label}\``))).toEqual([]);
  });

  it.each(rows.map(({ label, where }) => [label, where]))(
    "maps %s to existing names",
    (_, where) => {
      const links = [...where.matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => link);
      for (const link of links.map((to) => to.split("#")[0]))
        expect(existsSync(join(root, "docs/results", link)), link).toBe(true);
      const places = placesIn(where);
      expect(places.length + links.length).toBeGreaterThan(0);
      for (const { path, names } of places) {
        expect(existsSync(join(root, path)), path).toBe(true);
        const source = readFileSync(join(root, path), "utf8");
        for (const name of names)
          expect(source, `${name} in ${path}`).toMatch(
            new RegExp(`^export (?:async function|function|const|interface|type) ${name}\\b`, "m"),
          );
      }
    },
  );

  it("names and links no file that does not exist", () => {
    const links = [...page.matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)].map(([, link]) => link);
    expect(links.length).toBeGreaterThan(20);
    expect(links.filter((link) => !existsSync(join(root, "docs/results", link)))).toEqual([]);
    const paths = [...page.matchAll(/`([^`]+)`/g)].map(([, code]) => code).filter(isPath);
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});
