/**
 * Tries the packages as their users do, from archives in an empty folder: programs in Node, Deno and
 * Bun, a page of Next, and a strict TypeScript program. These tools are installed from the registry,
 * so this is not part of the tests, which have pages built by Vite and webpack
 * (packages/diffeo/test/engine).
 *
 *     npm run build && npm run consumers              all of them
 *     npm run consumers -- node bun                   some
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "diffeo-consumers-"));

const sh = (command: string, args: readonly string[], cwd = folder): string =>
  execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

/** A program that samples on the triangle and prints a digest of its samples. */
const PROGRAM = `
  const sde = vp();
  const data = gaussian({ mean: [1, -1], covariance: 0.3 });
  const { meanFactor, std } = sde.transition;
  const score = (x, t) => data.marginal(meanFactor(t), std(t)).score(x);
  const process = reversePush(sde, additiveLogistic(), score);
  const { samples, exits } = await sample(process, { count: 200, shape: [2], key: random.key(7), steps: 50 });
  const mean = samples.data.reduce((sum, y) => sum + y, 0) / samples.data.length;`;
const NAMES = "additiveLogistic, random, reversePush, sample, vp";
const program = `
import { ${NAMES} } from "diffeo";
import { gaussian } from "diffeo/distribution";
${PROGRAM}
console.log(exits, mean.toFixed(6));
`;
const page = `
import { ${NAMES} } from "diffeo/web";
import { gaussian } from "diffeo/distribution";
export async function run() {${PROGRAM}
  return [exits, mean.toFixed(6)];
}
run().then((found) => { globalThis.found = found; });
`;
/** A route that Next computes on the server, in its build. */
const route = `
import { ${NAMES} } from "diffeo";
import { gaussian } from "diffeo/distribution";
export const dynamic = "force-static";
export async function GET() {${PROGRAM}
  return new Response([exits, mean.toFixed(6)].join(" "));
}
`;
/** Every path whose types a strict program reads, without skipLibCheck. */
const imports = ["diffeo", "diffeo/web", "diffeo/node", "diffeo-tables", "diffeo-tables/density"]
  .concat(["diffeo-tables/node", "diffeo-picture/chart", "diffeo-picture/posterior"])
  .concat(["diffeo-picture/node", "diffeo-chess", "diffeo-chess/node", "diffeo-queue"])
  .map((path, i) => `import * as a${i} from "${path}";\nconsole.log(a${i});\n`)
  .join("");
const model = `
import { halfNormal, normal } from "diffeo/distribution";
import { model } from "diffeo/mcmc";
export default model(({ parameter, observe }) => {
  const mu = parameter("mu", normal(0, 10));
  observe("y", normal(mu, parameter("sigma", halfNormal(10))));
});
`;

/** Writes files into a separate folder for a tool, which uses the packages of the parent folder. */
function project(name: string, files: Readonly<Record<string, string>>): string {
  const own = join(folder, name);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(own, path, ".."), { recursive: true });
    writeFileSync(join(own, path), text);
  }
  return own;
}

const install = (...names: readonly string[]): string =>
  sh("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", ...names]);

const infer = (command: string, args: readonly string[], out: string): string =>
  sh(command, [
    ...args,
    "infer",
    "model.mjs",
    "--data",
    "data.json",
    "--out",
    out,
    "--draws",
    "200",
  ])
    .split("\n")
    .slice(1, 3)
    .join("\n");

const cli = "node_modules/diffeo-cli/bin/diffeo.js";

/** The output of each consumer; all programs must print the same. */
const consumers: Readonly<Record<string, () => string>> = {
  node: () => sh("node", ["program.mjs"]) + infer("node", [cli], "node"),
  deno: () => {
    install("deno");
    sh("node", ["node_modules/deno/install.cjs"]);
    const deno = "node_modules/.bin/deno";
    return (
      sh(deno, ["run", "--allow-all", "program.mjs"]) +
      infer(deno, ["run", "--allow-all", cli], "deno")
    );
  },
  bun: () => {
    install("bun");
    sh("node", ["node_modules/bun/install.js"]);
    const bun = "node_modules/.bin/bun";
    return sh(bun, ["program.mjs"]) + infer(bun, [cli], "bun");
  },
  next: () => {
    install("next", "react", "react-dom");
    const own = project("next", {
      "package.json": '{ "name": "page", "private": true }',
      "app/layout.js":
        "export default ({ children }) => <html lang='en'><body>{children}</body></html>;",
      "app/page.js": `"use client";
        import { useEffect, useState } from "react";
        export default function Page() {
          const [found, setFound] = useState("");
          useEffect(() => { import("../run.js").then(({ run }) => run()).then(setFound); }, []);
          return <p>{found}</p>;
        }`,
      "app/draw/route.js": route,
      "run.js": page,
    });
    // Turbopack, the default of Next 16, has been seen to wait forever for a page of ONNX Runtime.
    sh("node", ["../node_modules/next/dist/bin/next", "build", "--webpack"], own);
    return readFileSync(join(own, ".next", "server", "app", "draw.body"), "utf8");
  },
  types: () => {
    install("typescript", "@types/node@20");
    const own = project("types", { "package.json": '{ "type": "module" }', "all.ts": imports });
    const strict = ["--strict", "--noEmit", "--module", "nodenext", "--target", "es2022"];
    return sh("node", ["../node_modules/typescript/bin/tsc", ...strict, "all.ts"], own);
  },
};

try {
  const archives: readonly { readonly filename: string }[] = Object.values(
    JSON.parse(sh("npm", ["pack", "--workspaces", "--json", "--pack-destination", folder], root)),
  );
  writeFileSync(join(folder, "package.json"), '{ "name": "user", "private": true }');
  install(...archives.map(({ filename }) => join(folder, filename)));
  writeFileSync(join(folder, "program.mjs"), program);
  writeFileSync(join(folder, "model.mjs"), model);
  writeFileSync(join(folder, "data.json"), '{ "y": [1.2, 0.7, 3.1, 2.2, 1.9, 0.4] }');
  const chosen = process.argv.slice(2);
  for (const [name, run] of Object.entries(consumers)) {
    if (chosen.length > 0 && !chosen.includes(name)) continue;
    try {
      console.log(`${name}: ${run()}`);
    } catch (error) {
      const { stdout = "", stderr = "", message } = error as Error & Record<string, string>;
      console.error(`${name} failed: ${message}\n${stdout}${stderr}`);
      process.exitCode = 1;
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
