/**
 * diffeo infer as a person runs it: draws, summary and pictures; stopped at any moment and
 * continued; errors that say where.
 */
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { testFolder } from "../../../../test/folder.ts";
import { diffeo, type Ended, startDiffeo } from "../run.ts";

const { at } = testFolder("infer");

// Far from any node_modules: the library is the command's own.
const parameters = `import { positive, real } from "diffeo/domain";
export const parameters = { mu: real(), sigma: positive() };
`;
writeFileSync(at("parameters.mjs"), parameters);
writeFileSync(
  at("model.mjs"),
  `import { parameters } from "./parameters.mjs";
import { div, expandDims, log, mul, squaredNorm, sub } from "diffeo/graph";
export { parameters };
export const data = { y: [null] };
export const logDensity = ({ mu, sigma }, { y }) =>
  sub(mul(squaredNorm(div(sub(y, expandDims(mu, -1)), expandDims(sigma, -1))), -0.5), mul(log(sigma), y.shape[0]));
`,
);
writeFileSync(
  at("statements.mjs"),
  `import { halfNormal, normal } from "diffeo/distribution";
import { model } from "diffeo/mcmc";
export default model(({ parameter, observe, derive }) => {
  const mu = parameter("mu", normal(0, 10));
  const sigma = parameter("sigma", halfNormal(10));
  observe("y", normal(mu, sigma));
  derive("twice", mu);
});
`,
);
writeFileSync(at("data.json"), '{"y": [1.2, 0.7, 3.1, 2.2, 1.9, 0.4], "note": "not used"}');
const words = (out: string, ...more: readonly string[]): string[] => [
  "infer",
  at("model.mjs"),
  "--data",
  at("data.json"),
  "--out",
  at(out),
  "--draws",
  "60",
  "--warmup",
  "30",
  "--seed",
  "3",
  ...more,
];
const infer = (...args: readonly string[]): Promise<Ended> => startDiffeo(...args).ended;
const chain = (out: string, c: number): string => readFileSync(at(`${out}/chain-${c}.csv`), "utf8");

