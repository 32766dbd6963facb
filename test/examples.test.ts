/** The programs of `examples/` run against the packages as they are published, and say what they should. */
import { spawnSync } from "node:child_process";
import { cpSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { plainScripts } from "./scripts.ts";

const examples = new URL("../examples/", import.meta.url);
const files = readdirSync(examples);
const names = files.filter((file) => file.endsWith(".ts"));
const programs = plainScripts(Object.fromEntries(names.map((name) => [name, new URL(name, examples)])));
for (const name of files.filter((file) => file.endsWith(".onnx")))
  cpSync(new URL(name, examples), new URL(name, programs[names[0]]));

/** What a program says, and what it is told: steps, where a fifth or a third of them already learns what chance never finds. */
const says: Readonly<Record<string, { readonly output: RegExp; readonly words?: readonly string[] }>> = {
  // By chance one in 780 is balanced.
  "brackets.ts": { output: /balanced: ([4-9]\d|1\d\d) of 200/, words: ["200"] },
  "derivatives.ts": { output: /score at \(1, 2\): -1, -2\nΔp: -2, 0/ },
  "grids.ts": { output: /striped: (5[4-9]|6\d) of 64/ },
  // By chance one in 7 million is valid.
  "latin-squares.ts": {
    output: /valid: (2[5-9]|[3-9]\d|1\d\d) of 200, ([5-9]|\d\d) of them not among the data/,
    words: ["300"],
  },
  "own-map.ts": { output: /cube: all laws hold/ },
  // 30 draws after 30 of warm-up are few; they are in the right place all the same.
  "posteriors.ts": {
    output: /rho +0\.[89]\d[\s\S]*mu\[1\] +-(0\.9|1\.[01])\d[\s\S]*mu\[2\] +2\.[01]\d[\s\S]*rate\[1\] +0\.4\d/,
    words: ["30"],
  },
  "slices.ts": { output: /waves on a bowl +0\.8[01]\d +0\.(49|50)\d/ },
  "torch-score.ts": {
    output:
      /pytorch 2[\s\S]*t: "t", float32 \[\w+\], one time a row[\s\S]*to the data: 0\.00\d+, before the diffusion ran 0\.[\s\S]*simplex: 0\n/,
  },
  "simplex.ts": { output: /domain-preserving +100 +0 / },
};

describe("every example runs", () => {
  for (const name of names)
    it(name, () => {
      const { output, words = [] } = says[name];
      const { stdout, stderr, status } = spawnSync(process.execPath, [fileURLToPath(programs[name]), ...words], {
        encoding: "utf8",
      });
      expect(stderr).toBe("");
      expect(stdout).toMatch(output);
      expect(status).toBe(0);
    });
});
