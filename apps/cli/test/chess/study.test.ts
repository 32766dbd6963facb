/** The study of w: what its records hold, how it continues, and what its page and figure say. */
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadModel } from "diffeo/node";
import { key } from "diffeo/random";
import {
  boardAt,
  EMPTY,
  fallsOf,
  isLegal,
  openScaleTasks,
  STUDY_SOLVERS,
  type StudyRecord,
  sampleBoards,
  scaleRecord,
  studyFigure,
  studyPage,
} from "diffeo-chess";
import { COLOURS } from "diffeo-picture/chart";
import { hasFont } from "diffeo-picture/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { saveTinyModel } from "../../../../packages/chess/test/tiny.ts";
import { diffeo as command, diffeoWith } from "../run.ts";

let folder: string;
const at = (path: string): string => join(folder, path);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "diffeo-"));
  await saveTinyModel(at("model.safetensors"));
});
afterAll(() => rm(folder, { recursive: true }));

const record = (
  method: StudyRecord["method"],
  w: number,
  mean: number,
  legal = 0.5,
): StudyRecord => ({
  method,
  w,
  steps: method === "domainPreserving" ? 250 : 1000,
  count: 400,
  seed: 7,
  model: "0123456789ab",
  pieces: { mean, sd: 2 },
  oneKingEach: 0.75,
  pawnsInside: 1,
  feasibleMaterial: 0.875,
  legal,
  exits: method === "domainPreserving" ? 0 : 100_000,
  clamps: 0,
  device: "cpu",
});
const settings = {
  count: 400,
  seed: 7,
  model: "0123456789ab",
  steps: { domainPreserving: 250, eulerMaruyama: 1000 },
};

describe("a run", () => {
  it("records statistics of the boards", async () => {
    const model = await loadModel(at("model.safetensors"));
    for (const method of STUDY_SOLVERS) {
      const task = { method, w: 0.97, steps: 12, count: 6, seed: 3, model: "x" };
      const boards = await sampleBoards(model, {
        ...{ count: 6, steps: 12, solver: method, driftScale: 0.97 },
        key: key(3),
      });
      const { positions, exits, clamps } = boards;
      const found = scaleRecord(task, boards, "cpu");
      const each = Array.from({ length: 6 }, (_, i) => boardAt(positions, i));
      const pieces = each.map((board) => board.filter((k) => k !== EMPTY).length);
      const mean = pieces.reduce((a, b) => a + b) / 6;
      expect(found.pieces.mean).toBeCloseTo(mean, 12);
      expect(found.pieces.sd).toBeCloseTo(
        Math.sqrt(pieces.reduce((s, n) => s + (n - mean) ** 2, 0) / 6),
        12,
      );
      expect(found.legal).toBe(each.filter(isLegal).length / 6);
      expect(found).toMatchObject({ ...task, exits, clamps, device: "cpu" });
      if (method === "domainPreserving") expect([exits, clamps]).toEqual([0, 0]);
      else expect(Math.min(exits, clamps)).toBeGreaterThan(0);
    }
  });
});

describe("a study", () => {
  it("lists every task without a record once", () => {
    const open = openScaleTasks([record("eulerMaruyama", 1, 4)], [0.9, 1, 0.9], settings);
    expect(open.map(({ method, w, steps }) => `${method} ${w} ${steps}`)).toEqual([
      "domainPreserving 0.9 250",
      "domainPreserving 1 250",
      "eulerMaruyama 0.9 1000",
    ]);
  });

  it.each([
    ["count", { ...settings, count: 500 }, /count 400, but now it is 500/],
    [
      "steps",
      { ...settings, steps: { ...settings.steps, domainPreserving: 9 } },
      /steps 250, but now it is 9/,
    ],
    ["model", { ...settings, model: "other" }, /model 0123456789ab, but now it is other/],
    ["seed", { ...settings, seed: 8 }, /seed 7, but now it is 8/],
  ])("does not mix records of another %s", (_, other, message) => {
    expect(() => openScaleTasks([record("domainPreserving", 1, 20)], [1], other)).toThrow(message);
    expect(() => openScaleTasks([record("domainPreserving", 1, 20)], [0.9], other)).toThrow(
      message,
    );
  });

  async function diffeo(...words: string[]): Promise<{ out: string; err: string }> {
    const { stdout: out, stderr: err, code } = await command("chess", ...words);
    if (code !== 0) throw new Error(err);
    return { out, err };
  }
  const quick = (): string[] => {
    const words = [
      "study",
      "--model",
      at("model.safetensors"),
      "--out",
      at("study"),
      "--w",
      "0.95,1",
    ];
    return [...words, "--count", "4", "--batch", "2", "--steps", "3,5", "--seed", "2"];
  };
  const runs = async (): Promise<Record<string, string>> => {
    const names = (await readdir(at("study/runs"))).sort();
    return Object.fromEntries(
      await Promise.all(
        names.map(async (name) => [name, await readFile(at(`study/runs/${name}`), "utf8")]),
      ),
    );
  };

  it("runs, continues with the missing tasks, and reports from its records", async () => {
    const { out, err } = await diffeo(...quick());
    expect(err.match(/^\d of 4: /gm)).toHaveLength(4);
    expect(out).toMatch(
      /## domain-preserving, 3 steps[\s\S]*## Euler–Maruyama on the simplex, clamped, 5 steps/,
    );
    const before = await runs();
    expect(Object.keys(before)).toEqual([
      "domainPreserving-0.95.json",
      "domainPreserving-1.json",
      "eulerMaruyama-0.95.json",
      "eulerMaruyama-1.json",
    ]);

    await rm(at("study/runs/eulerMaruyama-1.json"));
    const again = await diffeo(...quick(), "--json");
    expect(again.err.match(/^\d of \d: .*/gm)).toEqual([
      expect.stringMatching(/^1 of 1: eulerMaruyama-1: /),
    ]);
    const after = await runs();
    expect(after).toEqual(before);
    expect(JSON.parse(again.out)).toEqual(Object.values(after).map((text) => JSON.parse(text)));

    const page = await readFile(at("study/README.md"), "utf8");
    expect(page).toBe(out);
    await rm(at("study/drift-scale.svg"));
    const report = await diffeo("report", at("study"));
    expect(report.out).toBe(page);
    expect(report.err).toMatch(
      hasFont() ? /^$/ : /drift-scale\.png has no captions because this machine has no font/,
    );
    expect((await readdir(at("study"))).sort()).toEqual([
      "README.md",
      "drift-scale.png",
      "drift-scale.svg",
      "runs",
    ]);
    expect((await readFile(at("study/drift-scale.png"))).subarray(1, 4).toString()).toBe("PNG");

    await expect(diffeo(...quick(), "--count", "5")).rejects.toThrow(
      /count 4, but now it is 5.*another folder/,
    );
    await writeFile(at("study/runs/eulerMaruyama-1.json"), '{"method":"eulerMaruyama","w":1}');
    await expect(diffeo("report", at("study"))).rejects.toThrow(
      /eulerMaruyama-1.json is not a valid record/,
    );
  });

  it("names unusable options", async () => {
    await expect(diffeo("report", at("nowhere"))).rejects.toThrow(
      /holds no records.*chess study first/,
    );
    await expect(diffeo("study", "--model", at("none"), "--out", at("x"))).rejects.toThrow(
      /none is neither a file nor the name of a shipped model/,
    );
    await expect(diffeo("study", "--steps", "250")).rejects.toThrow(/two numbers/);
    await expect(diffeo("study", "--w", "0.9,-1")).rejects.toThrow(/positive number/);
  });

  it("keeps its records if it is interrupted", async () => {
    const words = ["chess", ...quick(), "--out", at("stopped"), "--steps", "2,100000"];
    const controller = new AbortController();
    let said = "";
    const onStderr = (text: string): void => {
      said += text;
      if (/^2 of 4: /m.test(said)) controller.abort();
    };
    const { code } = await diffeoWith({ signal: controller.signal, onStderr }, ...words);
    expect(code).toBe(130);
    expect(said).toMatch(/2 runs are not done\. Repeat the command to resume/);
    expect(await readdir(at("stopped/runs"))).toHaveLength(2);
    expect(await readdir(at("stopped"))).toEqual(["runs"]);
  });
});

