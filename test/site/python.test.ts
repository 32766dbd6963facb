/** The programs of docs/how-to/python.md, if `$PYTHON` or python3 has their packages. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { printed, startDiffeo } from "../../apps/cli/test/run.ts";
import { testFolder } from "../folder.ts";

const python = process.env.PYTHON ?? "python3";
const examples = join(import.meta.dirname, "..", "..", "examples", "python");
const { folder } = testFolder("python");

function has(...modules: readonly string[]): boolean {
  try {
    execFileSync(python, ["-c", `import ${modules.join(", ")}`], { stdio: "ignore" });
    return true;
  } catch {
    console.error(`left out: a test of Python. ${python} does not import ${modules.join(", ")}`);
    return false;
  }
}

const run = (program: string, ...words: readonly string[]): string =>
  execFileSync(python, [join(examples, program), ...words], { cwd: folder, encoding: "utf8" });

it.skipIf(!has("pandas", "onnxruntime"))("Python samples rows of a fitted table", async () => {
  const rows = Array.from({ length: 300 }, (_, i) => {
    const kind = i % 3 === 0 ? "clay" : "loam";
    const depth = Math.exp(Math.sin(i) / 2 + (kind === "clay" ? 1 : 0));
    return `${depth.toFixed(3)},${(i * 7) % 12},${kind}`;
  });
  const path = (name: string): string => join(folder, name);
  writeFileSync(path("soil.csv"), ["depth,worms,kind", ...rows].join("\n"));
  const model = path("soil.model");
  const fit = ["--network", "diffusion", "--no-given", "--steps", "600"];
  await printed("table", "fit", path("soil.csv"), "--out", model, ...fit);
  for (const what of ["denoise", "rows"])
    await printed(
      "table",
      "export",
      "--model",
      model,
      "--what",
      what,
      "--out",
      path(`${what}.onnx`),
    );
  run("table.py", "denoise.onnx", "rows.onnx", "rows.csv");
  const [head, ...sampled] = readFileSync(path("rows.csv"), "utf8").trim().split("\n");
  expect(head).toBe("depth,worms,kind");
  expect(sampled).toHaveLength(1024);
  const cells = sampled.map((row) => row.split(","));
  const depths = (label: string): number[] =>
    cells.filter(([, , kind]) => kind === label).map(([depth]) => Number(depth));
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  expect(cells.every(([depth, worms]) => Number(depth) > 0 && /^\d+$/.test(worms))).toBe(true);
  // A third is clay, whose depths are e times those of loam.
  expect(Math.abs(depths("clay").length / 1024 - 1 / 3)).toBeLessThan(0.1);
  expect(Math.abs(Math.log(mean(depths("clay")) / mean(depths("loam"))) - 1)).toBeLessThan(0.3);
});

it.skipIf(!has("arviz"))("ArviZ reads the draws of a posterior", async () => {
  const model = `
    import { halfNormal, normal } from "diffeo/distribution";
    import { model } from "diffeo/mcmc";
    export default model(({ parameter, observe }) => {
      const mu = parameter("mu", normal(0, 10));
      observe("y", normal(mu, parameter("sigma", halfNormal(10))));
    });`;
  writeFileSync(join(folder, "model.mjs"), model);
  writeFileSync(join(folder, "data.json"), '{ "y": [1.2, 0.7, 3.1, 2.2, 1.9, 0.4] }');
  const [program, data, out] = ["model.mjs", "data.json", "draws"].map((name) =>
    join(folder, name),
  );
  // A separate process, which resolves the imports of the model to the packages of the command.
  expect(await startDiffeo("infer", program, "--data", data, "--out", out).ended).toMatchObject({
    code: 0,
  });
  const summary = run("draws.py", "draws");
  const [, mean, rhat] = /^mu +(\S+) .* (\S+)$/m.exec(summary) ?? [];
  expect(Number(mean)).toBeCloseTo(1.58, 0);
  expect(Number(rhat)).toBeLessThan(1.02);
});
