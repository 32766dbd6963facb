/**
 * What commands write: never over what they read, nor over what a person would mourn, and nothing
 * where they refuse.
 */
import { execFileSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { dkefInit } from "diffeo/model";
import { key, normal } from "diffeo/random";
import { flatten } from "diffeo/train";
import { saveDensity } from "diffeo-tables/node";
import { beforeAll, describe, expect, it } from "vitest";
import { saveTinyModel } from "../../../packages/chess/test/tiny.ts";
import { testFolder } from "../../../test/folder.ts";
import { numberLines, numbersJson } from "../src/shell/numbers.ts";
import { diffeo, diffeoWith, type Ended } from "./run.ts";

const { at, folder } = testFolder("outputs");
const content = (): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => [
        join(parentPath, name),
        readFileSync(join(parentPath, name), "latin1"),
      ]),
  );

const [model, density] = [at("tiny.safetensors"), at("density.safetensors")];
const boards = at("boards.fen");
const table = at("table.csv");
beforeAll(async () => {
  await saveTinyModel(model);
  const parameters = dkefInit(key(1), normal(key(2), [6, 2]), { width: 5, logScales: [0, 0.5] });
  const fitted = {
    step: 7,
    parameters,
    theta: flatten(parameters),
    alpha: new Float64Array(6).fill(0.1),
  };
  const whitening = { mean: [0, 0], matrix: [1, 0, 0, 1], logDet: 0 };
  await saveDensity(
    density,
    { loss: "gssm", seed: 3, columns: ["a", "b"], whitening, logZ: 1 },
    fitted,
  );
  writeFileSync(boards, "4k3/8/8/8/8/8/8/4K3\n4k3/8/8/8/8/8/8/3QK3\n");
  writeFileSync(table, "a,b\n1,2\n3,4\n2,1\n");
  writeFileSync(at("mine.txt"), "years of work\n");
  mkdirSync(at("uci"));
  writeFileSync(at("uci/winequality-red.csv"), "a;b\n1;2\n");
  symlinkSync("tiny.safetensors", at("link.safetensors"));
  linkSync(model, at("hard.safetensors"));
  symlinkSync(folder, at("here"));
});

/** That a command refuses, and that every file is as it was. */
async function refused(words: readonly string[], message: RegExp): Promise<void> {
  const before = content();
  const { code, stderr } = await diffeo(...words);
  expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  expect(stderr.trim().split("\n")).toHaveLength(stderr.includes("add --help") ? 2 : 1);
  expect(content()).toEqual(before);
}

describe("an output that is an input is refused", () => {
  const chess = ["--model", model, "--steps", "2"];
  it.each<[string, string[]]>([
    ["export", ["chess", "export", "--model", model, "--out", model]],
    ["export, by a link", ["chess", "export", "--model", model, "--out", at("link.safetensors")]],
    ["export, from a link", ["chess", "export", "--model", at("link.safetensors"), "--out", model]],
    [
      "export, by a hard link",
      ["chess", "export", "--model", model, "--out", at("hard.safetensors")],
    ],
    [
      "export, by another way",
      ["chess", "export", "--model", model, "--out", join(folder, "here/x/../tiny.safetensors")],
    ],
    ["sample", ["chess", "sample", ...chess, "--out", model, "--force"]],
    ["trace", ["chess", "sample", ...chess, "--trace", model, "--force"]],
    ["complete", ["chess", "complete", ...chess, "8/8/8/8/8/8/8/????????", "--out", model]],
    ["calibrate", ["chess", "calibrate", "--model", model, "--out", model, "--force"]],
    ["data", ["chess", "data", boards, "--out", boards, "--force"]],
    ["density sample", ["density", "sample", "--model", density, "--out", density]],
    [
      "density score over its model",
      ["density", "score", "--model", density, "--data", table, "--out", density],
    ],
    [
      "density score over its table",
      ["density", "score", "--model", density, "--data", table, "--out", table],
    ],
    [
      "density score over the file of a named table",
      [
        ...[
          "density",
          "score",
          "--model",
          density,
          "--data",
          "red-wine",
          "--folder",
          at("uci"),
          "--force",
        ],
        ...["--out", at("uci/winequality-red.csv")],
      ],
    ],
    [
      "train over its model",
      ["chess", "train", "--init", at("run/model.safetensors"), "--out", at("run")],
    ],
  ])("by %s", async (_, words) => {
    if (words.includes(at("run"))) {
      await diffeo("chess", "data", "--playouts", "3", "--out", at("run/model.safetensors.bin"));
      writeFileSync(at("run/model.safetensors"), readFileSync(model));
    }
    await refused(words, /an input of the command\. Choose another file/);
  });
});

