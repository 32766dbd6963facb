/**
 * diffeo chess sample, complete and calibrate as a person uses them, on a network that knows
 * nothing.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { validateFen } from "chess.js";
import { trainGrid } from "diffeo/categorical";
import { loadModel, modelDigest, saveModel } from "diffeo/node";
import { key } from "diffeo/random";
import { parseFen, playouts, UNKNOWN } from "diffeo-chess";
import { writeDataset } from "diffeo-chess/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { saveTinyModel, tinyModel } from "../../../../packages/chess/test/tiny.ts";
import { diffeo } from "../run.ts";

let folder: string;
const at = (name: string): string => join(folder, name);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "diffeo-"));
  await saveTinyModel(at("a.safetensors"));
});
afterAll(() => rm(folder, { recursive: true }));

/** The output of a command; where it fails, an error with its messages. */
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
  it("guides boards to a number of pieces like to any condition", async () => {
    const led = (...words: string[]) => sampled("--steps", "3", "--guide", "Q<1", ...words);
    const { out, err } = await led("--pieces", "24");
    expect(err).toBe("");
    expect(out).toBe((await led("--guide", "pieces=24")).out);
    expect(out).not.toBe((await sampled("--steps", "3")).out);
    const strong = JSON.parse(
      (await led("--pieces", "24", "--guide-strength", "2", "--format", "json")).out,
    );
    expect(strong).toMatchObject({ guide: ["Q<1", "pieces=24"], guideStrength: 2, conditions: [] });
    const placements = (fens: readonly string[]): string[] => fens.map(placementOf);
    const stronger = placements(strong.boards.map(({ fen }: { fen: string }) => fen));
    expect(stronger).not.toEqual(placements(out.trim().split("\n")));
    await expect(sampled("--pieces", "65")).rejects.toThrow("Give an integer from 1 to 64");
  });

  it("takes 50 evaluations of the network, on a grid fitted to the model's measured errors", async () => {
    const report = async (...words: string[]) =>
      JSON.parse((await sampled("--format", "json", ...words)).out);
    const plain = await report();
    expect(plain).toMatchObject({ solver: "dpmSolver2MSde", scoreEvaluations: 50 });
    await writeDataset(at("measured.positions"), playouts(6, key("measured")));
    const measured = [
      "--data",
      at("measured.positions"),
      "--count",
      "5",
      "--out",
      at("measured.safetensors"),
    ];
    const { out } = await run("calibrate", "--model", at("a.safetensors"), ...measured);
    expect(out).toMatch(
      /^5 boards; half of 49 steps lie between t = 0\.\d{3} and 0\.\d{3}: .*measured/m,
    );
    const { errors } = await loadModel(at("measured.safetensors"));
    expect(errors?.times).toHaveLength(64);
    const again = ["calibrate", "--model", at("a.safetensors"), ...measured, "--force", "--json"];
    const found: string[] = [];
    for (const words of [[], ["--count", "6"], ["--seed", "8"]])
      found.push((await run(...again, ...words)).out);
    expect(new Set(found).size).toBe(3);
    expect(JSON.parse(found[0])).toEqual(errors);
    await run(...again);
    const few = ["--model", at("measured.safetensors"), "--steps", "6"];
    const fitted = await report(...few);
    expect(await report(...few, "--grid", "fitted")).toEqual(fitted);
    const other = await report(...few, "--grid", "logSnr");
    expect(other.times).not.toEqual(fitted.times);
    const { model: _, ...unmeasured } = await report("--steps", "6");
    expect(other).toMatchObject(unmeasured);
    expect((await report(...few, "--w", "1.01")).times).toEqual(other.times);
    const even = await report(...few, "--solver", "domainPreserving");
    expect(even.times[1]).toBeCloseTo(1 - 0.999 / 6, 12);
  });

  it("refuses a model that does not support the options, before jobs start", async () => {
    const refused = async (words: readonly string[], ...said: string[]) => {
      const { code, stderr } = await diffeo("chess", ...words);
      expect(code).toBe(2);
      for (const sentence of said) expect(stderr).toContain(sentence);
      expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    };
    const fitted = ["sample", "--model", at("a.safetensors"), "--grid", "fitted"];
    const unmeasured = ["does not contain. Measure them with diffeo chess calibrate"];
    await refused(fitted, ...unmeasured);
    await refused([...fitted, "--trace", at("none.json")], ...unmeasured);
    await expect(run("sample", "--model", "smal")).rejects.toThrow(
      "smal is neither a file nor the name of a shipped model. Check the path, or name one of transformer, small",
    );
    await saveModel(at("noise.safetensors"), tinyModel("noise"));
    await refused(
      ["sample", "--model", at("noise.safetensors"), "--pieces", "9"],
      "predicts no posterior of classes",
    );
    await saveModel(
      at("letters.safetensors"),
      await trainGrid(Uint8Array.of(0, 1, 1, 0), { classes: 2, grid: [2], steps: 1 }),
    );
    const letters = ["--model", at("letters.safetensors")];
    for (const command of ["sample", "figure", "study", "calibrate"])
      await refused(
        [command, ...letters, "--out", at("none")],
        "the model has 2 classes on a grid [2], so it is not a model of chess",
      );
  });

  it("rejects boards that do not meet conditions, and reports how many", async () => {
    const all = (await sampled("--steps", "4", "--count", "20")).out.trim().split("\n");
    const counts = all.map(piecesOf);
    const middle = counts.toSorted((a, b) => a - b)[10];
    const passing = all.filter((_, i) => counts[i] <= middle);
    const { out, err } = await sampled("--steps", "4", "--require", `pieces<=${middle}`);
    expect(out.trim().split("\n")).toEqual(passing.slice(0, 3));
    const drawn = all.indexOf(passing[2]) + 1;
    expect(err).toBe(
      `rejection: 3 of ${drawn} sampled boards met pieces<=${middle}; the share rejected is ${(1 - 3 / drawn).toFixed(3)}\n`,
    );
  });

  it("prints what it found and fails if the limit is reached", async () => {
    const none = sampled("--steps", "4", "--require", "Q=64", "--tries", "7");
    await expect(none).rejects.toThrow(
      /rejected is 1\.000\n.*only 0 of 3 requested boards met Q=64, of 7 sampled/,
    );
  });

  it("writes a trace of the boards it prints", async () => {
    const words = [
      "--steps",
      "4",
      "--trace",
      at("trace.json"),
      "--frames",
      "3",
      "--require",
      "pieces>=0",
    ];
    const { out } = await sampled(...words);
    const trace = JSON.parse(await readFile(at("trace.json"), "utf8"));
    expect(trace.fen).toEqual(out.trim().split("\n").map(placementOf));
    expect(trace.frames).toHaveLength(3);
    // What leads with next to no strength leads nowhere.
    const idle = await sampled(
      ...words,
      "--trace",
      at("idle.json"),
      "--guide",
      "pieces<5",
      "--guide-strength",
      "1e-9",
    );
    expect(idle.out).toBe(out);
  });

  it("writes FENs that other programs read", async () => {
    for (const fen of (await sampled("--steps", "4")).out.trim().split("\n"))
      expect(validateFen(fen).error ?? "").not.toMatch(/field|tokens/);
  });

  it("describes the boards and their settings in JSON", async () => {
    const { out } = await sampled(
      "--steps",
      "4",
      "--require",
      "pieces>=0",
      "--require",
      "Q>=0",
      "--format",
      "json",
    );
    const { boards, ...about } = JSON.parse(out);
    expect(boards).toHaveLength(3);
    expect(about).toMatchObject({
      model: await modelDigest(at("a.safetensors")),
      seed: 7,
      space: "simplex",
      solver: "dpmSolver2MSde",
      w: 1,
      conditions: ["pieces>=0", "Q>=0"],
      drawn: 3,
      shareRejected: 0,
      rejectedSteps: 0,
      scoreEvaluations: 5,
    });
    expect(about).not.toHaveProperty("rejected");
    expect(about).not.toHaveProperty("guide");
  });

  it("accepts options without effect, with a note", async () => {
    const { code, stderr } = await diffeo(
      ...["chess", "sample", "--model", at("a.safetensors"), "--steps", "2", "--count", "1"],
      ...["--tries", "7", "--frames", "7", "--guide-strength", "2"],
    );
    expect(code).toBe(0);
    expect(stderr).toBe(
      "--frames has no effect without --trace\n--tries has no effect without --require\n--guide-strength has no effect without --guide\n",
    );
  });

  it("fails before the work if the result cannot be written", async () => {
    const refusal = (...words: string[]) => expect(sampled("--steps", "1000000", ...words)).rejects;
    await refusal("--out", folder).toThrow(`cannot write ${folder} (EISDIR)`);
    await refusal("--trace", join(at("a.safetensors"), "trace.json")).toThrow("cannot write");
    await refusal("--out", at("t.json"), "--trace", join(folder, ".", "x", "..", "t.json")).toThrow(
      /two results would be written to .*t\.json\. Choose a file for each/,
    );
    const many = Array.from({ length: 21 }, (_, i) => ["--guide", `pieces>=${i}`]);
    await refusal(...many.flat()).toThrow(
      "--guide has 21 conditions, the longest of 10 characters. Give at most 20",
    );
    await refusal(...many.slice(1).flat(), "--pieces", "30").toThrow("--guide has 21 conditions");
    await refusal("--guide", `pieces=${"0".repeat(100)}9`).toThrow(
      "of 108 characters. Give at most 20 conditions of at most 100 characters",
    );
    await refusal("--pieces", "12", "--require", "pieces>20").toThrow(
      "no board has pieces=12 and pieces>20",
    );
    await refusal("--device", "tpu").toThrow("Allowed choices are cpu, webgpu, cuda");
  });

  it("names w if the numbers diverge", async () => {
    const ended = await diffeo(
      "chess",
      "sample",
      "--model",
      at("a.safetensors"),
      "--steps",
      "4",
      "--w",
      "1e30",
    );
    expect(ended).toMatchObject({ code: 3, stdout: "" });
    expect(ended.stderr).toMatch(/drift is scaled by --w 1e\+30: try a number closer to 1/);
  });
});

