/** Determinism: the same bytes whatever the locale, the time zone, threads, processes, shards, stack and release of Node. */

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { at, folder, note } from "./attack.ts";

const bin = fileURLToPath(new URL("../../apps/cli/bin/diffeo.js", import.meta.url));
const onnx = fileURLToPath(new URL("../../examples/torch-score.onnx", import.meta.url));

/** A digest of a file, or of all files of a folder that hold results. */
function digest(path: string): string {
  const all = createHash("sha256");
  const add = (name: string): void => {
    if (statSync(name).isDirectory())
      for (const own of readdirSync(name).sort()) add(join(name, own));
    else if (!/config\.json|chains\.json|\.svg$/.test(name))
      all.update(name.split("/").at(-1) ?? "").update(readFileSync(name));
  };
  add(path);
  return all.digest("hex").slice(0, 12);
}

interface Setting {
  readonly env?: Readonly<Record<string, string>>;
  readonly more?: readonly string[];
  readonly node?: string;
  readonly flags?: readonly string[];
}

const settings: Readonly<Record<string, Setting>> = {
  again: {},
  Turkish: { env: { LANG: "tr_TR.UTF-8", LC_ALL: "tr_TR.UTF-8", LANGUAGE: "tr" } },
  German: { env: { LANG: "de_DE.UTF-8", LC_ALL: "de_DE.UTF-8" } },
  "no locale": { env: { LANG: "", LC_ALL: "C" } },
  Kathmandu: { env: { TZ: "Asia/Kathmandu" } },
  Apia: { env: { TZ: "Pacific/Apia" } },
  UTC: { env: { TZ: "UTC" } },
  "no home": { env: { HOME: "/nonexistent", XDG_CACHE_HOME: "/nonexistent" } },
  "two threads": { more: ["--threads", "2"] },
  "small heap": { flags: ["--max-old-space-size=200"] },
};

export async function determinism(): Promise<void> {
  const rows = Array.from(
    { length: 60 },
    (_, i) =>
      `${["ı", "i", "I", "ß", "é"][i % 5]},${(i * 37) % 101},2024-0${1 + (i % 9)}-1${i % 9},${i % 7}.5`,
  );
  writeFileSync(at("words.csv"), `k,n,d,x\n${rows.join("\n")}\n`);
  writeFileSync(at("y.json"), '{"y": [1, 2, 0.5]}');
  writeFileSync(
    at("y.mjs"),
    `import { normal } from "diffeo/distribution";\nimport { model } from "diffeo/mcmc";
export default model(({ parameter, observe }) => { const x = parameter("x", normal(0, 1)); observe("y", normal(x, 1)); });`,
  );
  const commands: Readonly<Record<string, readonly string[]>> = {
    fit: ["table", "fit", "words.csv", "--out", "OUT", "--steps", "10", "--no-evaluate"],
    sample: ["table", "sample", "--model", "w.model", "--count", "300", "--out", "OUT"],
    complete: [
      "table",
      "complete",
      "words.csv",
      "--model",
      "w.model",
      "--draws",
      "2",
      "--out",
      "OUT",
    ],
    infer: [
      "infer",
      "y.mjs",
      "--data",
      "y.json",
      "--out",
      "OUT",
      "--draws",
      "200",
      "--warmup",
      "200",
      "--no-pictures",
    ],
    onnx: [
      "sample",
      "--score",
      onnx,
      "--predicts",
      "noise",
      "--count",
      "50",
      "--steps",
      "10",
      "--out",
      "OUT",
    ],
    boards: [
      "chess",
      "sample",
      "--model",
      "small",
      "--count",
      "1",
      "--steps",
      "6",
      "--format",
      "fen",
      "--out",
      "OUT",
    ],
  };
  const node22 = process.env.NODE22;
  const all: Record<string, Setting> = {
    ...settings,
    ...(node22 && existsSync(node22) && { "Node 22": { node: node22 } }),
  };
  const run = (
    words: readonly string[],
    { env, more = [], node = process.execPath, flags = [] }: Setting,
  ): string => {
    const out = at("OUT");
    rmSync(out, { recursive: true, force: true });
    const { status, stderr } = spawnSync(node, [...flags, bin, ...words, ...more], {
      cwd: folder,
      env: { ...process.env, ...env },
      encoding: "utf8",
    });
    return status === 0
      ? digest(out)
      : `exit code ${status}: ${stderr.trim().split("\n").at(-1)?.slice(0, 150)}`;
  };
  for (const [name, words] of Object.entries(commands)) {
    const base = run(words, {});
    if (name === "fit") spawnSync("cp", [at("OUT"), at("w.model")]);
    const shardable = ["sample", "infer"].includes(name)
      ? { "two processes": { more: ["--workers", "2"] } }
      : {};
    for (const [how, setting] of Object.entries({ ...all, ...shardable })) {
      const found = run(words, setting);
      if (process.env.VERBOSE) console.log(`    ${name}, ${how}: ${found}`);
      note(
        "determinism",
        `${name}, ${how}`,
        found === base ? undefined : `wrong: ${found} for ${base}`,
        false,
      );
    }
  }
}
