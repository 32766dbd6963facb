/** diffeo chess sample, complete and calibrate as a person uses them, on a network that knows nothing. */
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { validateFen } from "chess.js";
import { modelDigest } from "diffeo/node";
import { key } from "diffeo/random";
import type { Calibration } from "diffeo-chess";
import { parseFen, playouts, UNKNOWN } from "diffeo-chess";
import { readPartial, writeDataset, writePartial } from "diffeo-chess/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { saveTinyModel } from "../../../../packages/chess/test/tiny.ts";
import { diffeo, diffeoWith } from "../run.ts";

let folder: string;
const at = (name: string): string => join(folder, name);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "diffeo-"));
  await saveTinyModel(at("a.safetensors"));
  const digest = await modelDigest(at("a.safetensors"));
  await writeFile(at("a.calibration.json"), JSON.stringify(straight(digest)));
  await saveTinyModel(at("b.safetensors"));
});
afterAll(() => rm(folder, { recursive: true }));

/** 10, 20 and 30 pieces at w = 0.95, 1 and 1.05. */
const straight = (model: string): Calibration => ({
  format: "diffeo-calibration-1",
  model,
  method: "domainPreserving",
  steps: 6,
  seed: 1,
  points: [0.95, 1, 1.05].map((w) => ({
    w,
    count: 100,
    pieces: 20 + 200 * (w - 1),
    sd: 6,
    oneKingEach: 1,
    legal: 1,
  })),
});

/** What a command prints and says; where it fails, an error with what it said. */
async function run(...words: string[]): Promise<{ readonly out: string; readonly err: string }> {
  const { stdout: out, stderr: err, code } = await diffeo("chess", ...words, "--threads", "1");
  if (code !== 0) throw new Error(err);
  return { out, err };
}
const placementOf = (fen: string): string => fen.split(" ")[0];
const piecesOf = (fen: string): number => placementOf(fen).replaceAll(/[^a-zA-Z]/g, "").length;
const sampled = (...words: string[]) =>
  run("sample", "--model", at("a.safetensors"), "--count", "3", "--format", "fen", ...words);

