/** diffeo sample: a network from elsewhere, as a person would run it. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { testFolder } from "../../../test/folder.ts";
import { diffeo } from "./run.ts";

const net = fileURLToPath(new URL("../../../examples/torch-score.onnx", import.meta.url));
const files = fileURLToPath(
  new URL("../../../packages/diffeo/test/outside/files/", import.meta.url),
);
const { folder } = testFolder("sample");

const draw = (...more: readonly string[]) =>
  diffeo("sample", "--score", net, "--predicts", "noise", "--threads", "1", ...more);
const few = ["--count", "6", "--steps", "5"];

describe("diffeo sample", () => {
  it("writes points of the simplex as CSV, describes the file, and gives the same result for the same seed", async () => {
    const out = join(folder, "y.csv");
    const { stdout, stderr, code } = await draw(
      "--map",
      "additiveLogistic",
      "--shape",
      "3",
      "--count",
      "200",
      "--steps",
      "20",
      "--out",
      out,
    );
    expect(stderr).toMatch(
      /^pytorch 2.*\nx: "x", float32 \[batch, 3\]\nt: "t".*\nnoise: "noise".*\nchecked: /,
    );
    expect(stdout).toBe(`200 samples: ${out}\n`);
    expect(code).toBe(0);
    const [head, ...rows] = readFileSync(out, "utf8").trim().split("\n");
    expect(head).toBe("y1,y2,y3");
    expect(rows).toHaveLength(200);
    for (const row of rows) {
      const y = row.split(",").map(Number);
      expect(Math.min(...y, 1 - y.reduce((a, b) => a + b))).toBeGreaterThan(0);
    }
    const again = await draw(
      "--map",
      "additiveLogistic",
      "--count",
      "200",
      "--steps",
      "20",
      "--batch",
      "200",
    );
    expect(again.stdout.trim().split("\n").slice(1, 4)).toEqual(rows.slice(0, 3));
    expect(
      (await draw("--map", "additiveLogistic", "--count", "200", "--steps", "20", "--out", out))
        .code,
    ).toBe(2);
  });

  it("prints JSON, and accepts another SDE, another solver, w and a custom map", async () => {
    const own = join(folder, "twice.mjs");
    const graph = JSON.stringify(
      fileURLToPath(new URL("../../../packages/diffeo/src/graph/index.ts", import.meta.url)),
    );
    writeFileSync(
      own,
      `import { add, exp, log, mul, sum } from ${graph};
      export default { name: "twice exp", eventRank: 1, forward: (x) => mul(exp(x), 2), inverse: (y) => log(mul(y, 0.5)), logDet: (x) => sum(add(x, Math.LN2), -1) };`,
    );
    const { stdout, code } = await draw(
      ...few,
      "--json",
      "--map",
      own,
      "--solver",
      "dpmSolver2M",
      "--sde",
      "vp:min=0.2,max=15",
      "--w",
      "1.02",
      "--denoise",
    );
    expect(code).toBe(0);
    const { columns, rows, steps, scoreEvaluations, exits } = JSON.parse(stdout);
    expect({ columns, steps, scoreEvaluations, exits }).toEqual({
      columns: ["y1", "y2", "y3"],
      steps: 5,
      scoreEvaluations: 6,
      exits: 0,
    });
    expect(rows).toHaveLength(6);
    expect(Math.min(...rows.flat())).toBeGreaterThan(0);
    const before = readFileSync(own, "utf8");
    expect(await draw(...few, "--map", own, "--out", own, "--force")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("twice.mjs is an input of the command"),
    });
    expect(readFileSync(own, "utf8")).toBe(before);
  });

  it("gives different samples for every option of the sampler", async () => {
    const ways = [
      ...[
        [],
        ["--seed", "1"],
        ["--w", "1.1"],
        ["--denoise"],
        ["--t-end", "0.05"],
        ["--steps", "6"],
      ],
      ...[
        ["--grid", "quadratic"],
        ["--grid", "logSnr"],
        ["--sde", "vp:max=15"],
        ["--solver", "dpmSolver2MSde"],
      ],
    ];
    const found: string[] = [];
    for (const words of ways) {
      const { stdout, code } = await draw(...few, ...words);
      expect(code).toBe(0);
      found.push(stdout);
    }
    expect(new Set(found).size).toBe(ways.length);
  });

  it("accepts the old names of --solver and of two solvers, with a notice", async () => {
    const now = await draw(...few, "--solver", "dpmSolver2MSde");
    const before = await draw(...few, "--method", "exponentialSde");
    expect(before).toMatchObject({ code: 0, stdout: now.stdout });
    expect(now.stderr).not.toContain("--method");
    expect(before.stderr).toContain("--method is now called --solver");
    expect(await draw(...few, "--method", "leapfrog")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/'--solver <name>' argument 'leapfrog' is invalid/),
    });
  });

  it("calls a network with integer time steps", async () => {
    const network = ["sample", "--score", `${files}whole-time.onnx`, "--predicts", "noise", ...few];
    const { stdout, code } = await diffeo(...network, "--time", "999");
    expect(stdout.split("\n")).toHaveLength(8);
    expect(code).toBe(0);
    expect((await diffeo(...network, "--time", "99")).stdout).not.toBe(stdout);
  });

  it.each<[string, readonly string[], RegExp, number]>([
    [
      "a file that is not there",
      ["--score", "no.onnx", "--predicts", "noise"],
      /cannot read no.onnx/,
      1,
    ],
    [
      "one that is none",
      ["--score", fileURLToPath(import.meta.url), "--predicts", "noise"],
      /sample.test.ts: .*ONNX/,
      1,
    ],
    ["a folder", ["--score", files, "--predicts", "noise"], /cannot read .*files\//, 1],
    [
      "numbers in another file",
      ["--score", `${files}other-file.onnx`, "--predicts", "score"],
      /other-file.onnx: .*in another file/,
      1,
    ],
    [
      "whole steps",
      ["--score", `${files}whole-time.onnx`, "--predicts", "noise"],
      /whole-time.onnx: .*Set --time to convert t/,
      2,
    ],
    [
      "an open shape",
      ["--score", `${files}open-event.onnx`, "--predicts", "score"],
      /Set --shape/,
      2,
    ],
    [
      "another shape",
      ["--score", net, "--predicts", "noise", "--shape", "4"],
      /events of shape \[3\], not \[4\]/,
      2,
    ],
    [
      "no port",
      ["--score", net, "--predicts", "noise", "--inputs", "x=z"],
      /no input "z". Use one of "x", "t"/,
      2,
    ],
    [
      "ports",
      ["--score", net, "--predicts", "noise", "--inputs", "z"],
      /as in x=sample,t=timestep/,
      2,
    ],
    [
      "no map",
      ["--score", net, "--predicts", "noise", "--map", "toString"],
      /--map toString is neither a built-in map nor a file/,
      2,
    ],
    ["no SDE", ["--score", net, "--predicts", "noise", "--sde", "vq"], /unknown SDE "vq"/, 2],
    [
      "an option of none",
      ["--score", net, "--predicts", "noise", "--sde", "vp:rate=2"],
      /SDE has no option "rate"\. It has min, max\./,
      2,
    ],
    [
      "no prediction",
      ["--score", net, "--predicts", "eps"],
      /Allowed choices are score, noise, x0, v, velocity/,
      2,
    ],
    ["nothing", [], /required option '--score <file>'/, 2],
  ])("refuses %s", async (_, words, message, exit) => {
    const { stderr, code } = await diffeo("sample", ...words);
    expect(stderr).toMatch(message);
    expect(code).toBe(exit);
  });

  it("writes nothing if it fails", async () => {
    const out = join(folder, "none.csv");
    const { code } = await diffeo(
      "sample",
      "--score",
      `${files}training-mode.onnx`,
      "--predicts",
      "score",
      "--out",
      out,
    );
    expect(code).toBe(3);
    expect(existsSync(out)).toBe(false);
  });
});
