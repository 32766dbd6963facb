/** Columns and labels whose names have control characters in them, from the file to a picture. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { run } from "diffeo-cli";
import { beforeAll, describe, expect, it } from "vitest";
import { testFolder } from "../../../../test/folder.ts";
import { diffeo, printed } from "../run.ts";

const { at } = testFolder("names");

/** What steers a terminal, tab and line feed apart. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const steering = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]/;

/** A command whose output is a terminal's; bytes are the command's own. */
async function onTerminal(...words: readonly string[]): Promise<{ out: string; err: string }> {
  let [out, err] = ["", ""];
  await run(words, {
    stdout: { isTTY: true, write: (text) => (out += typeof text === "string" ? text : "") },
    stderr: { isTTY: true, write: (text) => (err += typeof text === "string" ? text : "") },
    stdin: process.stdin,
    signal: new AbortController().signal,
  });
  return { out, err };
}

describe("a table with control characters in the names of columns and labels", () => {
  const [number, label] = ["deep\u0001\u001b[2Jth", "ki\u0085nd"];
  const rows = Array.from(
    { length: 60 },
    (_, i) => `${(i * 7) % 11},${i % 3 ? "a\u001b]0;x\u0007" : "b<&"}`,
  );
  beforeAll(async () => {
    writeFileSync(at("t.csv"), `${number},${label}\n${rows.join("\n")}\n`);
    const fitting = ["--steps", "1", "--threads", "1", "--no-evaluate", "--no-given"];
    const fit = await diffeo("table", "fit", at("t.csv"), "--out", at("t.model"), ...fitting);
    expect(fit).toMatchObject({ code: 0 });
    expect(fit.stderr).not.toMatch(steering);
  });

  it("has well-formed pictures, as SVG and as PNG", async () => {
    const picture = ["table", "picture", "--model", at("t.model"), "--data", at("t.csv")];
    for (const name of ["t.svg", "t.png"])
      expect(await diffeo(...picture, "--no-ranks", "--out", at(name))).toMatchObject({ code: 0 });
    const svg = readFileSync(at("t.svg"), "utf8");
    expect(svg).toContain("deep␁␛[2Jth");
    expect(svg).toContain("b&lt;&amp;");
    const parse = "import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])";
    execFileSync("python3", ["-c", parse, at("t.svg")]);
    expect(readFileSync(at("t.png")).subarray(1, 4).toString()).toBe("PNG");
  });

  it("does not control a terminal, and is unchanged in a file", async () => {
    const sample = ["table", "sample", "--model", at("t.model"), "--count", "5"];
    const shown = await onTerminal(...sample);
    expect(shown.out).toContain("deep␁␛[2Jth");
    expect(shown.out + shown.err).not.toMatch(steering);
    const given = await onTerminal(...sample, "--given", `\u001b[31m${number}=x`);
    expect(given.err).toContain("␛[31m");
    expect(given.err).not.toMatch(steering);
    expect((await diffeo(...sample)).stdout).toContain("deep\u0001\u001b[2Jth");
  });
});

it("a column with = in its name can be given next to the column that its name begins with", async () => {
  const rows = Array.from(
    { length: 40 },
    (_, i) => `${i % 7},${i * i * 0.1},${i % 2 ? "p" : "q=2"}`,
  );
  writeFileSync(at("e.csv"), `a,a=b,a=b=c\n${rows.join("\n")}\n`);
  const fitting = ["--steps", "1", "--threads", "1", "--no-evaluate"];
  await printed("table", "fit", at("e.csv"), "--out", at("e.model"), ...fitting);
  const sample = ["table", "sample", "--model", at("e.model"), "--count", "2", "--threads", "1"];
  const given = async (...words: readonly string[]): Promise<readonly string[]> =>
    (await printed(...sample, ...words.flatMap((word) => ["--given", word])))
      .split("\n")[1]
      .split(",");
  expect(await given("a=3", "a=b=0.5", "a=b=c=q=2")).toEqual(["3", "0.5", "q=2"]);
  expect((await given("a=b=1.5"))[1]).toBe("1.5");
});

it("texts that a spreadsheet would run get an apostrophe on request, numbers do not", async () => {
  const rows = Array.from(
    { length: 40 },
    (_, i) => `${i % 7 ? -i : 3},${i % 2 ? "=1+1" : "@x"},-x${i}`,
  );
  writeFileSync(at("g.csv"), `+n,kind,note\n${rows.join("\n")}\n`);
  const fitting = ["--steps", "1", "--threads", "1", "--no-evaluate"];
  await printed(
    "table",
    "fit",
    at("g.csv"),
    "--out",
    at("g.model"),
    ...fitting,
    "--column",
    "note=drop",
  );
  const model = ["--model", at("g.model"), "--threads", "1", "--evaluations", "2"];
  const completed = ["table", "complete", at("g.csv"), ...model];
  const plain = await printed(...completed);
  const guarded = await printed(...completed, "--guard-formulas");
  expect(plain.split("\n").slice(0, 3)).toEqual([
    "draw,+n,kind,note",
    "1,3,@x,-x0",
    "1,-1,=1+1,-x1",
  ]);
  expect(guarded.split("\n").slice(0, 3)).toEqual([
    "draw,'+n,kind,note",
    "1,3,'@x,'-x0",
    "1,-1,'=1+1,'-x1",
  ]);
  const sampled = await printed("table", "sample", ...model, "--count", "20", "--guard-formulas");
  for (const line of sampled.trimEnd().split("\n").slice(1))
    expect(line).toMatch(/^-?[\d.e+-]+,'(=1\+1|@x)$/);
});