describe("diffeo chess sample", () => {
  it("aims at a number of pieces by the calibration beside the model, with its steps", async () => {
    const { out, err } = await sampled("--pieces", "24");
    expect(err).toBe("24 pieces in the mean: w = 1.0200\n");
    expect(out).toBe((await sampled("--w", "1.02", "--steps", "6")).out);
    expect(out).not.toBe((await sampled("--w", "1", "--steps", "6")).out);
  });

  it("says what is wrong with an aim", async () => {
    await expect(sampled("--pieces", "40")).rejects.toThrow("40 pieces: the calibration reaches from 10.0 to 30.0");
    await expect(sampled("--pieces", "24", "--w", "1")).rejects.toThrow("--w and --pieces both");
    await expect(sampled("--pieces", "24", "--space", "logit")).rejects.toThrow("not for domainPreserving in logit");
    const other = run("sample", "--model", at("b.safetensors"), "--pieces", "24");
    await expect(other).rejects.toThrow(
      /no calibration .*b\.calibration\.json\. Make its own with diffeo chess calibrate/,
    );
    await writeFile(at("c.json"), JSON.stringify(straight("0123456789ab")));
    await expect(sampled("--pieces", "24", "--calibration", at("c.json"))).rejects.toThrow(
      /was made for the model 0123456789ab.*--out .*a\.calibration\.json\.$/m,
    );
    const good = straight(await modelDigest(at("a.safetensors")));
    const { steps: _, ...stepless } = good;
    const [first, ...others] = good.points;
    const bad = [{}, stepless, { ...good, steps: 2.5 }, { ...good, points: [] }];
    for (const point of [{ w: -1 }, { pieces: null }, { count: 0 }])
      bad.push({ ...good, points: [{ ...first, ...point }, ...others] });
    for (const content of bad) {
      await writeFile(at("d.json"), JSON.stringify(content));
      await expect(sampled("--pieces", "24", "--calibration", at("d.json"))).rejects.toThrow("is no calibration");
    }
    expect((await sampled("--pieces", "24", "--steps", "5")).err).toContain("calibrated at 6 steps: at 5 the mean");
  });

  it("rejects boards that do not meet conditions, and says how many", async () => {
    const all = (await sampled("--steps", "4", "--count", "20")).out.trim().split("\n");
    const counts = all.map(piecesOf);
    const middle = counts.toSorted((a, b) => a - b)[10];
    const passing = all.filter((_, i) => counts[i] <= middle);
    const { out, err } = await sampled("--steps", "4", "--require", `pieces<=${middle}`);
    expect(out.trim().split("\n")).toEqual(passing.slice(0, 3));
    const drawn = all.indexOf(passing[2]) + 1;
    expect(err).toBe(
      `rejection: of ${drawn} boards drawn 3 met pieces<=${middle}; the share rejected is ${(1 - 3 / drawn).toFixed(3)}\n`,
    );
  });

  it("gives what it found and fails where the limit is reached", async () => {
    const none = sampled("--steps", "4", "--require", "pieces=65", "--tries", "7");
    await expect(none).rejects.toThrow(/rejected is 1\.000\n.*only 0 of 3 boards met pieces=65 in 7 draws/);
  });

  it("writes a trace of the boards it prints", async () => {
    const words = ["--steps", "4", "--trace", at("trace.json"), "--frames", "3", "--require", "pieces>=0"];
    const { out } = await sampled(...words);
    const trace = JSON.parse(await readFile(at("trace.json"), "utf8"));
    expect(trace.fen).toEqual(out.trim().split("\n").map(placementOf));
    expect(trace.frames).toHaveLength(3);
  });

  it("writes FENs that other programs read", async () => {
    for (const fen of (await sampled("--steps", "4")).out.trim().split("\n"))
      expect(validateFen(fen).error ?? "").not.toMatch(/field|tokens/);
  });

  it("says in JSON what the boards are and how they came about", async () => {
    const { out } = await sampled("--steps", "4", "--require", "pieces>=0", "--require", "Q>=0", "--format", "json");
    const { boards, ...about } = JSON.parse(out);
    expect(boards).toHaveLength(3);
    expect(about).toMatchObject({
      model: await modelDigest(at("a.safetensors")),
      seed: 7,
      space: "simplex",
      method: "domainPreserving",
      w: 1,
      conditions: ["pieces>=0", "Q>=0"],
      drawn: 3,
      shareRejected: 0,
      rejectedSteps: 0,
      scoreEvaluations: 5,
    });
    expect(about).not.toHaveProperty("rejected");
  });

  it("fails before the work where the result could not be written, or options have no effect", async () => {
    const refusal = (...words: string[]) => expect(sampled("--steps", "1000000", ...words)).rejects;
    await refusal("--out", folder).toThrow(`cannot write ${folder} (EISDIR)`);
    await refusal("--trace", join(at("a.safetensors"), "trace.json")).toThrow("cannot write");
    await refusal("--out", at("t.json"), "--trace", join(folder, ".", "x", "..", "t.json")).toThrow(
      /two results would go to .*t\.json\. Name a file for each/,
    );
    await refusal("--tries", "7").toThrow("--tries would change nothing beside no --require");
    await refusal("--frames", "7").toThrow("--frames would change nothing beside no --trace");
    await refusal("--device", "tpu").toThrow("Allowed choices are cpu, webgpu, cuda");
    await refusal("--calibration", at("a.calibration.json")).toThrow("Give --pieces too");
  });

  it("names w where the numbers run away", async () => {
    await expect(sampled("--steps", "4", "--w", "1e30")).rejects.toThrow(
      /drift was scaled by w = 1e\+30: try one nearer/,
    );
  });
});