describe("its report", () => {
  const rising = [0.9, 1, 1.1].map((w, i) => record("domainPreserving", w, 8 + 8 * i, 0.2 * i));
  const bent = [3, 2, 4].map((mean, i) => record("eulerMaruyama", [0.9, 1, 1.1][i], mean));

  it("reports where pieces do not rise with w, for any order of records", () => {
    expect(fallsOf(rising.toReversed())).toEqual([]);
    expect(fallsOf(bent.toReversed())).toEqual([[0.9, 1]]);
    const page = studyPage([...rising, ...bent], "figure.png");
    expect(page).toContain("Mean pieces rise with w throughout.");
    expect(page).toContain("Mean pieces do not rise from w = 0.9 to 1.");
    expect(page).toContain("| 1.1 | 24.0 (2.0) | 0.750 | 0.875 | 0.400 | 0.000 |");
    expect(page).toContain("| 1 | 2.0 (2.0) | 0.750 | 0.875 | 0.500 | 0.250 |");
    expect(page).toContain("standard error of a share is at most 0.025");
  });

  it("draws every record at the right place on both axes", async () => {
    const svg = await studyFigure([...rising, ...bent]);
    const [pieces, legal] = svg.split(/font-weight="bold">(?=Pieces|Strictly)/).slice(1);
    /** Marks of the panel by their titles: discs have a centre, diamonds are moved to it. */
    const marks = (panel: string) =>
      [...panel.matchAll(/<(?:circle|path)([^>]*)><title>w = ([\d.]+): ([\d.]+)</g)].map(
        ([, place, w, value]) => {
          const [x, y] = [
            /(?:cx="|translate\()([\d.]+)/,
            /(?:cy="|translate\([\d.]+,)([\d.]+)/,
          ].map((pattern) => Number(pattern.exec(place)?.[1]));
          return { x, y, w: Number(w), value: Number(value) };
        },
      );
    /** Where a tick's label stands. */
    const tick = (panel: string, axis: "x" | "y", label: string): number[] => {
      const [, labels] = panel.split(`aria-label="${axis}-axis tick label"`);
      const found = new RegExp(`translate\\(([\\d.]+),([\\d.]+)\\)"[^>]*>${label}<`).exec(labels);
      return [Number(found?.[1]), Number(found?.[2])];
    };
    for (const panel of [pieces, legal]) {
      expect(marks(panel)).toHaveLength(6);
      for (const { x, w } of marks(panel))
        expect(x).toBeCloseTo(tick(panel, "x", w.toFixed(2))[0], 6);
    }
    for (const { y, value } of marks(pieces).slice(0, 3))
      expect(y).toBeCloseTo(tick(pieces, "y", `${value}`)[1], 6);
    for (const { y, value } of marks(legal).slice(0, 3))
      expect(y).toBeCloseTo(tick(legal, "y", value.toFixed(1))[1], 6);
    for (const colour of [COLOURS.blue, COLOURS.vermilion]) expect(pieces).toContain(colour);
    expect(svg).toMatch(
      /domain-preserving, 250 steps.*Euler–Maruyama on the simplex, clamped, 1000 steps/s,
    );
  });
});
