import { existsSync } from "node:fs";
import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { readDataset } from "../../src/chess/dataset.ts";
import { addChessData } from "../../src/cli/chess-data.ts";
import { addChessEvaluate } from "../../src/cli/chess-evaluate.ts";
import { saveTinyModel } from "./tiny.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "diffeo-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** What a command prints. */
async function run(...words: string[]): Promise<string> {
  const chess = new Command("chess").exitOverride().configureOutput({ writeErr: () => {} });
  addChessData(chess);
  addChessEvaluate(chess);
  for (const command of chess.commands) command.exitOverride().configureOutput({ writeErr: () => {} });
  let printed = "";
  const out = vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    printed += text;
    return true;
  });
  const err = vi.spyOn(process.stderr, "write").mockImplementation(() => true);
  try {
    await chess.parseAsync(words, { from: "user" });
  } finally {
    out.mockRestore();
    err.mockRestore();
  }
  return printed;
}

describe("diffeo chess data", () => {
  it("makes positions of random games, splits and packs them, and says so", async () => {
    const out = join(folder, "a.positions");
    const text = await run("data", "--playouts", "1000", "--seed", "3", "--out", out, "--held-out", "0.2");
    const train = await readDataset(out);
    const heldOut = await readDataset(join(folder, "a.held-out.positions"));
    expect(train.count + heldOut.count).toBe(1000);
    expect(text).toContain(`wrote ${train.count} positions to ${out}\n`);
    expect(text).toMatch(/strictly legal +1\.000\n/);
  });

  it("converts to FEN and reads that again, all of it as JSON", async () => {
    const out = join(folder, "b.fen");
    await run("data", "--playouts", "50", "--out", out);
    expect((await readFile(out, "utf8")).split("\n")).toHaveLength(51);
    const report = JSON.parse(await run("data", out, out, "--json"));
    expect(report).toMatchObject({ duplicates: 50, skipped: 0, statistics: { positions: 50 } });
    expect(report.files).toEqual([
      { name: out, format: "fen", rows: 50 },
      { name: out, format: "fen", rows: 50 },
    ]);
    expect(Object.keys(report.statistics.square_marginals)).toHaveLength(64);
  });

  it("counts bad rows where it is asked to, and shows the first", async () => {
    const path = join(folder, "c.fen");
    await writeFile(path, "4k3/8/8/8/8/8/8/4K3\nnonsense\n");
    await expect(run("data", path)).rejects.toThrow("line 2, column 2");
    expect(await run("data", path, "--skip-bad")).toContain("1 bad rows were left out; the first:\n");
  });

  it("makes no more positions of random games than the limit", async () => {
    const report = JSON.parse(await run("data", "--playouts", "100", "--limit", "5", "--json"));
    expect(report.statistics.positions).toBe(5);
  });

  it("writes no file without positions", async () => {
    const out = join(folder, "none.positions");
    const split = run("data", "--playouts", "5", "--out", out, "--held-out", "0.001");
    await expect(split).rejects.toThrow("one of the two parts of 5 positions is empty");
    expect(existsSync(out)).toBe(false);
  });

  it("refuses options that make no sense", async () => {
    await expect(run("data", "--held-out", "0.1")).rejects.toThrow("there is no file to write");
    await expect(run("data", "--limit", "none")).rejects.toThrow("give a whole number");
    await expect(run("data", "--skip-bad", "--per-game", "2")).rejects.toThrow("--skip-bad, --per-game would change");
    await expect(run("data", "a.fen", "--playouts", "2")).rejects.toThrow(
      "--playouts would change nothing beside files",
    );
    await expect(run("data", "--format", "doc")).rejects.toThrow("Allowed choices are csv, fen, pgn, positions");
  });
});

describe("diffeo chess evaluate", () => {
  it("prints a table, or the same as JSON", async () => {
    const samples = join(folder, "samples.fen");
    const real = join(folder, "real.positions");
    await run("data", "--playouts", "200", "--seed", "1", "--out", samples);
    await run("data", "--playouts", "1500", "--seed", "2", "--out", real);
    const words = ["evaluate", samples, "--reference", real, "--neighbours", "50"];
    const table = await run(...words);
    const json = JSON.parse(await run(...words, "--json"));
    expect(Object.keys(json)).toEqual(["source", "skipped", "samples", "real", "independent"]);
    expect(json.samples.legal).toBe(1);
    expect(table).toContain(json.samples.covarianceCosine.toFixed(3));
    expect(table).toContain(json.independent.auc.toFixed(3));
  });

  it("measures samples of a model where no file is given, the same boards in any batch", async () => {
    const model = join(folder, "tiny.safetensors");
    const real = join(folder, "few.positions");
    await saveTinyModel(model);
    await run("data", "--playouts", "300", "--seed", "2", "--out", real);
    const words = ["evaluate", "--model", model, "--count", "12", "--steps", "4", "--reference", real, "--json"];
    const whole = JSON.parse(await run(...words));
    expect(whole.samples.count).toBe(12);
    expect(whole.source).toContain("w = 1, 4 steps, seed 0");
    expect(JSON.parse(await run(...words, "--batch", "5"))).toEqual(whole);
    const shifted = JSON.parse(await run(...words, "--w", "1.3"));
    expect(shifted.samples.piecesMean).not.toBe(whole.samples.piecesMean);
  });

  it("measures samples that meet conditions, and says what share did not", async () => {
    const [model, real] = [join(folder, "tiny.safetensors"), join(folder, "few.positions")];
    const words = ["evaluate", "--model", model, "--count", "6", "--steps", "4", "--reference", real, "--json"];
    const most = Math.floor(JSON.parse(await run(...words)).samples.piecesMean);
    const { conditions, shareRejected, samples } = JSON.parse(await run(...words, "--require", `pieces<=${most}`));
    expect(conditions).toEqual([`pieces<=${most}`]);
    expect(samples.piecesMean).toBeLessThanOrEqual(most);
    // Some of the first six have more than the mean.
    expect(shareRejected).toBeGreaterThan(0);
    expect(shareRejected).toBeLessThan(1);
    expect(samples.count).toBe(6);
  });

  it("reads the reference before the work, and leaves its bad rows out where it may", async () => {
    const [model, real] = [join(folder, "tiny.safetensors"), join(folder, "real.fen")];
    await run("data", "--playouts", "30", "--out", real);
    await appendFile(real, "nonsense\n");
    const words = ["evaluate", "--model", model, "--count", "4", "--reference", real];
    await expect(run(...words, "--steps", "1000000")).rejects.toThrow(/line 31.*a clean copy/);
    expect(await run(...words, "--steps", "2", "--training", real, "--skip-bad")).toContain("positions");
    await expect(run("evaluate", real, "--w", "1.1", "--steps", "3")).rejects.toThrow(
      "--w, --steps would change nothing beside a file of positions",
    );
  });
});