describe("diffeo chess complete", () => {
  const given = "4k3/pppppppp/????????/????????/8/8/PPPPPPPP/4K2?";
  const complete = (...words: string[]) => run("complete", "--model", at("a.safetensors"), "--steps", "3", ...words);

  it("fills in unknown squares and keeps the others", async () => {
    const known = parseFen(given, { unknown: true });
    for (const method of ["guided", "particles", "resample", "replacement"]) {
      const many = method === "particles" ? ["--particles", "4"] : [];
      const { out } = await complete(given, "--count", "2", "--format", "json", "--method", method, ...many);
      const { boards, ...about } = JSON.parse(out);
      expect(about).toMatchObject({ given, method, w: 1, drawn: 2 });
      expect(boards).toHaveLength(2);
      for (const { fen } of boards) {
        const board = parseFen(fen);
        known.forEach((k, square) => {
          if (k !== UNKNOWN) expect(board[square]).toBe(k);
        });
      }
    }
  });

  it("keeps the fields that are given beside the placement", async () => {
    const words = ["--count", "2", "--method", "replacement", "--format"];
    const after = (fen: string): string => fen.slice(fen.indexOf(" "));
    const { out } = await complete(`${given} b - - 3 20`, ...words, "fen");
    expect(out.trim().split("\n").map(after)).toEqual([" b - - 3 20", " b - - 3 20"]);
    const { boards } = JSON.parse((await complete(`${given} b `, ...words, "json")).out);
    expect(boards.map(({ fen }: { fen: string }) => after(fen))).toEqual([" b - - 0 1", " b - - 0 1"]);
  });

  it("aims and rejects as sample does", async () => {
    const { out, err } = await complete(
      given,
      "--pieces",
      "24",
      "--require",
      "P>=8",
      "--format",
      "fen",
      "--count",
      "2",
    );
    expect(out.trim().split("\n")).toHaveLength(2);
    for (const fen of out.trim().split("\n")) expect(piecesOf(fen)).toBe(24);
    expect(err).toMatch(/^exactly 24 pieces by rejection; to get there, w = 1\.0200 by the calibration/);
    expect(err).toMatch(/rejection: of \d+ boards drawn 2 met P>=8, pieces=24; the share rejected is 0\.\d{3}\n$/);
  });

  it("takes any number of pieces that the known squares leave room for", async () => {
    const nearly = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBN?";
    const { out, err } = await complete(nearly, "--pieces", "31", "--format", "fen", "--count", "1");
    expect(piecesOf(out)).toBe(31);
    expect(err).toContain("w = 1.0500");
    await expect(complete(nearly, "--pieces", "33")).rejects.toThrow(
      "33 pieces: 31 are known and 1 squares are to be filled in. Give --pieces a number from 31 to 32",
    );
  });

  it("refuses options that would have no effect", async () => {
    const refusal = (...words: string[]) => expect(complete(...words)).rejects;
    await refusal(given, "--json", "--hide", "0.3").toThrow("--hide, --json would change nothing beside a FEN");
    await refusal(given, "--method", "replacement", "--resample", "2").toThrow("beside the method replacement");
    await refusal(given, "--method", "resample", "--guidance", "2").toThrow("beside the method resample");
    await refusal("--evaluate", "none.fen", "--format", "json", "--pieces", "9").toThrow(
      "--pieces, --format would change nothing beside --evaluate",
    );
  });

  it("names the column of what is wrong with a FEN", async () => {
    await expect(complete("8/8/8/8/8/8/8/???x????")).rejects.toThrow('column 18: "x" is no piece');
    await expect(complete("8/8/8/8/8/8/8/???")).rejects.toThrow("column 18: rank 1 has 3 squares");
    await expect(complete("8/8/8/8/8/8/8/8")).rejects.toThrow("has no unknown square");
    await expect(complete()).rejects.toThrow("give a FEN with ? squares, or --evaluate FILE".replace("give", "Give"));
  });

  it("is measured on real boards beside plain replacement", async () => {
    await writeDataset(at("real.positions"), playouts(30, key("real")));
    const words = ["--evaluate", at("real.positions"), "--hide", "0.25", "--count", "5"];
    const json = JSON.parse((await complete(...words, "--json")).out);
    expect(json.real).toMatchObject({ boards: 5, kept: 1, legal: 1, squaresRecovered: 1 });
    expect(json.guided).toMatchObject({ boards: 5, kept: 1 });
    expect(json.replacement).toMatchObject({ boards: 5, kept: 1 });
    const { out } = await complete(...words);
    expect(out).toMatch(/^25 % of squares hidden +real +guided +replacement\n/);
    expect(out).toContain(json.guided.squaresRecovered.toFixed(3));
    expect(out).toMatch(/score evaluations a board +– +4, each with a gradient +4\n/);
    await expect(complete(...words, "--require", "Q")).rejects.toThrow(
      "--require would change nothing beside --evaluate",
    );
  });
});