describe("diffeo chess complete", () => {
  const given = "4k3/pppppppp/????????/????????/8/8/PPPPPPPP/4K2?";
  const complete = (...words: string[]) =>
    run("complete", "--model", at("a.safetensors"), "--steps", "3", ...words);

  it("fills in unknown squares and keeps the others", async () => {
    const known = parseFen(given, { unknown: true });
    for (const method of ["guided", "particles", "resample", "replacement"]) {
      const many = method === "particles" ? ["--particles", "4"] : [];
      const { out } = await complete(
        given,
        "--count",
        "2",
        "--format",
        "json",
        "--method",
        method,
        ...many,
      );
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

  it("fills them in differently for every option of the method", async () => {
    const particles = ["--method", "particles", "--particles", "4"];
    const ways = [
      ...[[], ["--guidance", "9"], ["--w", "1.1"], ["--seed", "1"], ["--steps", "4"]],
      ...[
        ["--method", "resample"],
        ["--method", "resample", "--resample", "2"],
      ],
      ...[particles, [...particles, "--guidance", "9"], [...particles, "--w", "1.3"]],
    ];
    const found: string[] = [];
    for (const words of ways)
      found.push((await complete(given, "--count", "4", "--format", "fen", ...words)).out);
    expect(new Set(found).size).toBe(ways.length);
  });

  it("keeps the fields that follow the placement", async () => {
    const words = ["--count", "2", "--method", "replacement", "--format"];
    const after = (fen: string): string => fen.slice(fen.indexOf(" "));
    const { out } = await complete(`${given} b - - 3 20`, ...words, "fen");
    expect(out.trim().split("\n").map(after)).toEqual([" b - - 3 20", " b - - 3 20"]);
    const { boards } = JSON.parse((await complete(`${given} b `, ...words, "json")).out);
    expect(boards.map(({ fen }: { fen: string }) => after(fen))).toEqual([
      " b - - 0 1",
      " b - - 0 1",
    ]);
  });

  it("guides and rejects like sample", async () => {
    const words = [
      "--pieces",
      "24",
      "--guide-strength",
      "2",
      "--require",
      "P>=8",
      "--format",
      "json",
      "--count",
      "2",
    ];
    const { out, err } = await complete(given, ...words);
    const { boards, ...about } = JSON.parse(out);
    expect(boards.map(({ fen }: { fen: string }) => piecesOf(fen))).toEqual([24, 24]);
    expect(about).toMatchObject({ guide: ["pieces=24"], guideStrength: 2 });
    expect(err).toMatch(
      /^rejection: 2 of \d+ sampled boards met P>=8, pieces=24; the share rejected is 0\.\d{3}\n$/,
    );
    const led = (strength: string) =>
      complete(
        given,
        "--guide",
        "pieces<20",
        "--guide-strength",
        strength,
        "--format",
        "fen",
        "--count",
        "2",
      );
    const free = await complete(given, "--format", "fen", "--count", "2");
    expect((await led("1e-9")).out).toBe(free.out);
    expect((await led("1")).out).not.toBe(free.out);
  });

  it("accepts any number of pieces that the known squares allow", async () => {
    const nearly = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBN?";
    const words = ["--format", "fen", "--count", "1", "--method", "replacement"];
    const { out } = await complete(nearly, "--pieces", "32", ...words);
    expect(piecesOf(out)).toBe(32);
    await expect(complete(nearly, "--pieces", "33")).rejects.toThrow(
      "--pieces 33 is impossible: 31 pieces are known and 1 squares are unknown. Set --pieces to a number from 31 to 32",
    );
  });

  it("refuses options that would have no effect", async () => {
    const refusal = (...words: string[]) => expect(complete(...words)).rejects;
    await refusal(given, "--json", "--hide", "0.3").toThrow(
      "--hide, --json cannot be used with a FEN",
    );
    await refusal(given, "--method", "replacement", "--resample", "2").toThrow(
      "with --method replacement",
    );
    await refusal(given, "--method", "resample", "--guidance", "2").toThrow(
      "with --method resample",
    );
    await refusal("--evaluate", "none.fen", "--format", "json", "--pieces", "9").toThrow(
      "--pieces, --format cannot be used with --evaluate",
    );
  });

  it("names the column of an error in a FEN", async () => {
    await expect(complete("8/8/8/8/8/8/8/???x????")).rejects.toThrow(
      'column 18: "x" is not a piece',
    );
    await expect(complete("8/8/8/8/8/8/8/???")).rejects.toThrow("column 18: rank 1 has 3 squares");
    await expect(complete("8/8/8/8/8/8/8/8")).rejects.toThrow("has no unknown square");
    await expect(complete()).rejects.toThrow(
      "give a FEN with ? squares, or --evaluate FILE".replace("give", "Give"),
    );
  });

  it("is evaluated on real boards, compared with plain replacement", async () => {
    await writeDataset(at("real.positions"), playouts(30, key("real")));
    const words = ["--evaluate", at("real.positions"), "--hide", "0.25", "--count", "5"];
    const json = JSON.parse((await complete(...words, "--json")).out);
    expect(json.real).toMatchObject({ boards: 5, kept: 1, legal: 1, squaresRecovered: 1 });
    expect(json.guided).toMatchObject({ boards: 5, kept: 1 });
    expect(json.replacement).toMatchObject({ boards: 5, kept: 1 });
    const { out } = await complete(...words);
    expect(out).toMatch(/^25 % of squares hidden +real +guided +replacement\n/);
    expect(out).toContain(json.guided.squaresRecovered.toFixed(3));
    expect(out).toMatch(/score evaluations per board +– +4, each with a gradient +4\n/);
    await expect(complete(...words, "--require", "Q")).rejects.toThrow(
      "--require cannot be used with --evaluate",
    );
  });
});

describe("diffeo chess calibrate", () => {
  it("changes nothing in the model but the measured errors, the same for any batch size", async () => {
    await writeDataset(at("six.positions"), playouts(6, key("measured")));
    const words = ["calibrate", "--data", at("six.positions"), "--count", "6", "--json"];
    const one = JSON.parse(
      (await run(...words, "--model", at("a.safetensors"), "--out", at("one.safetensors"))).out,
    );
    const again = [
      "--model",
      at("one.safetensors"),
      "--out",
      at("two.safetensors"),
      "--batch",
      "4",
    ];
    const two = JSON.parse((await run(...words, ...again)).out);
    two.values.forEach((value: number, i: number) => {
      expect(value / one.values[i]).toBeCloseTo(1, 4);
    });
    const [before, after] = [
      await readFile(at("a.safetensors")),
      await readFile(at("two.safetensors")),
    ];
    const sizeOf = (file: Buffer): number => Number(file.readBigUInt64LE(0)) + 8;
    expect(after.subarray(sizeOf(after)).equals(before.subarray(sizeOf(before)))).toBe(true);
    expect(sizeOf(after) % 8).toBe(0);
    const { spec, errors } = await loadModel(at("two.safetensors"));
    expect(spec).toEqual((await loadModel(at("a.safetensors"))).spec);
    expect(errors).toEqual(two);
  });
});
