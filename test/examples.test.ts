/**
 * Runs the programs of `examples/` with the packages as they are published, and checks their
 * output.
 */
import { spawnSync } from "node:child_process";
import { cpSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { plainScripts } from "./scripts.ts";

const examples = new URL("../examples/", import.meta.url);
const files = readdirSync(examples);
const names = files.filter((file) => file.endsWith(".ts"));
const programs = plainScripts(
  Object.fromEntries(names.map((name) => [name, new URL(name, examples)])),
);
for (const name of files.filter((file) => file.endsWith(".onnx")))
  cpSync(new URL(name, examples), new URL(name, programs[names[0]]));

const inOrder = (...words: readonly RegExp[]): RegExp =>
  new RegExp(words.map(({ source }) => source).join("[\\s\\S]*"));

/**
 * The output of each program, and its arguments: fewer steps and draws where these suffice for a
 * result that chance would not give.
 */
const says: Readonly<
  Record<string, { readonly output: RegExp; readonly words?: readonly string[] }>
> = {
  // By chance one in 780 is balanced.
  "brackets.ts": { output: /balanced: (1[2-9]|[2-6]\d) of 60/, words: ["160", "60"] },
  "derivatives.ts": { output: /score at \(1, 2\): -1, -2\nΔp: -2, 0/ },
  // Three of the 159 patterns are grids of one colour.
  "grids.ts": { output: /striped: (5[4-9]|6\d) of 64, in ([2-6]\d) patterns/ },
  // By chance one in 7 million is valid.
  "latin-squares.ts": {
    output: /valid: ([89]|[1-6]\d) of 60, ([2-9]|\d\d) of them not among the data/,
    words: ["300", "60"],
  },
  // Silt is .239 given the sieve; guidance alone finds about .36.
  "observation.ts": {
    output: /sieve, particles +sand 0\.(29|3[01])\d ± 0\.0[23]\d, silt 0\.2[1-6]/,
    words: ["300"],
  },
  "own-map.ts": { output: /cube: all properties hold/ },
  // 10 draws per chain after 10 of warm-up are few, but enough to find the right region.
  "posteriors.ts": {
    output: inOrder(
      /rho +0\.[89]\d/,
      /P\[1,1\] +0\.(8[7-9]|9\d)/,
      /P\[2,2\] +0\.9\d/,
      /mu\[1\] +-(0\.9|1\.[01])\d/,
      /mu\[2\] +2\.[01]\d/,
      /sigma +0\.4\d/,
      /rate\[1\] +0\.(4[5-9]|5[0-2])/,
      /rate\[2\] +0\.04\d/,
      /rate\[3\] +0\.(6[6-9]|7[0-7])/,
      /rate\[4\] +0\.03[3-8]/,
      /start\[1\] +1[5-8]\./,
      /start\[2\] +(4\.[5-9]|5\.[0-3])/,
      /sigma +0\.(0[7-9]|10)\d/,
    ),
    words: ["10"],
  },
  "slices.ts": { output: /waves on a bowl +0\.8[01]\d +0\.(49|50)\d/, words: ["300"] },
  "torch-score.ts": {
    output:
      /pytorch 2[\s\S]*t: "t", float32 \[\w+\], one time per row[\s\S]*to the data: 0\.00\d+, before the diffusion ran 0\.[\s\S]*simplex: 0\n/,
  },
  // By chance one in 15 million is valid.
  "sudoku.ts": {
    output: /valid: ([6-9]\d|1\d\d) of 200[\s\S]*2 different ones; there are 2 solutions/,
    words: ["100"],
  },
  // Some of the 2,000 points leave the triangle if steps are taken in y.
  "simplex.ts": {
    output: /domain-preserving +100 +0 [\s\S]*on the triangle +250 +[1-9]/,
    words: ["2000"],
  },
};

describe("every example runs", () => {
  for (const name of names)
    it(name, () => {
      const { output, words = [] } = says[name];
      const { stdout, stderr, status } = spawnSync(
        process.execPath,
        [fileURLToPath(programs[name]), ...words],
        {
          encoding: "utf8",
        },
      );
      expect(stderr).toBe("");
      expect(stdout).toMatch(output);
      expect(status).toBe(0);
    });
});