describe("diffeo chess calibrate", () => {
  it("writes what sample reads, and checks it with other noise", async () => {
    const model = ["--model", at("b.safetensors"), "--count", "4", "--batch", "3"];
    const { out } = await run("calibrate", ...model, "--w", "1.05,0.9,1", "--steps", "4");
    const written: Calibration = JSON.parse(await readFile(at("b.calibration.json"), "utf8"));
    expect(written).toMatchObject({
      format: "diffeo-calibration-1",
      model: await modelDigest(at("b.safetensors")),
      steps: 4,
    });
    expect(written.points.map(({ w }) => w)).toEqual([0.9, 1, 1.05]);
    for (const { pieces, legal } of written.points) {
      expect(out).toContain(pieces.toFixed(2));
      expect(legal).toBeGreaterThanOrEqual(0);
    }
    const target = String(written.points[0].pieces);
    const flat = { ...written, points: [written.points[0]] };
    await writeFile(at("flat.json"), JSON.stringify(flat));
    const verified = await run("calibrate", ...model, "--out", at("flat.json"), "--verify", target, "--json");
    const [row] = JSON.parse(verified.out);
    expect(row).toMatchObject({ target: Number(target), w: 0.9, count: 4 });
    expect([row.pieces, row.sd]).not.toEqual([written.points[0].pieces, written.points[0].sd]);
    expect(row.error).toBeCloseTo(row.pieces - row.target, 12);
    const table = await run("calibrate", ...model, "--out", at("flat.json"), "--verify", target);
    expect(table.out).toContain(row.pieces.toFixed(2));
  });

  const slow = (out: string): string[] => [
    ...["calibrate", "--model", at("b.safetensors"), "--w", "1,0.9,1.05,0.95", "--count", "4", "--batch", "2"],
    ...["--steps", "100", "--out", at(out), "--threads", "1"],
  ];

  it("continues where it was interrupted, to the numbers of a calibration that was not", async () => {
    const { err } = await run(...slow("whole.json"));
    expect(err.match(/^w = /gm)).toHaveLength(4);
    const controller = new AbortController();
    const onStderr = (text: string): void => {
      if (text.includes("w = 0.9500")) controller.abort();
    };
    const { code, stderr } = await diffeoWith(
      { signal: controller.signal, onStderr },
      "chess",
      ...slow("stopped.json"),
    );
    expect(stderr).toMatch(/what is measured is kept; the same command continues/);
    expect(code).toBe(130);
    expect(await readdir(folder)).not.toContain("stopped.json");
    const kept = await readFile(at("stopped.partial.json"), "utf8");
    expect(JSON.parse(kept).points).toHaveLength(2);

    // Another size of a batch is no reason to begin anew.
    const again = await run(...slow("stopped.json"), "--batch", "4");
    expect(again.err.match(/^.*w .*$/gm)).toEqual([
      `2 of 4 w are in ${at("stopped.partial.json")}`,
      expect.stringMatching(/^w = 1\.0000: /),
      expect.stringMatching(/^w = 1\.0500: /),
    ]);
    expect(await readFile(at("stopped.json"), "utf8")).toBe(await readFile(at("whole.json"), "utf8"));
    expect(await readdir(folder)).not.toContain("stopped.partial.json");

    await expect(run(...slow("whole.json"))).rejects.toThrow(/whole\.json is there already.*--force/);
    await writeFile(at("stopped.partial.json"), kept);
    await rm(at("stopped.json"));
    await expect(run(...slow("stopped.json"), "--steps", "2")).rejects.toThrow(
      /stopped\.partial\.json has 2 measured w with --steps 100, now it is 2\. .*--force/,
    );
    expect(await readFile(at("stopped.partial.json"), "utf8")).toBe(kept);
    const anew = await run(...slow("stopped.json"), "--steps", "2", "--w", "1", "--force");
    expect(anew.err).toMatch(/^w = 1\.0000: /);
  });

  it("mixes no points of other settings", async () => {
    const settings = { model: "0123", steps: 4, seed: 7, count: 5, device: "cpu", w: [0.9, 1] };
    const points = [{ w: 0.9, count: 5, pieces: 20, sd: 6, oneKingEach: 1, legal: 1 }];
    const path = at("kept.json");
    expect(await readPartial(path, settings)).toEqual([]);
    await writePartial(path, settings, points);
    expect(await readPartial(path, settings)).toEqual(points);
    for (const other of [{ model: "4567" }, { steps: 3 }, { seed: 8 }, { count: 6 }, { device: "cuda" }])
      await expect(readPartial(path, { ...settings, ...other })).rejects.toThrow(/has 1 measured w with .*, now it is/);
    for (const w of [[0.9], [0.9, 1, 1.1]]) expect(await readPartial(path, { ...settings, w })).toEqual(points);
    for (const w of [[0.8, 1], []])
      await expect(readPartial(path, { ...settings, w })).rejects.toThrow(/number 1 being/);
    for (const damaged of [-1, null, "1"]) {
      await writeFile(at("kept.partial.json"), JSON.stringify({ settings, points: [{ ...points[0], w: damaged }] }));
      await expect(readPartial(path, settings)).rejects.toThrow(/was stopped: at points\.0\.w, expected/);
    }
    await writeFile(at("kept.partial.json"), '{"settings": {');
    await expect(readPartial(path, settings)).rejects.toThrow("it is no JSON");
  });

  it("leaves the shipped calibration alone, and does no work for a file that cannot be written", async () => {
    await expect(run("calibrate")).rejects.toThrow(/chess\.calibration\.json is there already/);
    await expect(run("calibrate", "--out", folder)).rejects.toThrow("(EISDIR)");
    await expect(run("calibrate", "--verify", "20", "--steps", "3")).rejects.toThrow("--steps would change nothing");
  });
});
