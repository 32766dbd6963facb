/** Scores from ONNX files: files of exporters, invalid files, and the numbers of both. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { compile } from "../../src/engine/index.ts";
import { type NdArray, ndarray } from "../../src/graph/index.ts";
import { type Answer, doubtOf } from "../../src/outside/at-noise.ts";
import { type FromOnnxOptions, fromOnnx, readOnnxFile } from "../../src/outside/index.ts";
import { key } from "../../src/random/index.ts";
import { sample } from "../../src/sampler/index.ts";
import { reverse, ve, vp } from "../../src/sde/index.ts";

const read = (name: string): Uint8Array =>
  readFileSync(new URL(`./files/${name}.onnx`, import.meta.url));

/** f(x, t) = tanh(x A + t u + b) C, as `make_files.py` has it. */
function f(x: readonly number[], t: number): number[] {
  const [A, u] = [[[0.5, -1, 0.25], [0.75, 0.5, -0.5]], [1, -0.5, 0.5]]; // biome-ignore format: a matrix
  const [b, C] = [[0.25, 0, -0.25], [[1, -0.5], [0.5, 1], [-0.25, 0.75]]]; // biome-ignore format: a matrix
  const h = u.map((uk, k) => Math.tanh(x[0] * A[0][k] + x[1] * A[1][k] + t * uk + b[k]));
  return [0, 1].map((j) => h.reduce((sum, hk, k) => sum + hk * C[k][j], 0));
}

const points = [[0.3, -1.2], [1.5, 0.4], [-0.7, 2], [0.1, 0.1], [-2, -0.5]]; // biome-ignore format: a list of points
const times = [0.1, 0.1, 0.9, 0.5, 0.5];
const wanted = points.flatMap((x, i) => f(x, times[i]));

const worst = ({ data }: NdArray, values = wanted): number =>
  Math.max(...values.map((v, i) => Math.abs(v - Number(data[i]))));

const label = (n: number): NdArray => ({
  shape: [1],
  dtype: "int64",
  data: BigInt64Array.of(BigInt(n)),
});

/** Files of one function, with what they need to be told and the error of their float type. */
const files: readonly [name: string, options: Partial<FromOnnxOptions>, error: number][] = [
  ["torch-style", {}, 1e-6],
  ["torch-script", {}, 1e-6],
  ["torch-dynamo", {}, 1e-6],
  ["constant-nodes", {}, 1e-6],
  ["initializers-as-inputs", {}, 1e-6],
  ["column", {}, 1e-6],
  ["scalar-time", {}, 1e-6],
  ["single-time", {}, 1e-6],
  ["no-shapes", { shape: [2] }, 1e-6],
  ["no-shapes", {}, 1e-6],
  ["batch-of-four", {}, 1e-6],
  ["torch-style", { batch: 2 }, 1e-6],
  ["half-weights", {}, 3e-3],
  ["half-ports", {}, 3e-3],
  ["double", {}, 1e-14],
  ["whole-time", { time: (t) => 1000 * t }, 1e-6],
  ["local-function", {}, 1e-6],
  ["branch", {}, 1e-6],
  ["more-ports", { constants: { label: label(0) } }, 1e-6],
];

describe("fromOnnx", () => {
  it.each(files)(
    "%s computes the function it was exported from (%o)",
    async (name, options, error) => {
      const score = await fromOnnx(read(name), { predicts: "score", ...options });
      const run = compile(score, [[null, 2], [null]], { type: "float64" });
      expect(worst(await run(points, times))).toBeLessThan(error);
      await run.dispose();
    },
  );

  it("passes the given values to the other inputs of a file", async () => {
    const score = await fromOnnx(read("more-ports"), {
      predicts: "score",
      constants: { label: label(1) },
    });
    const run = compile(score, [[null, 2], [null]]);
    const shifted = wanted.map((v, i) => v + (i % 2 === 0 ? 1 : 2));
    expect(worst(await run(points, times), shifted)).toBeLessThan(1e-6);
    await run.dispose();
  });

  it("accepts events of any size if the file leaves it open, and reports that it was not checked", async () => {
    const score = await fromOnnx(read("open-event"), { predicts: "score" });
    expect(score.describe()).toMatch(/not checked yet, because the shape of an event is not known/);
    const run = compile(score, [[null, 3], [null]]);
    expect((await run([[1, 2, 3]], [0.5])).data).toEqual(Float32Array.of(0.5, 1, 1.5));
    await run.dispose();
  });

  it("gives the same numbers on the reference device, on a worker and with checkFinite", async () => {
    const score = await fromOnnx(read("torch-style"), { predicts: "score" });
    for (const options of [{ device: "reference" }, { worker: true }, { checkFinite: true }]) {
      const run = compile(score, [[null, 2], [null]], options);
      expect(worst(await run(points, times))).toBeLessThan(1e-6);
      await run.dispose();
    }
  });

  it("describes the file", async () => {
    const score = await fromOnnx(read("column"), { predicts: "noise", sde: vp() });
    expect(score.describe()).toBe(
      `jax2onnx: opset 17, IR version 8, 6 operators, 18 parameters (float32)
x: "sample", float32 [n, 2]
t: "sigma", float32 [n, 1], one time per row, in a column
noise: "f", float32 [n, 2], a score by VP (linear)
checked: batches of 2 and 3 agree
suspicious: at t = 1, where points are noise, its output as noise is -0.15 times the score of noise, and about 1 is expected; check predicts, sde and time`,
    );
  });

  it.each([
    ["timeless", "score", undefined],
    ["timeless", "noise", -1],
    // Of these the answer's part is multiplied by m, which is 0.0066 here.
    ["timeless", "x0", undefined],
    ["timeless", "v", undefined],
    ["torch-score", "noise", undefined],
    ["torch-score", "score", -1],
  ] as const)(
    "%s read as %s is doubted where it is not that: %s",
    async (name, predicts, multiple) => {
      const bytes =
        name === "torch-score"
          ? readFileSync(new URL("../../../../examples/torch-score.onnx", import.meta.url))
          : read(name);
      const score = await fromOnnx(bytes, { predicts, sde: vp() });
      const doubt = /^suspicious: at t = 1, .* as \w+ is (\S+) times the score of noise/m.exec(
        score.describe(),
      );
      // That of a network that was trained is about its own.
      if (multiple === undefined) expect(doubt).toBeNull();
      else expect(Math.abs(Number(doubt?.[1]) - multiple)).toBeLessThan(0.03);
    },
  );

  it("is checked with noise at the horizon: a ratio between 1/20 and 3 to its score", async () => {
    const sde = ve({ sigmaMin: 0.01, sigmaMax: 50 });
    const times =
      (multiple: number): Answer =>
      async ({ data }) =>
        Float64Array.from(data as Float64Array, (v) => (-multiple * v) / 50 ** 2);
    for (const fine of [0.06, 1, 2.9])
      expect(await doubtOf(times(fine), [3], { predicts: "score" }, sde)).toBeUndefined();
    for (const multiple of [0.04, 4, -1])
      expect(await doubtOf(times(multiple), [3], { predicts: "score" }, sde)).toContain(
        `is ${multiple.toFixed(2)} times`,
      );
    const { transition: _, ...unknown } = sde;
    expect(await doubtOf(times(4), [3], { predicts: "score" }, unknown)).toBeUndefined();
  });

  it("samples the distribution of a time-independent score", async () => {
    // s = −x is the score of N(0, I), which VP leaves as it is.
    const score = await fromOnnx(read("timeless"), { predicts: "score" });
    const { samples } = await sample(reverse(vp(), score), {
      shape: [2],
      count: 4000,
      steps: 50,
      threads: 1,
      key: key(3),
    });
    const variance = samples.data.reduce((sum, v) => sum + v * v, 0) / samples.data.length;
    expect(Math.abs(variance - 1)).toBeLessThan(0.06);
  });
});

