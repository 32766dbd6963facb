/**
 * A trained network as an ONNX file, checked by ONNX and run by ONNX Runtime past all of diffeo.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  denoiserMean,
  denoiserScore,
  type ModelSpec,
  modelOf,
  type Parameterisation,
} from "diffeo/categorical";
import { compile } from "diffeo/engine";
import { asConstants, networkOf, parameterCount } from "diffeo/model";
import { loadModel, saveModel } from "diffeo/node";
import { key, normal, uniform } from "diffeo/random";
import { chessSpec, exportOnnx, playouts } from "diffeo-chess";
import * as ort from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { tinyModel } from "../../../../packages/chess/test/tiny.ts";
import { complaintsOfOnnx } from "../../../../packages/diffeo/test/graph/onnx-checker.ts";
import { faults, readOnnx } from "../../../../packages/diffeo/test/graph/onnx-reader.ts";
import { testFolder } from "../../../../test/folder.ts";
import { printed } from "../run.ts";

const BATCH = 3;
const { folder } = testFolder("export");

/** A network with weights drawn so that none is zero, as a file. */
async function networkFile(parameterisation: Parameterisation): Promise<string> {
  const outputs = parameterisation === "posterior" ? 13 : 12;
  const spec: ModelSpec = {
    network: {
      kind: "unet",
      channels: 12,
      width: 8,
      multipliers: [1, 2],
      blocks: 1,
      groups: 4,
      attention: [1],
      position: [8, 8],
      outputs,
    },
    parameterisation,
    encoding: chessSpec(playouts(50, key("export"))),
  };
  const size = parameterCount(networkOf(spec.network).shapes());
  const weights = normal(key("weights"), [size]).data.map((w) => 0.1 * w);
  const path = join(folder, `${parameterisation}.safetensors`);
  await saveModel(path, modelOf(spec, weights), "F32");
  return path;
}

/** What the command prints as JSON. */
const run = async (...words: string[]) =>
  JSON.parse(await printed("chess", "export", "--json", ...words));

const x = normal(key("x"), [BATCH, 8, 8, 12]);
const t = uniform(key("t"), [BATCH], { low: 0.05, high: 1 });

/** One output of a file in ONNX Runtime. */
async function inOnnxRuntime(path: string, name: string): Promise<Float32Array> {
  const session = await ort.InferenceSession.create(path, {
    intraOpNumThreads: 1,
    logSeverityLevel: 4,
  });
  const feeds = {
    x: new ort.Tensor("float32", x.data, x.shape),
    t: new ort.Tensor("float32", t.data, t.shape),
  };
  const result = await session.run(feeds);
  await session.release();
  return result[name].data as Float32Array;
}

describe("diffeo chess export", () => {
  it.each([
    ["noise", "score", "cpu"],
    ["score", "denoise", "gpu"],
    ["x0", "denoise", "cpu"],
    ["posterior", "score", "gpu"],
  ] as const)(
    "writes a network that predicts %s as one that gives %s, optimised for a %s",
    async (gives, what, target) => {
      const model = await networkFile(gives);
      const out = join(folder, `${gives}-${what}-${target}.onnx`);
      const report = await run(
        "--model",
        model,
        "--out",
        out,
        "--what",
        what,
        "--batch",
        `${BATCH}`,
        "--target",
        target,
      );
      expect(report).toMatchObject({
        file: out,
        inputs: [{ name: "x" }, { name: "t" }],
        outputs: [{ name: what, shape: [BATCH, 8, 8, 12] }],
      });
      expect(report.difference).toBeGreaterThan(0);
      expect(report.difference).toBeLessThan(1e-5 * report.largest);

      const bytes = readFileSync(out);
      const { spec, denoiser, parameters } = await loadModel(model);
      const file = readOnnx(bytes);
      expect(faults(file)).toEqual([]);
      expect(file.metadata).toEqual({
        format: "diffeo-denoiser-1",
        spec: JSON.stringify(spec),
        process: "VP (linear), t from 0 to 1",
      });
      expect(complaintsOfOnnx([{ name: what, bytes }])).toEqual([]);

      const f = compile(
        (what === "score" ? denoiserScore : denoiserMean)(denoiser, asConstants(parameters)),
        [[null, 8, 8, 12], [null]],
        { threads: 1 },
      );
      const inside = (await f(x, t)).data as Float32Array;
      await f.dispose();
      const outside = await inOnnxRuntime(out, what);
      const largest = inside.reduce((most, v) => Math.max(most, Math.abs(v)), 0);
      inside.forEach((v, i) => {
        expect(Math.abs(outside[i] - v)).toBeLessThan(2e-5 * largest);
      });
    },
  );

  it("writes class probabilities only for a network that predicts them", async () => {
    const out = join(folder, "p.onnx");
    await run(
      "--model",
      await networkFile("posterior"),
      "--out",
      out,
      "--what",
      "posterior",
      "--batch",
      `${BATCH}`,
    );
    const p = await inOnnxRuntime(out, "posterior");
    expect(p).toHaveLength(BATCH * 64 * 13);
    for (let at = 0; at < p.length; at += 13)
      expect(p.subarray(at, at + 13).reduce((a, b) => a + b)).toBeCloseTo(1, 5);
    await expect(
      run(
        "--model",
        await networkFile("noise"),
        "--what",
        "posterior",
        "--out",
        join(folder, "none.onnx"),
      ),
    ).rejects.toThrow("a network that predicts noise has no class probabilities");
  });

  it("accepts only the names of its outputs", () => {
    const options = { what: "toString" as never, batch: 1, target: "cpu" } as const;
    expect(() => exportOnnx(tinyModel(), options)).toThrow(
      'no output "toString". Export one of score, denoise, posterior',
    );
  });
});
