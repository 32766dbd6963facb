/** The programs of `examples/` run, and say what they should. */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const folder = fileURLToPath(new URL("../examples", import.meta.url));
const says: Readonly<Record<string, RegExp>> = {
  "brackets.ts": /balanced: 1[4-9]\d of 200/,
  "derivatives.ts": /score at \(1, 2\): -1, -2\nΔp: -2, 0/,
  "grids.ts": /striped: (5[4-9]|6\d) of 64/,
  "latin-squares.ts": /valid: 1[4-9]\d of 200, [3-6]\d of them not among the data/,
  "own-map.ts": /cube: all laws hold/,
  "slices.ts": /waves on a bowl +0\.8[01]\d +0\.(49|50)\d/,
  "torch-score.ts":
    /pytorch 2[\s\S]*t: "t", float32 \[\w+\], one time a row[\s\S]*to the data: 0\.00\d+, before the diffusion ran 0\.[\s\S]*simplex: 0\n/,
  "simplex.ts": /domain-preserving +100 +0 /,
};

describe("every example runs", () => {
  for (const name of readdirSync(folder).filter((file) => file.endsWith(".ts")))
    it(name, () => {
      const { stdout, stderr, status } = spawnSync(
        process.execPath,
        ["--conditions=diffeo-source", "--import", "tsx", `${folder}/${name}`],
        {
          encoding: "utf8",
        },
      );
      expect(stderr).toBe("");
      expect(stdout).toMatch(says[name]);
      expect(status).toBe(0);
    });
});
