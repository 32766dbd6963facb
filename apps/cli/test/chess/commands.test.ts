import { existsSync } from "node:fs";
import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatFen, parseFen } from "diffeo-chess";
import { readDataset } from "diffeo-chess/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { saveTinyModel } from "../../../../packages/chess/test/tiny.ts";
import { printed } from "../run.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "diffeo-"));
});
afterAll(() => rm(folder, { recursive: true }));

const run = (...words: string[]): Promise<string> => printed("chess", ...words);

describe("diffeo chess data", () => {
  it("generates positions of random games, splits and packs them, and reports the files", async () => {
    const out = join(folder, "a.bin");
    const text = await run(
      "data",
      "--playouts",
      "1000",
      "--seed",
      "3",
      "--out",
      out,
      "--held-out",
      "0.2",
    );
    const train = await readDataset(out);
    const heldOut = await readDataset(join(folder, "a.held-out.bin"));
    expect(train.count + heldOut.count).toBe(1000);
    expect(text).toContain(`wrote ${train.count} positions to ${out}\n`);
    expect(text).toMatch(/strictly legal +1\.000\n/);
  });

  it("converts to FEN, reads it again, and reports as JSON", async () => {
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

  it("keeps the side to move in a list, also after a split", async () => {
    const bare = parseFen("k7/8/8/8/8/8/8/7K");
    const rows = Array.from({ length: 40 }, (_, i) => formatFen(bare.with(8 + i, 0)));
    const path = join(folder, "sides.epd");
    const sideOf = (i: number): string => (i % 3 === 0 ? " b - -" : i % 3 === 1 ? " w - -" : "");
    await writeFile(path, rows.map((row, i) => `${row}${sideOf(i)}\n`).join(""));
    const expected = rows.map((row, i) => `${row} ${i % 3 === 0 ? "b" : "w"} - - 0 1`);
    const lines = async (name: string): Promise<string[]> =>
      (await readFile(join(folder, name), "utf8")).trim().split("\n");
    await run("data", path, "--out", join(folder, "sides.FEN"));
    expect(await lines("sides.FEN")).toEqual(expected);
    await run("data", path, "--out", join(folder, "part.fen"), "--held-out", "0.3");
    const [train, heldOut] = [await lines("part.fen"), await lines("part.held-out.fen")];
    expect([...train, ...heldOut].sort()).toEqual(expected.toSorted());
  });

  it("refuses names without a known extension, and files that cannot be written", async () => {
    for (const name of ["x.csv", "x.fen.gz", "x"])
      await expect(run("data", "--out", join(folder, name))).rejects.toThrow(
        "Use .bin for packed positions, or .fen",
      );
    await mkdir(join(folder, "y.held-out.bin"));
    const split = run("data", "--out", join(folder, "y.bin"), "--held-out", "0.2");
    await expect(split).rejects.toThrow("y.held-out.bin (EISDIR)");
    expect(existsSync(join(folder, "y.bin"))).toBe(false);
  });

  it("counts bad rows with --skip-bad, and shows the first", async () => {
    const path = join(folder, "c.fen");
    await writeFile(path, "4k3/8/8/8/8/8/8/4K3\nnonsense\n");
    await expect(run("data", path)).rejects.toThrow("line 2, column 2");
    expect(await run("data", path, "--skip-bad")).toContain(
      "1 bad rows were left out; the first:\n",
    );
  });

  it("generates at most the limit of positions of random games", async () => {
    const report = JSON.parse(await run("data", "--playouts", "100", "--limit", "5", "--json"));
    expect(report.statistics.positions).toBe(5);
  });

  it("writes no file without positions", async () => {
    const out = join(folder, "none.bin");
    const split = run("data", "--playouts", "5", "--out", out, "--held-out", "0.001");
    await expect(split).rejects.toThrow("of 5 positions leaves one of the two parts empty");
    expect(existsSync(out)).toBe(false);
  });

  it("refuses options that contradict each other", async () => {
    await expect(run("data", "--held-out", "0.1")).rejects.toThrow(
      "--held-out needs an output file",
    );
    await expect(run("data", "--limit", "none")).rejects.toThrow("Give an integer");
    await expect(run("data", "--skip-bad", "--per-game", "2")).rejects.toThrow(
      "--skip-bad, --per-game cannot be used",
    );
    await expect(run("data", "a.fen", "--playouts", "2")).rejects.toThrow(
      "--playouts cannot be used with files",
    );
    await expect(run("data", "--format", "doc")).rejects.toThrow(
      "Allowed choices are csv, fen, pgn, positions",
    );
  });
});

describe("diffeo chess evaluate", () => {
  it("prints a table, or the same as JSON", async () => {
    const samples = join(folder, "samples.fen");
    const real = join(folder, "real.bin");
    await run("data", "--playouts", "200", "--seed", "1", "--out", samples);
    await run("data", "--playouts", "1500", "--seed", "2", "--out", real);
    const words = ["evaluate", samples, "--reference", real, "--neighbours", "50"];
    const table = await run(...words);
    const json = JSON.parse(await run(...words, "--json"));
    expect(Object.keys(json)).toEqual([
      "source",
      "skipped",
      "samples",
      "real",
      "independent",
      "tooFew",
    ]);
    expect(json.samples.legal).toBe(1);
    expect(table).toContain(json.samples.covarianceCosine.toFixed(3));
    expect(table).toContain(json.independent.auc.toFixed(3));
  });

  it("searches copies and neighbours in the positions of --training, or else in the reference", async () => {
    const [samples, real] = [join(folder, "samples.fen"), join(folder, "real.bin")];
    const words = ["evaluate", samples, "--reference", real, "--neighbours", "200", "--json"];
    const trained = JSON.parse(await run(...words, "--training", samples));
    expect(trained.samples).toMatchObject({ copies: 1, nearestMedian: 0, nearest95: 0 });
    const { samples: plain, ...others } = JSON.parse(await run(...words));
    expect(plain.copies).toBeLessThan(0.1);
    expect(plain.nearestMedian).toBeGreaterThan(5);
    expect(others.real.copies).toBe(0);
    const nearest = ({ nearest5, nearestMedian, nearest95 }: typeof plain): number[] => [
      nearest5,
      nearestMedian,
      nearest95,
    ];
    const fewer = JSON.parse(await run(...words, "--neighbours", "2", "--seed", "5"));
    expect(nearest(fewer.samples)).not.toEqual(nearest(plain));
    expect(fewer.independent.legal).not.toBe(others.independent.legal);
    const errors = { ...plain.errors, copies: trained.samples.errors.copies };
    expect(trained.samples).toEqual({
      ...plain,
      copies: 1,
      nearest5: 0,
      nearestMedian: 0,
      nearest95: 0,
      errors,
    });
  });

  it("compares no covariance if all boards are equal", async () => {
    const one = join(folder, "one.fen");
    await writeFile(one, "4k3/8/8/8/8/8/8/4K3\n");
    const words = ["evaluate", one, "--reference", join(folder, "real.bin")];
    expect(JSON.parse(await run(...words, "--json")).samples).toMatchObject({
      covarianceCosine: null,
      covarianceError: 1,
      errors: { piecesMean: null, piecesSd: null, balanceMean: null, balanceSd: null, auc: null },
    });
    const table = await run(...words);
    expect(table).toMatch(/cosine of the cross-square covariance +– +– +–\n/);
    expect(table).toMatch(/\npieces, mean +2\.00 +\d/);
    expect(table).toContain("\n1 sample is too few for the AUC");
  });

  it("measures samples of a model if no file is given, the same boards for any batch size", async () => {
    const model = join(folder, "tiny.safetensors");
    const real = join(folder, "few.bin");
    await saveTinyModel(model);
    await run("data", "--playouts", "300", "--seed", "2", "--out", real);
    const words = [
      "evaluate",
      "--model",
      model,
      "--count",
      "12",
      "--steps",
      "4",
      "--reference",
      real,
      "--json",
    ];
    const whole = JSON.parse(await run(...words));
    expect(whole.samples.count).toBe(12);
    expect(whole.source).toContain("w = 1, 4 steps, seed 0");
    expect(JSON.parse(await run(...words, "--batch", "6"))).toEqual(whole);
    const shifted = JSON.parse(await run(...words, "--w", "1.3"));
    expect(shifted.samples.piecesMean).not.toBe(whole.samples.piecesMean);
  });

  it("measures samples that meet conditions, and reports the share that did not", async () => {
    const [model, real] = [join(folder, "tiny.safetensors"), join(folder, "few.bin")];
    const words = [
      "evaluate",
      "--model",
      model,
      "--count",
      "6",
      "--steps",
      "4",
      "--reference",
      real,
      "--json",
    ];
    const most = Math.floor(JSON.parse(await run(...words)).samples.piecesMean);
    const { conditions, shareRejected, samples } = JSON.parse(
      await run(...words, "--require", `pieces<=${most}`),
    );
    expect(conditions).toEqual([`pieces<=${most}`]);
    expect(samples.piecesMean).toBeLessThanOrEqual(most);
    // Some of the first six have more than the mean.
    expect(shareRejected).toBeGreaterThan(0);
    expect(shareRejected).toBeLessThan(1);
    expect(samples.count).toBe(6);
  });

  it("reads the reference before the work, and skips its bad rows if allowed", async () => {
    const [model, real] = [join(folder, "tiny.safetensors"), join(folder, "real.fen")];
    await run("data", "--playouts", "30", "--out", real);
    await appendFile(real, "nonsense\n");
    const words = ["evaluate", "--model", model, "--count", "4", "--reference", real];
    await expect(run(...words, "--steps", "1000000")).rejects.toThrow(
      /line 31.*skip bad rows with --skip-bad/,
    );
    expect(await run(...words, "--steps", "2", "--training", real, "--skip-bad")).toContain(
      "positions",
    );
    await expect(run("evaluate", real, "--w", "1.1", "--steps", "3")).rejects.toThrow(
      "--w, --steps cannot be used with a file of positions",
    );
  });
});