describe("infer", () => {
  it("accepts model(…) as the default export of a file", async () => {
    writeFileSync(at("numbers.json"), '{"y": [1.2, 0.7, 3.1, 2.2, 1.9, 0.4]}');
    const given = words("statements").map((word) =>
      word === at("model.mjs")
        ? at("statements.mjs")
        : word === at("data.json")
          ? at("numbers.json")
          : word,
    );
    const { stdout, stderr, code } = await infer(...given);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^mu +1\.\d+ .*\nsigma +1\.\d+ .*\ntwice +1\.\d+ /m);
  }, 60_000);

  it("prints a summary and writes draws in two formats, and pictures", async () => {
    const { stdout, stderr, code } = await infer(...words("whole"));
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^ +mean +± +sd +5 % +50 % +95 % +ESS bulk +ESS tail +R̂\nmu +1\.\d+ /);
    expect(stdout).toMatch(/^sigma +1\.\d+ /m);
    expect(stdout).toMatch(/^4 chains of 60 draws, [\d.]+ s: .*whole$/m);
    const csv = [1, 2, 3, 4].map((c) => `chain-${c}.csv`);
    const pictures = ["pairs", "ranks", "trace"].flatMap((name) => [`${name}.png`, `${name}.svg`]);
    expect(readdirSync(at("whole")).sort()).toEqual(
      [...csv, ...pictures, "config.json", "draws.json", "summary.json"].sort(),
    );
    expect(JSON.parse(readFileSync(at("whole/draws.json"), "utf8")).posterior.mu.length).toBe(4);
  });

  it("replaces neither its data nor existing files, and refuses more draws than can be stored", async () => {
    const files = {
      "summary.json": '{"y": [1.2, 0.7]}',
      "chain-2.csv": "years of work\n",
      "chains.json": '{"y": [1]}',
    };
    mkdirSync(at("mine"));
    for (const [name, text] of Object.entries(files)) writeFileSync(at(`mine/${name}`), text);
    const given = [
      "infer",
      at("model.mjs"),
      "--out",
      at("mine"),
      "--draws",
      "5",
      "--warmup",
      "5",
      "--no-pictures",
    ];
    const refused = async (message: RegExp, ...more: readonly string[]): Promise<void> => {
      const { code, stderr } = await diffeo(...given, ...more);
      expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
      for (const [name, text] of Object.entries(files))
        expect(readFileSync(at(`mine/${name}`), "utf8")).toBe(text);
      expect(readdirSync(at("mine"))).toHaveLength(3);
    };
    await refused(
      /summary\.json is an input of the command/,
      "--data",
      at("mine/summary.json"),
      "--force",
    );
    await refused(
      /chains\.json is an input of the command/,
      "--data",
      at("mine/chains.json"),
      "--force",
    );
    await refused(/chains\.json already exists.*--force/, "--data", at("data.json"));
    await refused(
      /10000 chains of 10000000 draws exceed the limit of 100,000,000/,
      "--chains",
      "1e4",
      "--draws",
      "1e7",
    );
    const how = [
      "--method",
      "hmc",
      "--steps",
      "3",
      "--target-acceptance",
      "0.7",
      "--metric",
      "dense",
      "--max-depth",
      "4",
    ];
    const asked = [...how, "--chains", "3", "--block", "2", "--seed", "9"];
    expect(await infer(...given, "--data", at("data.json"), "--force", ...asked)).toMatchObject({
      code: 0,
    });
    expect(JSON.parse(readFileSync(at("mine/config.json"), "utf8"))).toMatchObject({
      ...{
        method: "hmc",
        steps: 3,
        acceptance: 0.7,
        metric: "dense",
        maxDepth: 4,
        draws: 5,
        warmup: 5,
      },
      ...{ chains: 3, block: 2, seed: 9 },
    });
    expect(JSON.parse(readFileSync(at("mine/summary.json"), "utf8")).summary.mu.mean).toBeTypeOf(
      "number",
    );
  });

  it("continues to the same draws after the system killed it at any moment", async () => {
    const { child, ended } = startDiffeo(...words("killed", "--every", "0", "--no-pictures"));
    const file = at("killed/chains.json");
    const grown = (): boolean => existsSync(file) && statSync(file).size > 8_000;
    while (!grown() && child.exitCode === null) await new Promise((done) => setTimeout(done, 5));
    child.kill("SIGKILL");
    await ended;
    expect(existsSync(at("killed/summary.json"))).toBe(false);
    const other = await infer(...words("killed", "--resume", "--draws", "61"));
    expect(other.code).toBe(2);
    expect(other.stderr).toMatch(/was started with draws = 60, but now it is 61/);
    // A module that the model imports is part of the model.
    for (const name of ["model.mjs", "parameters.mjs"]) {
      const text = readFileSync(at(name), "utf8");
      writeFileSync(at(name), `${text}// Another.\n`);
      const changed = await infer(...words("killed", "--resume"));
      expect([changed.code, changed.stderr]).toEqual([
        2,
        expect.stringMatching(
          /model\.mjs has changed since the run in .* Start again with --force/,
        ),
      ]);
      writeFileSync(at(name), text);
    }
    const rest = await infer(...words("killed", "--resume", "--no-pictures", "--json"));
    expect([rest.code, rest.stderr]).toEqual([0, ""]);
    expect(JSON.parse(rest.stdout)).toMatchObject({ chains: 4, draws: 60, summary: { mu: {} } });
    const own = (text: string): string => text.replaceAll("killed", "whole");
    for (const c of [1, 2, 3, 4]) expect(own(chain("killed", c))).toBe(chain("whole", c));
  });

  it.skipIf(process.platform === "win32")("reads data from a pipe, once", async () => {
    execFileSync("mkfifo", [at("pipe")]);
    const writer = spawn("sh", ["-c", 'cat "$0" > "$1"', at("data.json"), at("pipe")]);
    const of = ["--draws", "5", "--warmup", "5", "--no-pictures"];
    const asked = words("piped", ...of).map((word) =>
      word === at("data.json") ? at("pipe") : word,
    );
    const { code, stderr } = await infer(...asked);
    writer.kill();
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    const digest = createHash("sha256")
      .update(readFileSync(at("data.json")))
      .digest("hex");
    const config = JSON.parse(readFileSync(at("piped/config.json"), "utf8"));
    expect(config.data).toBe(digest.slice(0, 16));

    const model = await infer("infer", at("pipe"), "--out", at("piped-model"));
    expect([model.code, model.stderr]).toEqual([
      1,
      expect.stringContaining("pipe is not a file. Write the module to a file"),
    ]);
  });

  it("leaves nothing behind if its jobs are not run", async () => {
    const { code, stderr } = await infer(...words("unqueued", "--queue", "nowhere"));
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("the address of the queue is not a URL"),
    ]);
    expect(existsSync(at("unqueued"))).toBe(false);
  });

  it("does not start a run over another, and does not continue a completed one", async () => {
    const again = await diffeo(...words("whole"));
    expect(again.code).toBe(2);
    expect(again.stderr).toContain(
      "already contains a run. Use --resume to continue it, --force to start it again, or another --out",
    );
    const done = await diffeo(...words("whole", "--resume"));
    expect(done.code).toBe(2);
    expect(done.stderr).toMatch(/the run in .*whole is done/);
    const nothing = await diffeo(...words("nothing", "--resume"));
    expect(nothing.stderr).toMatch(/nothing contains no run to continue/);
  });

  it("names the place of an error in a model", async () => {
    const model = (text: string): string => {
      writeFileSync(at("wrong.mjs"), text);
      return at("wrong.mjs");
    };
    const use =
      'import { real } from "diffeo/domain"; import { log, neg, square } from "diffeo/graph";';
    const none = await diffeo("infer", model("export const parameters = {};"), "--out", at("none"));
    expect(none.code).toBe(2);
    expect(none.stderr).toContain("exports no function logDensity");
    const nan = await infer(
      "infer",
      model(
        `${use} export const parameters = { mu: real() }; export const logDensity = ({ mu }) => log(neg(square(mu)));`,
      ),
      "--out",
      at("nan"),
    );
    expect(nan.code).toBe(3);
    // Nothing was begun that could be continued.
    expect(existsSync(at("nan"))).toBe(false);
    expect(nan.stderr).toMatch(
      /^diffeo: chain 1 has no starting point after 100 tries: .* NaN at mu = [-\d.]+\. /,
    );
  });
});