describe("an existing file", () => {
  const mine = at("mine.txt");
  it.each([
    [
      "sample",
      ["chess", "sample", "--model", model, "--steps", "2", "--format", "fen", "--out", mine],
    ],
    [
      "a picture of sample",
      ["chess", "sample", "--model", model, "--steps", "2", "--format", "svg", "--out", mine],
    ],
    ["a trace", ["chess", "sample", "--model", model, "--steps", "2", "--trace", mine]],
    ["export", ["chess", "export", "--model", model, "--out", mine]],
    ["calibrate", ["chess", "calibrate", "--model", model, "--out", mine]],
    ["density sample", ["density", "sample", "--model", density, "--out", mine]],
    ["density score", ["density", "score", "--model", density, "--data", table, "--out", mine]],
  ])("is kept by %s", async (_, words) => refused(words, /mine\.txt already exists\. .*--force/));

  it("is kept if it is a packed set, a held-out part, a model or a README", async () => {
    const data = (...more: string[]): string[] => [
      "chess",
      "data",
      "--playouts",
      "40",
      "--out",
      at("a.bin"),
      ...more,
    ];
    expect((await diffeo(...data())).code).toBe(0);
    await refused(data(), /a\.bin already exists/);
    rmSync(at("a.bin"));
    writeFileSync(at("a.held-out.bin"), "mine");
    await refused(data("--held-out", "0.2"), /a\.held-out\.bin already exists/);
    writeFileSync(at("model.safetensors"), "mine");
    await refused(
      ["density", "fit", "--data", "rings", "--out", folder],
      /model\.safetensors already exists/,
    );
    await refused(["chess", "train", "--out", folder], /model\.safetensors already exists/);
    writeFileSync(at("README.md"), "# My project\n");
    await refused(["chess", "report", folder], /README\.md already exists/);
    await refused(
      ["chess", "study", "--model", model, "--out", folder],
      /README\.md already exists/,
    );
  });

  it("is replaced with --force; a picture is replaced by a picture without it", async () => {
    const sample = (...more: string[]): Promise<Ended> =>
      diffeo("chess", "sample", "--model", model, "--steps", "2", "--count", "1", ...more);
    writeFileSync(at("old.fen"), "old");
    expect(await sample("--format", "fen", "--out", at("old.fen"), "--force")).toMatchObject({
      code: 0,
    });
    expect(readFileSync(at("old.fen"), "utf8")).toMatch(/ [wb] - - 0 1\n$/);
    for (const format of ["svg", "png"])
      for (const seed of ["1", "2"])
        expect(
          await sample("--format", format, "--out", at(`p.${format}`), "--seed", seed),
        ).toMatchObject({ code: 0 });
    writeFileSync(at("empty"), "");
    expect(await sample("--format", "fen", "--out", at("empty"))).toMatchObject({ code: 0 });
  });
});

describe("impossible sizes", () => {
  const out = at("nowhere/deep");
  it.each([
    ["chess", "sample", "--count", "1e12", "--out", join(out, "a.fen")],
    ["chess", "sample", "--count", "100000", "--frames", "100000", "--trace", join(out, "a.json")],
    ["chess", "sample", "--frames", "1e9", "--trace", join(out, "a.json")],
    ["chess", "sample", "--batch", "2e7", "--out", join(out, "a.fen")],
    ["chess", "sample", "--steps", "1e300", "--out", join(out, "a.fen")],
    ["chess", "sample", "--threads", "1e9"],
    ["chess", "train", "--width", "1e9", "--out", out],
    ["chess", "train", "--width", "4096", "--multipliers", "64", "--attention", "0", "--out", out],
    ["chess", "train", "--multipliers", "1e9", "--attention", "0", "--out", out],
    ["chess", "train", "--blocks", "1e7", "--out", out],
    ["chess", "train", "--batch", "2e7", "--out", out],
    ["chess", "data", "--playouts", "1e12", "--out", join(out, "a.bin")],
    ["chess", "figure", "--boards", "1e12", "--out", join(out, "a")],
    ["chess", "calibrate", "--count", "1e12", "--out", join(out, "a.json")],
    ["chess", "study", "--count", "1e12", "--out", out],
    ["chess", "evaluate", "--count", "1e12"],
    ["chess", "export", "--batch", "2e7", "--out", join(out, "a.onnx")],
    ["density", "fit", "--data", "rings", "--rows", "1e12", "--out", out],
    ["density", "fit", "--data", "rings", "--inducing", "1e12", "--out", out],
    ["density", "sample", "--count", "1e12", "--out", join(out, "a.csv")],
    ["density", "study", "--seeds", "1e12", "--out", out],
    ["check", "--map", "x.mjs", "--event", "1e9"],
    ["sample", "--count", "1e12", "--out", join(out, "a.csv")],
    ["infer", "model.mjs", "--draws", "1e12", "--out", out],
    ["table", "fit", "t.csv", "--steps", "1e12", "--out", join(out, "a.model")],
    ["table", "sample", "--count", "1e12", "--out", join(out, "a.csv")],
    ["table", "complete", "t.csv", "--draws", "1e12", "--out", join(out, "a.csv")],
    ["table", "evaluate", "t.csv", "--samples", "1e12"],
    ["worker", "--queue", "redis://h", "--lease", "1e12"],
  ])("are refused before any work: %s %s %s %s", async (...words) => {
    const began = performance.now();
    await refused(words, /integer from|too large for a file|million parameters/);
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(existsSync(at("nowhere"))).toBe(false);
  });
});

