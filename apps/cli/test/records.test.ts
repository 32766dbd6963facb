/** Records of studies that are not what they should be: one message, and no file anywhere. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { record } from "../../../packages/tables/test/records.ts";
import { diffeo } from "./run.ts";

let house: string;
beforeEach(() => {
  house = mkdtempSync(join(tmpdir(), "diffeo-records-"));
  mkdirSync(join(house, "deep/study/runs"), { recursive: true });
});
afterEach(() => rmSync(house, { recursive: true }));

const files = (): string[] => readdirSync(house, { recursive: true, encoding: "utf8" }).sort();

/** That a report refuses a record in a line, and writes nothing. */
async function refused(group: string, content: unknown, message: RegExp): Promise<void> {
  const study = join(house, "deep/study");
  writeFileSync(
    join(study, "runs/a.json"),
    typeof content === "string" ? content : JSON.stringify(content),
  );
  const before = files();
  const { code, stdout, stderr } = await diffeo(group, "report", study);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(message);
  expect(stderr.trim().split("\n")).toHaveLength(1);
  expect(stderr.length).toBeLessThan(2500);
  expect(files()).toEqual(before);
}

describe("density report", () => {
  const good = record({ loss: "gssm" }, { scoreMatching: -3 });
  it.each([
    [
      "a name that leads elsewhere",
      { ...good, dataset: "../../evil" },
      /is not a record of a run: .*evil/,
    ],
    ["an absolute name", { ...good, dataset: "/tmp/evil" }, /is not a record of a run/],
    ["no name", { ...good, dataset: undefined }, /is not a record of a run/],
    ["a loss that every object has", { ...good, loss: "toString" }, /is not a record of a run/],
    ["no points", { ...good, points: null }, /"points" is not an object: "null"/],
    ["no curve", { ...good, curve: undefined }, /"curve" is missing/],
    ["a list that has every", { ...good, curve: [] }, /"curve" is not an object: "\[\]"/],
    ["a field of no record", { ...good, more: 1 }, /"more" is not a field of a record/],
    [
      "a curve without steps",
      { ...good, curve: { every: 0, loss: [], exact: [] } },
      /is not a record of a run/,
    ],
    [
      "numbers as text",
      { ...good, chosen: { ...good.chosen, step: "1" } },
      /is not a record of a run/,
    ],
    ["nothing", null, /is not a record of a run/],
    ["no JSON", "{", /is not JSON/],
    ["a long text", "x".repeat(1e6), /is not JSON/],
  ])("refuses a record with %s", (_, content, message) => refused("density", content, message));
});

describe("chess report", () => {
  const good = {
    ...{ method: "eulerMaruyama", w: 1, steps: 1000, count: 400, seed: 7, model: "0123456789ab" },
    ...{
      pieces: { mean: 20, sd: 2 },
      oneKingEach: 0.75,
      pawnsInside: 1,
      feasibleMaterial: 0.875,
      legal: 0.5,
    },
    ...{ exits: 0, clamps: 0, device: "cpu" },
  };
  it.each([
    [
      "a method that every object has",
      { ...good, method: "toString" },
      /at method, expected .*, found "toString"/,
    ],
    ["a w that is none", { ...good, w: "../../evil" }, /at w, expected number/],
    ["no pieces", { ...good, pieces: undefined }, /at pieces, expected .* found undefined/],
    [
      "a list of pieces",
      { ...good, pieces: [20, 2] },
      /at pieces, expected Object, found Array\. Move it away/,
    ],
    ["a share above 1", { ...good, legal: 2 }, /at legal, expected <=1, found 2/],
    ["a name without end", { ...good, model: "x".repeat(1e6) }, /at model, expected/],
    ["no object", [good], /is not a valid record of a study of w/],
    ["no JSON", "[", /it is not JSON/],
  ])("refuses a record with %s", (_, content, message) => refused("chess", content, message));

  it("deletes partly written files of an ended process, next to the page and next to the records", async () => {
    const study = join(house, "deep/study");
    writeFileSync(join(study, "runs/eulerMaruyama-1.json"), JSON.stringify(good));
    // No process has this number.
    const left = [join(study, "README.md"), join(study, "runs/a.json")].map(
      (f) => `${f}.99999999-01234567.diffeo.tmp`,
    );
    for (const path of left) {
      writeFileSync(path, "{");
      utimesSync(path, 0, 0);
    }
    expect((await diffeo("chess", "report", study)).code).toBe(0);
    expect(files().filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });
});
