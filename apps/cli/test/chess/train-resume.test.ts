import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { testFolder } from "../../../../test/folder.ts";
import { diffeo, type Ended, printed, startDiffeo } from "../run.ts";
import { checkpointsOf, outcomeOf, STEPS, trainWords, until, writeBoards } from "./train-run.ts";

const { folder } = testFolder("resume");
let data: string;
beforeAll(() => {
  data = writeBoards(folder);
});

const steps = (path: string): number[] =>
  readFileSync(join(path, "metrics.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).step);

describe("diffeo chess train", () => {
  it("writes a checkpoint on Ctrl-C, and with --resume ends like an uninterrupted run", async () => {
    const [whole, stopped] = [join(folder, "whole"), join(folder, "stopped")];
    const words = (out: string): string[] =>
      trainWords(data, out, "--save-every", "20", "--weight", "bounded");
    const uninterrupted: Ended = await diffeo(...words(whole), "--samples-every", "40");
    expect(uninterrupted).toMatchObject({ code: 0 });
    expect(uninterrupted.stdout).toMatch(
      /^60 steps of 4 boards, \d+ parameters: .*model\.safetensors\n$/,
    );

    const { child, ended } = startDiffeo(...words(stopped), "--samples-every", "0");
    await until(() => existsSync(join(stopped, "step-20.safetensors")), 5);
    child.kill("SIGINT");
    const { code, stdout, stderr } = await ended;
    expect([code, stderr]).toEqual([130, expect.stringContaining("stopping after this step")]);
    const reached = checkpointsOf(stopped).at(-1) as number;
    expect(reached).toBeGreaterThanOrEqual(20);
    expect(reached).toBeLessThan(STEPS);
    expect(stdout).toBe(
      `stopped at step ${reached} of 60; continue with the same command and --resume\n`,
    );

    expect(await diffeo(...words(stopped), "--resume", "--samples-every", "60")).toMatchObject({
      code: 0,
    });
    expect(outcomeOf(stopped)).toEqual(outcomeOf(whole));
    expect(steps(stopped)).toEqual(steps(whole));
  });

  it("samples boards of the averaged weights with the requested checkpoints, and at the end", () => {
    const sheetsOf = (out: string): string[] =>
      readdirSync(join(folder, out))
        .filter((name) => name.startsWith("samples"))
        .sort();
    expect(sheetsOf("whole")).toEqual(["samples-000040.svg", "samples-000060.svg"]);
    expect(sheetsOf("stopped")).toEqual(["samples-000060.svg"]);
    const last = (out: string): string =>
      readFileSync(join(folder, out, "samples-000060.svg"), "utf8");
    expect(last("whole")).toContain("After 60 steps of training");
    expect(last("stopped")).toBe(last("whole"));
  });

  it("extends the training of a transformer to the numbers of an uninterrupted run", async () => {
    const words = (out: string, ...more: string[]): string[] => [
      ...[
        "chess",
        "train",
        "--data",
        data,
        "--out",
        join(folder, out),
        "--steps",
        "12",
        "--batch",
        "8",
        "--threads",
        "1",
      ],
      ...[
        "--network",
        "transformer",
        "--width",
        "16",
        "--layers",
        "2",
        "--heads",
        "2",
        "--beta2",
        "0.99",
      ],
      ...["--focus", "0.1,0.7,0.8", "--samples-every", "0", "--warmup", "2"],
      ...["--fall", "4", "--save-every", "4", ...more],
    ];
    const model = (out: string): Buffer => readFileSync(join(folder, out, "model.safetensors"));
    expect(await diffeo(...words("attentive"))).toMatchObject({ code: 0 });
    // Halted at step 4, before its rate falls. Of two --steps the later counts.
    expect(await diffeo(...words("halted", "--steps", "8"))).toMatchObject({ code: 0 });
    for (const name of ["step-8.safetensors", "model.safetensors"])
      rmSync(join(folder, "halted", name));
    expect(checkpointsOf(join(folder, "halted")).at(-1)).toBe(4);
    // A run whose rate falls at the end alone may be made longer until it falls.
    expect(await diffeo(...words("halted", "--resume"))).toMatchObject({ code: 0 });
    expect(model("halted").equals(model("attentive"))).toBe(true);
    expect(await diffeo(...words("attentive", "--resume", "--steps", "20"))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        "Continue with --steps 12, or start another run from the model of this one",
      ),
    });
    const { code, stderr } = await diffeo(...words("odd", "--blocks", "3"));
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("--blocks cannot be used with --network transformer"),
    ]);
  });

  it("and sampling from the model give different results for every option that affects them", async () => {
    let runs = 0;
    const trained = async (...more: readonly string[]): Promise<string> => {
      const out = join(folder, `shaped-${runs++}`);
      const words = [
        "--network",
        "transformer",
        "--width",
        "8",
        "--layers",
        "1",
        "--heads",
        "1",
        "--steps",
        "3",
      ];
      const rest = ["--batch", "2", "--warmup", "1", "--samples-every", "0", "--threads", "1"];
      await printed("chess", "train", "--data", data, "--out", out, ...words, ...rest, ...more);
      return readFileSync(join(out, "model.safetensors"), "latin1");
    };
    const bounded = ["--weight", "bounded"];
    const models = [
      await trained(),
      await trained("--rate", "1e-3"),
      await trained("--ema", "0.05"),
      await trained("--clip", "0.01"),
      await trained("--decay", "0.5"),
      await trained("--beta2", "0.9"),
      await trained("--focus", "0.1,0.2"),
      await trained(...bounded),
      await trained(...bounded, "--bound", "0.01"),
    ];
    expect(new Set(models).size).toBe(models.length);
    const model = join(folder, "whole", "model.safetensors");
    const sampled = async (...more: readonly string[]): Promise<string> => {
      const out = join(folder, `drawn-${runs++}.fen`);
      const words = [
        "--count",
        "8",
        "--steps",
        "12",
        "--solver",
        "eulerMaruyama",
        "--threads",
        "1",
      ];
      await printed("chess", "sample", "--model", model, "--out", out, ...words, ...more);
      return readFileSync(out, "utf8");
    };
    const boards = [
      await sampled(),
      await sampled("--space", "logit"),
      await sampled("--w", "0.8"),
      await sampled("--grid", "quadratic"),
      await sampled("--seed", "8"),
    ];
    expect(new Set(boards).size).toBe(boards.length);
    const figured = async (...more: readonly string[]): Promise<string> => {
      const out = join(folder, `figured-${runs++}`);
      const words = ["--boards", "1", "--of", "1", "--steps", "4", "--threads", "1"];
      await printed("chess", "figure", "--model", model, "--out", out, ...words, ...more);
      return readFileSync(`${out}.svg`, "utf8").replaceAll(/w = [\d.]+/g, "w");
    };
    const figures = [
      await figured("--w", "1"),
      await figured("--w", "0.8"),
      await figured("--w", "1", "--seed", "8"),
    ];
    expect(new Set(figures).size).toBe(figures.length);
  });

  it("refuses settings that allow no network or no run", async () => {
    const refusal = async (...more: string[]): Promise<string> => {
      const { code, stderr } = await diffeo(...trainWords(data, join(folder, "none"), ...more));
      expect(code).toBe(2);
      expect(existsSync(join(folder, "none"))).toBe(false);
      return stderr;
    };
    expect(await refusal("--network", "residual")).toContain(
      "Allowed choices are unet, transformer.",
    );
    expect(await refusal("--width", "12")).toContain("a level of the network has 12 × 1 channels");
    expect(await refusal("--attention", "0,5")).toContain(
      "--attention 5: the network has 2 levels. Give levels",
    );
    expect(await refusal("--bound", "5")).toContain("--bound cannot be used with --weight none");
    expect(await refusal("--warmup", "60")).toContain(
      "--warmup 60 leaves no step of --steps 60 in which the rate falls. Set --warmup below",
    );
    expect(await refusal("--fall", "56")).toContain(
      "rises for 5 steps and falls for 56, more than --steps 60",
    );
    expect(await refusal("--device", "tpu")).toContain("Allowed choices are cpu, webgpu, cuda");
    expect(await refusal("--save-every", "10", "--samples-every", "15")).toContain(
      "a multiple of --save-every",
    );
    expect(await refusal("--weight", "most")).toContain(
      "Allowed choices are none, jacobian, bounded",
    );
  });
});
