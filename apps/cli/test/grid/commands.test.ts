/** diffeo grid: from a text of grids to a model, its samples, and completions of what is partly known. */
import { readFileSync, writeFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { testFolder } from "../../../../test/folder.ts";
import { diffeo, diffeoWith, printed } from "../run.ts";

const { at } = testFolder("grid");

/** Latin squares of three letters: there are 12. */
const squares = ["abc", "acb", "bac", "bca", "cab", "cba"].flatMap((first) =>
  [1, 2].map((shift) => {
    const turned = (by: number): string => first.slice(by) + first.slice(0, by);
    return first + turned(shift) + turned((2 * shift) % 3);
  }),
);
const RULES = "rows different; columns different";
const fit = (...more: string[]): string[] => [
  ...["grid", "fit", at("squares.txt"), "--grid", "3,3", "--groups", "rows,columns"],
  ...["--steps", "100", "--batch", "32", "--threads", "1", ...more],
];

beforeAll(async () => {
  writeFileSync(at("squares.txt"), `# all of them\n${squares.join("\n")}\n`);
  await printed(...fit("--out", at("a.model")));
});

describe("diffeo grid", () => {
  it("samples grids that mostly meet the learned rules, with the names of the file", async () => {
    const words = ["grid", "sample", "--model", at("a.model"), "--count", "60", "--check", RULES];
    const { samples, symbols } = JSON.parse(await printed(...words, "--json"));
    expect(symbols).toEqual(["a", "b", "c"]);
    const [{ grids, meeting, distinct }] = samples;
    expect(grids).toHaveLength(60);
    // Of random squares 12 of 19,683 are Latin.
    const latin = grids.filter((grid: string) => squares.includes(grid));
    expect(meeting).toBe(latin.length);
    expect(meeting).toBeGreaterThan(30);
    expect(distinct).toBe(new Set(latin).size);
    const lines = await printed(...words);
    expect(lines.trim().split("\n")).toEqual(grids);
  });

  it("completes grids, keeps known sites, and shows several solutions if they exist", async () => {
    // The first has two solutions, the second one.
    writeFileSync(at("puzzles.txt"), "abc......\nab.b.....\n");
    const words = ["--known", at("puzzles.txt"), "--draws", "40", "--check", RULES, "--json"];
    const { samples } = JSON.parse(
      await printed("grid", "sample", "--model", at("a.model"), ...words),
    );
    const solutions = (known: string): number =>
      squares.filter((grid) => [...known].every((k, i) => k === "." || k === grid[i])).length;
    for (const { known, grids, distinct } of samples) {
      for (const grid of grids)
        expect([...known].every((k: string, i: number) => k === "." || k === grid[i])).toBe(true);
      expect(distinct).toBe(solutions(known));
    }
    expect(samples.map(({ known }: { known: string }) => solutions(known))).toEqual([2, 1]);
  });

  it("continues an interrupted run to the same model", async () => {
    const run = [...fit("--out", at("b.model"), "--run", at("run"))];
    const stop = new AbortController();
    const stopped = await diffeoWith(
      { signal: stop.signal, onStderr: () => undefined },
      ...run,
      "--minutes",
      "0.0001",
    );
    expect(stopped.code).toBe(0);
    await printed(...run, "--force");
    expect(readFileSync(at("b.model")).equals(readFileSync(at("a.model")))).toBe(true);
  });

  it.each([
    ["a short line", "abc\n", "line 1: 3 sites, but a grid [3, 3] has 9"],
    ["a site that is not known", "abcbca.ab\nabcbcacab\n", 'has unknown sites (".")'],
    ["no grids", "# none\n", "contains no grid"],
  ])("refuses %s", async (_, text, message) => {
    writeFileSync(at("odd.txt"), text);
    const words = ["grid", "fit", at("odd.txt"), "--grid", "3,3", "--out", at("odd.model")];
    const { code, stderr } = await diffeo(...words);
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
  });

  it("refuses an unknown class and unknown groups", async () => {
    writeFileSync(at("other.txt"), "abcd.....\n");
    const other = ["grid", "sample", "--model", at("a.model"), "--known", at("other.txt")];
    expect((await diffeo(...other)).stderr).toContain('line 1: unknown class "d". Use a, b, c');
    const boxes = fit("--out", at("c.model")).map((word) =>
      word === "rows,columns" ? "rows,diagonals" : word,
    );
    expect((await diffeo(...boxes)).stderr).toContain("--groups diagonals");
  });
});
