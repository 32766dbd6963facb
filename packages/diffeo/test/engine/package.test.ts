/**
 * The package as it is published: every path of its exports map and the README's program, in a new
 * process, from the built files. Its dependencies are those of the repository, without archives:
 * those of a release are installed by hand.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join, sep } from "node:path";
import ts from "typescript";
import { afterAll, beforeAll, expect, it } from "vitest";
import { builtLibrary } from "../../../../test/build.ts";
import { house, packed, root } from "./packed.ts";

const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  exports: Record<string, { readonly types: string; readonly default: string }>;
};
const paths = Object.keys(exports).filter((path) => path !== "./package.json");

let project: ReturnType<typeof packed>;
beforeAll(() => {
  project = packed(builtLibrary());
}, 300_000);
afterAll(() => project.remove());

/** What a program prints, run in the folder of a project that has diffeo installed. */
function run(program: string): unknown {
  const file = join(project.folder, "program.mjs");
  writeFileSync(file, program);
  return JSON.parse(
    execFileSync(process.execPath, [file], { cwd: project.folder, encoding: "utf8" }),
  );
}

it("has a path with code and types for every public folder", () => {
  const folders = readdirSync(join(root, "src")).filter((f) =>
    existsSync(join(root, "src", f, "index.ts")),
  );
  expect(paths.toSorted()).toEqual([".", "./web", ...folders.map((f) => `./${f}`)].toSorted());
  const missing = paths
    .flatMap((path) => [exports[path].types, exports[path].default])
    .filter((file) => !existsSync(join(project.folder, "node_modules", "diffeo", file)));
  expect(missing).toEqual([]);
});

it("imports every path and computes a gradient, here and on a worker thread", () => {
  const imports = paths
    .map((path, i) => `import * as m${i} from ${JSON.stringify(join("diffeo", path))};`)
    .join("\n");
  const { names, here, there } = run(`
    ${imports}
    import { compile, exp, grad, sum } from "diffeo";
    const f = grad((x) => sum(exp(x)));
    const results = [];
    for (const worker of [false, true]) {
      const g = compile(f, [[2]], { type: "float64", worker });
      results.push([...(await g([0, 1])).data]);
      await g.dispose();
    }
    const names = [${paths.map((_, i) => `Object.keys(m${i}).length`)}];
    console.log(JSON.stringify({ names, here: results[0], there: results[1] }));
  `) as { names: number[]; here: number[]; there: number[] };
  expect(Math.min(...names)).toBeGreaterThan(0);
  expect(here[0]).toBe(1);
  expect(here[1]).toBeCloseTo(Math.E, 14);
  expect(there).toEqual(here);
});

/** The first program that the README shows, without its last line, which prints. */
const [, shown] =
  readFileSync(join(house, "README.md"), "utf8").match(/```js\n([\s\S]*?)console\.log.*\n```/) ??
  [];

it("runs the README's program", () => {
  const report =
    "console.log(JSON.stringify({ shape: samples.shape, exits, points: [...samples.data] }));";
  const { points, ...rest } = run(`${shown}\n${report}`) as { points: number[] };
  expect(rest).toEqual({ shape: [1000, 2], exits: 0 });
  // Inside the triangle, near the first corner.
  const pairs = Array.from({ length: 1000 }, (_, i) => points.slice(2 * i, 2 * i + 2));
  expect(pairs.every(([a, b]) => a > 0 && b > 0 && a + b < 1)).toBe(true);
  expect(pairs.filter(([a]) => a > 0.5).length).toBeGreaterThan(950);
});

/**
 * What the compiler finds in programs of the project and in the package's declarations, and which
 * files those are. Declarations of the language, of browsers and of the packages it depends on are
 * read, and not ours to check: valibot's take five seconds.
 */
function compiled(...programs: readonly string[]): {
  readonly faults: string;
  readonly checked: readonly string[];
} {
  const folder = realpathSync(project.folder) + sep;
  const program = ts.createProgram(
    programs.map((name) => folder + name),
    {
      ...{
        noEmit: true,
        strict: true,
        noUncheckedIndexedAccess: true,
        module: ts.ModuleKind.NodeNext,
        target: ts.ScriptTarget.ES2022,
      },
      lib: ["lib.es2023.d.ts", "lib.dom.d.ts"],
    },
  );
  const ours = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(folder));
  const faults = [
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...program.getSyntacticDiagnostics(),
    ...ours.flatMap((file) => program.getSemanticDiagnostics(file)),
  ];
  const host = {
    getCanonicalFileName: (name: string) => name,
    getCurrentDirectory: () => folder,
    getNewLine: () => "\n",
  };
  return {
    faults: ts.formatDiagnostics(faults, host),
    checked: ours.map(({ fileName }) => fileName.slice(folder.length)),
  };
}

it("has types with which strict programs compile, including that of the README", () => {
  writeFileSync(
    join(project.folder, "program.mts"),
    `${paths.map((path, i) => `import * as m${i} from ${JSON.stringify(join("diffeo", path))};`).join("\n")}
     import { compile, softmax, type Tensor } from "diffeo";
     export const all = [${paths.map((_, i) => `m${i}`)}];
     export const f = compile((x: Tensor) => softmax(x), [[null, 3]], { worker: true });
     export const y: Promise<number> = f([[1, 2, 3]]).then(({ shape }) => shape.length);
     // @ts-expect-error: one argument is missing
     f();`,
  );
  // Values and draws are typed by the names of parameters, where entries of a record may be
  // missing.
  writeFileSync(
    join(project.folder, "posterior.mts"),
    `import { positive, real } from "diffeo/domain";
     import { add, log, mul, neg, square } from "diffeo/graph";
     import { samplePosterior } from "diffeo/mcmc";
     import { key } from "diffeo/random";
     const posterior = await samplePosterior(
       {
         parameters: { mu: real(), sigma: positive(), theta: [real(), 8] },
         logDensity: ({ mu, sigma }) => neg(add(square(mu), log(sigma))),
         derived: { twice: ({ mu }) => mul(mu, 2) },
       },
       { key: key(1) },
     );
     export const first: number | undefined = posterior.draws.mu.data[0];
     export const shapes = [posterior.draws.theta.shape, posterior.draws.twice.shape];
     // @ts-expect-error: there is no tau
     posterior.draws.tau;
     samplePosterior(
       {
         parameters: { mu: real() },
         // @ts-expect-error: there is no sigma
         logDensity: ({ sigma }) => neg(sigma),
       },
       { key: key(1) },
     );`,
  );
  expect(shown).toContain("sample(process");
  const typed = shown.replace("(x, t) =>", "(x: Tensor, t: Tensor) =>");
  writeFileSync(
    join(project.folder, "readme.mts"),
    `import type { Tensor } from "diffeo/graph";\n${typed}`,
  );
  const { faults, checked } = compiled("program.mts", "posterior.mts", "readme.mts");
  expect(faults).toBe("");
  const types = paths.map((path) => join("node_modules", "diffeo", exports[path].types));
  expect(checked).toEqual(expect.arrayContaining(["program.mts", "readme.mts", ...types]));
});