describe("an invalid file", () => {
  const open = (name: string, options: Partial<FromOnnxOptions> = {}) =>
    fromOnnx(read(name), { predicts: "score", ...options });

  it.each<[string, Partial<FromOnnxOptions>, RegExp]>([
    [
      "training-mode",
      {},
      /the output of the ONNX file for an event depends on the other events of the batch. Export it in evaluation mode/,
    ],
    [
      "two-numbers",
      {},
      /shape \[2, 4\] for x of shape \[2, 2\]. The output has two numbers per coordinate/,
    ],
    ["other-file", {}, /has the numbers of "A" in another file/],
    ["whole-time", {}, /"timestep" of the ONNX file takes integers \(int64\).*Set `time`/],
    ["more-ports", {}, /other inputs "label"|it is not clear which one is t\. Name the ports/],
    ["torch-style", { inputs: { x: "y" } }, /no input "y". Use one of "x", "t"/],
    ["torch-style", { output: "g" }, /no output "g". Use one of "f"/],
    ["torch-style", { shape: [3] }, /takes events of shape \[2\], not \[3\]/],
    [
      "torch-style",
      { predicts: "noise" },
      /predicts noise, but the SDE for which it was trained is not given. Set `sde`/,
    ],
    [
      "torch-style",
      { predicts: "speed" as "v" },
      /`predicts` is "speed". Use one of score, noise, x0, v/,
    ],
    ["torch-style", { differences: 0 }, /`differences` is 0/],
    ["torch-style", { batch: 1.5 }, /`batch` is 1.5/],
  ])("%s %o", async (name, options, message) => {
    await expect(open(name, options)).rejects.toThrow(message);
  });

  it("is refused if its bytes are not an ONNX file", async () => {
    for (const bytes of [
      new Uint8Array(0),
      Uint8Array.of(1, 2, 3),
      new TextEncoder().encode("<!doctype html>"),
    ])
      await expect(fromOnnx(bytes, { predicts: "score" })).rejects.toThrow(/ONNX/);
    await expect(fromOnnx("net.onnx" as never, { predicts: "score" })).rejects.toThrow(
      /pass the bytes/i,
    );
  });

  it("is refused wherever it was truncated", async () => {
    const bytes = read("torch-style");
    for (let length = 0; length < bytes.length; length += 7)
      await expect(fromOnnx(bytes.subarray(0, length), { predicts: "score" })).rejects.toThrow(
        /ONNX|graph/,
      );
  });

  it("is refused if its graphs are nested too deeply", () => {
    let graph: Uint8Array = Uint8Array.of();
    const field = (number: number, bytes: Uint8Array): Uint8Array =>
      Uint8Array.of((number << 3) | 2, (bytes.length & 0x7f) | 0x80, bytes.length >> 7, ...bytes);
    for (let i = 0; i < 60; i++) graph = field(1, field(5, field(6, graph)));
    expect(() => readOnnxFile(field(7, graph))).toThrow(/nested \d+ levels deep/);
  });

  it("is refused with the operation that has no derivative", async () => {
    const score = await open("torch-style");
    const process = reverse(vp(), score);
    const { logDensity } = await import("../../src/sampler/index.ts");
    await expect(logDensity(process, ndarray([[0, 0]]))).rejects.toThrow(
      /derivative is needed.*`differences`/s,
    );
  });
});
