/**
 * npm run prose -- [PATH…]: reports each phrase of the project's texts that `phrases.ts` lists,
 * with file and line and what to write instead. Without a path it reads all files that git tracks.
 * Ends with code 1 if there are any.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { phrases } from "./phrases.ts";
import { textsOf } from "./texts.ts";

const root = resolve(import.meta.dirname, "../..");

/** Third-party texts, data, the phrases themselves, and the tests of the library. */
const skipped =
  /^(?:scripts\/prose\/|apps\/studio\/licences\.ts|studies\/.*\/runs\/|CHANGELOG\.md|CODE_OF_CONDUCT\.md|LICENSE|packages\/diffeo\/test\/)/;

function trackedFiles(paths: readonly string[]): readonly string[] {
  const named = paths.map(
    (path) => relative(root, resolve(process.env.INIT_CWD ?? "", path)) || ".",
  );
  const listed = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "--", ...named], {
    cwd: root,
    encoding: "utf8",
  });
  return listed
    .split("\n")
    .filter((path) => /\.(?:ts|mjs|js|svelte|md)$/.test(path) && !skipped.test(path));
}

/** One line per phrase found: the place, the phrase, what to write instead. */
function findings(path: string): readonly string[] {
  const source = readFileSync(resolve(root, path), "utf8");
  return textsOf(path, source).flatMap(({ text, line }) =>
    phrases.flatMap(({ pattern, instead }) =>
      [...text.matchAll(new RegExp(pattern, `${pattern.flags}g`))].map((match) => {
        const at = line + text.slice(0, match.index).split("\n").length - 1;
        return `${path}:${at}: "${match[0].replace(/\s+/g, " ")}": ${instead}`;
      }),
    ),
  );
}

const found = trackedFiles(process.argv.slice(2)).flatMap(findings);
for (const line of found) console.log(line);
if (found.length > 0) {
  console.error(`${found.length} phrases to rewrite; scripts/prose/phrases.ts is the list`);
  process.exitCode = 1;
}