describe("the code of a model", () => {
  it("is ended by Ctrl-C if it loops forever", async () => {
    const started = at("started");
    writeFileSync(
      at("loop.mjs"),
      `import { writeFileSync } from "node:fs";
       import { normal } from "diffeo/distribution";
       import { model } from "diffeo/mcmc";
       export default model(({ parameter }) => {
         parameter("x", normal(0, 1));
         writeFileSync(${JSON.stringify(started)}, "");
         for (;;);
       });`,
    );
    const { child } = startDiffeo("infer", at("loop.mjs"), "--out", at("loop"));
    const ended = once(child, "exit");
    while (!existsSync(started)) await pause(20);
    child.kill("SIGINT");
    expect(await ended).toEqual([null, "SIGINT"]);
  });

  it("is an error if it waits forever", async () => {
    writeFileSync(at("waits.mjs"), "await new Promise(() => {}); export default 1;");
    const { ended } = startDiffeo("infer", at("waits.mjs"), "--out", at("waits"));
    expect(await ended).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("waits.mjs waits for a promise that never settles"),
    });
  });

  it("does not look like a completed command if it ends the process", async () => {
    writeFileSync(at("exits.mjs"), "process.exit(0);");
    const { ended } = startDiffeo("infer", at("exits.mjs"), "--out", at("exits"));
    expect(await ended).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("ended the process before the command was done"),
    });
  });
});
