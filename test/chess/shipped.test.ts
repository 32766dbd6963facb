/** The model that comes with the package, as a stranger first meets it. */
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { calibrationPath, readCalibration } from "../../src/chess/calibration-file.ts";
import { loadModel } from "../../src/chess/model-file.ts";
import { shippedModel } from "../../src/chess/shipped.ts";
import { diffeo } from "../cli/run.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "diffeo-shipped-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("the shipped model", () => {
  it("is small, and a denoiser of chess positions", async () => {
    expect(statSync(shippedModel).size).toBeLessThanOrEqual(20 * 2 ** 20);
    const { encoding, spec } = await loadModel(shippedModel);
    expect([encoding.grid, encoding.classes, spec.parameterisation]).toEqual([[8, 8], 13, "posterior"]);
  });

  it("has a calibration of its own, by its digest", async () => {
    const { points } = await readCalibration(calibrationPath(shippedModel), shippedModel);
    expect(points.length).toBeGreaterThan(2);
  });

  it("draws the figure without being named", () => {
    const out = join(folder, "figure");
    const words = ["chess", "figure", "--w", "0.95,1.05", "--boards", "1", "--steps", "3", "--out", out];
    const { code, stdout } = diffeo(...words, "--threads", "1");
    expect(code).toBe(0);
    expect(stdout).toContain(`Written to ${out}.svg and ${out}.png`);
    const svg = readFileSync(`${out}.svg`, "utf8");
    for (const text of ["w = 0.95", "w = 1.05"]) expect(svg).toContain(text);
    expect(readFileSync(`${out}.png`).subarray(1, 4).toString()).toBe("PNG");
  });
});
