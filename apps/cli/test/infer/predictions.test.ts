/** Results of infer besides draws: CSV data, predictions, cross-validation, and restarted runs. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { testFolder } from "../../../../test/folder.ts";
import { diffeo, type Ended, startDiffeo } from "../run.ts";

const { at } = testFolder("predictions");
const json = (name: string) => JSON.parse(readFileSync(at(name), "utf8"));

const head = `import { halfNormal, normal } from "diffeo/distribution";
import { add, mul, take } from "diffeo/graph";
import { model } from "diffeo/mcmc";
`;
const pooled = `${head}export default model(({ parameter, observe }, { x }) => {
  const a = parameter("a", normal(0, 10));
  const b = parameter("b", normal(0, 10));
  const sigma = parameter("sigma", halfNormal(5));
  observe("y", normal(add(a, mul(b, x)), sigma));
});
`;
writeFileSync(at("pooled.mjs"), pooled);
writeFileSync(
  at("groups.mjs"),
  `${head}export default model(({ parameter, observe }, { x, school, J }) => {
  const a = parameter("a", normal(0, 10), { shape: J });
  const b = parameter("b", normal(0, 10));
  const sigma = parameter("sigma", halfNormal(5));
  observe("y", normal(add(take(a, school), mul(b, x)), sigma));
});
`,
);
const rows = Array.from({ length: 24 }, (_, i) => {
  const x = Math.sin(5 * i);
  return `${["north", "east", "south"][i % 3]},${x},${3 * (i % 3) + 2 * x + 0.3 * Math.cos(17 * i)}`;
});
writeFileSync(at("rows.csv"), `school,x,y\n${rows.join("\n")}\n`);
writeFileSync(at("sizes.json"), '{"J": 3}');
writeFileSync(at("new.json"), '{"x": [0, 1], "school": [0, 1], "J": 3}');
const few = ["--draws", "80", "--warmup", "80", "--no-pictures", "--chains", "2"];
/** A process of its own: models are loaded by a hook of Node's loader. */
const own = (...words: readonly string[]): Promise<Ended> => startDiffeo(...words).ended;
const infer = (name: string, out: string, ...more: readonly string[]): Promise<Ended> =>
  own("infer", at(`${name}.mjs`), "--data", at("rows.csv"), "--out", at(out), ...few, ...more);

describe("infer", () => {
  it("reads CSV with labels as integers, and predicts, cross-validates and compares", async () => {
    const simple = await infer("pooled", "pooled", "--loo");
    expect(simple).toMatchObject({ code: 0 });
    expect(simple.stdout).toContain("elpd (leave one out) -");
    const more = ["--data", at("sizes.json"), "--loo", "--predict", "--prior", "30"];
    const groups = await infer("groups", "groups", ...more, "--predict-at", at("new.json"));
    expect(groups).toMatchObject({ code: 0 });
    expect(groups.stderr).toContain("school has 3 labels: east = 0, north = 1, south = 2");
    const draws = json("groups/draws.json");
    expect(draws.prior.a[0].length).toBe(30);
    expect(draws.prior_predictive.y[0][0].length).toBe(24);
    expect(draws.posterior_predictive.y[1][79].length).toBe(24);
    expect(draws.log_likelihood.y[1].length).toBe(80);
    expect(draws.predictions.y[0][0].length).toBe(2);
    expect(json("groups/loo.json").pointwise.length).toBe(24);
    const compared = await diffeo("compare", at("pooled"), at("groups"), "--json");
    const [best, worst] = JSON.parse(compared.stdout);
    expect([best.name, best.difference, worst.name]).toEqual(["groups", 0, "pooled"]);
    expect(worst.difference).toBeLessThan(-10);
  });

  it("predicts at labels by the codes of the data, and refuses labels that these do not have", async () => {
    // North alone would be 0 by its own file, which is east.
    writeFileSync(at("north.csv"), "school,x\nnorth,0\nnorth,1\n");
    const sizes = ["--data", at("sizes.json"), "--predict-at", at("sizes.json"), "--predict-at"];
    expect(await infer("groups", "north", ...sizes, at("north.csv"))).toMatchObject({ code: 0 });
    const { predictions } = json("north/draws.json");
    const values: number[] = predictions.y.flat().map(([first]: readonly number[]) => first);
    const mean = values.reduce((a, b) => a + b) / values.length;
    // The intercepts are 0 for north, 3 for east and 6 for south.
    expect(Math.abs(mean)).toBeLessThan(0.5);
    writeFileSync(at("west.csv"), "school,x\nwest,0\n");
    const refused = await infer("groups", "west", ...sizes, at("west.csv"));
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stderr).toMatch(
      /west\.csv: school has the label west, which is not in the data of the model\. Use its labels: east = 0/,
    );
  });

  it("starts again with --force, and names the changed file of a run", async () => {
    expect((await infer("pooled", "again", "--loo")).code).toBe(0);
    const begun = await infer("pooled", "again", "--force");
    expect(begun).toMatchObject({ code: 0 });
    expect(readdirSync(at("again"))).not.toContain("loo.json");
    rmSync(at("again/summary.json"));
    writeFileSync(at("pooled.mjs"), pooled.replace("halfNormal(5)", "halfNormal(6)"));
    const { stderr } = await infer("pooled", "again", "--resume");
    expect(stderr).toContain("pooled.mjs has changed since the run");
    expect(stderr).toContain("Start again with --force");
  });

  it("names errors in a table, and refuses predictions of a log-density", async () => {
    writeFileSync(at("bad.csv"), "x,y\n1,2\n,3\n");
    const bad = await own("infer", at("pooled.mjs"), "--out", at("none"), "--data", at("bad.csv"));
    expect(bad.stderr).toContain("bad.csv, line 3, column x: the cell is empty");
    for (const cell of ["<5", "1,200"]) {
      writeFileSync(at("bad.csv"), `x,y\n1,2\n2,"${cell}"\n`);
      const odd = await own("infer", at("pooled.mjs"), "--data", at("bad.csv"), "--out", at("bad"));
      expect(odd).toMatchObject({ code: 1 });
      expect(odd.stderr).toContain(
        `bad.csv, line 3, column y: ${cell} is not a number, but the column has numbers`,
      );
    }
    writeFileSync(
      at("flat.mjs"),
      `${head}import { real } from "diffeo/domain";
export default model(({ parameter, observe }) => observe("y", normal(parameter("mu", real()), 1)));
`,
    );
    writeFileSync(at("typed.ts"), "export default 1 as number;\n");
    const typed = await own("infer", at("typed.ts"), "--out", at("none"));
    const reads = Number(process.versions.node.split(".")[0]) >= 23;
    expect(typed.stderr).toContain(reads ? "exports no model" : "is TypeScript, which Node");
    const flat = await infer("flat", "flat", "--prior", "10");
    expect(flat.stderr).toContain('parameter("mu") has a flat density, which cannot be sampled');
    const none = await diffeo("compare", at("pooled"), at("nowhere"));
    expect(none.stderr).toContain(
      "nowhere contains no cross-validation. Run diffeo infer with --loo.",
    );
  });

  it("calibrates a model", async () => {
    writeFileSync(at("x.json"), '{"x": [-1, 0, 1, 2]}');
    const words = ["--data", at("x.json"), "--datasets", "64", "--thin", "1", "--warmup", "100"];
    const { code, stdout } = await own("calibrate", at("pooled.mjs"), ...words);
    expect(code).toBe(0);
    expect(stdout).toMatch(/a {6}p 0\.\d+[\s\S]*64 datasets/);
  });
});