describe("very long arguments", () => {
  const long = "9".repeat(100_000);
  it.each([
    ["an option's value", ["chess", "sample", "--count", long]],
    ["an option", ["chess", "sample", `--${long}`]],
    ["a command", ["chess", long]],
    ["a choice", ["density", "fit", "--loss", long]],
  ])("are shortened where they are repeated: %s", async (_, words) => {
    const { code, stdout, stderr } = await diffeo(...words);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/^error: .*9999…/);
    expect(stderr).toContain("(add --help for the options)");
    expect(stderr.length).toBeLessThan(1200);
  });
});

it("an interruption gives exit code 130, and leaves no folder behind", async () => {
  const words = ["chess", "sample", "--model", model, "--out", at("stopped/a.fen")];
  const { code, stderr } = await diffeoWith({ signal: AbortSignal.abort() }, ...words);
  expect([code, stderr]).toEqual([130, "diffeo: interrupted\n"]);
  expect(existsSync(at("stopped"))).toBe(false);
});

it("rows of numbers become text in pieces of bounded size, and are read back exactly", () => {
  const table = {
    columns: ["a", 'b "c"'],
    rows: 2500,
    values: Float64Array.from({ length: 5000 }, (_, i) => i / 7),
  };
  const lines = [...numberLines(table)];
  const names = Array.from({ length: 1000 }, (_, j) => `x${j}`);
  const wide = { columns: names, rows: 50, values: new Float64Array(50_000).fill(1 / 7) };
  for (const pieces of [lines, [...numberLines(wide)], [...numbersJson(wide, { steps: 3 })]])
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(90_000);
  const [head, ...rows] = lines.join("").trimEnd().split("\n");
  expect([head, rows.join(",").split(",").map(Number)]).toEqual(['a,"b ""c"""', [...table.values]]);
  const read = JSON.parse([...numbersJson(table, { steps: 3 })].join(""));
  expect([read.columns, read.rows.flat(), read.steps]).toEqual([
    table.columns,
    [...table.values],
    3,
  ]);
});

it("- is not used as a file name", async () => {
  const { code, stderr } = await diffeo(
    "chess",
    "sample",
    "--model",
    model,
    "--steps",
    "1",
    "--out",
    "-",
  );
  expect([code, stderr.trim()]).toEqual([
    2,
    "diffeo: - cannot be an output file. Omit the option if the command prints by default, or write to /dev/stdout.",
  ]);
  expect(existsSync("-")).toBe(false);
});

it("positions are read from the given standard input", async () => {
  const { stdout } = await diffeoWith(
    { stdin: "4k3/8/8/8/8/8/8/4K3\n" },
    "chess",
    "data",
    "-",
    "--json",
  );
  expect(JSON.parse(stdout).files).toEqual([{ name: "standard input", format: "fen", rows: 1 }]);
});

it("the next command deletes partly written files of killed processes, and nothing else", async () => {
  const gone = Number(execFileSync(process.execPath, ["-p", "process.pid"], { encoding: "utf8" }));
  const left = (name: string): string => {
    const path = at(`tidy/${name}`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "half");
    utimesSync(path, 1, 1);
    return path;
  };
  const words: [string, string[]][] = [
    [
      "",
      [
        "chess",
        "sample",
        "--model",
        model,
        "--steps",
        "1",
        "--count",
        "1",
        "--format",
        "fen",
        "--out",
        at("tidy/a.fen"),
      ],
    ],
    ["", ["chess", "data", "--playouts", "3", "--out", at("tidy/a.bin")]],
    [
      "",
      [
        "density",
        "sample",
        "--model",
        density,
        "--count",
        "2",
        "--steps",
        "1",
        "--out",
        at("tidy/a.csv"),
      ],
    ],
    [
      "runs/",
      [
        "chess",
        "study",
        "--model",
        model,
        "--count",
        "1",
        "--steps",
        "1,1",
        "--w",
        "1",
        "--out",
        at("tidy"),
      ],
    ],
  ];
  const mine = left(`notes.${gone}.tmp`);
  for (const [folder, command] of words) {
    const stray = left(`${folder}b.json.${gone}-0123abcd.diffeo.tmp`);
    expect(await diffeo(...command)).toMatchObject({ code: 0 });
    expect(existsSync(stray), command.join(" ")).toBe(false);
  }
  expect(existsSync(mine)).toBe(true);
});

describe("help and usage errors", () => {
  it("go to the right stream, with the right exit code", async () => {
    expect(await diffeo("--help")).toMatchObject({
      code: 0,
      stderr: "",
      stdout: expect.stringMatching(/^Usage: diffeo/),
    });
    const words = [
      ["chess", "sample", "--help"],
      ["chess", "help", "sample"],
    ];
    for (const each of words) expect((await diffeo(...each)).stdout).toContain("--pieces <n>");
    expect(await diffeo("--version")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
    expect(await diffeo("chess", "nothing")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("unknown command"),
    });
    expect(await diffeo("chess")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Usage: diffeo chess"),
    });
    expect(await diffeo("toString")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("unknown command"),
    });
  });
});
