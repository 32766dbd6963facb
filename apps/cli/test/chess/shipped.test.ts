/** The models that come with the package, as a stranger first meets them. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { denoiserLoss, fittedTimes, type Model, parseModel } from "diffeo/categorical";
import { compile } from "diffeo/engine";
import type { Tensor } from "diffeo/graph";
import { asConstants } from "diffeo/model";
import { loadModel, modelDigest } from "diffeo/node";
import { key, normal } from "diffeo/random";
import { parseFen } from "diffeo-chess";
import { shippedModels } from "diffeo-chess/node";
import { beforeAll, describe, expect, it } from "vitest";
import { testFolder } from "../../../../test/folder.ts";
import { diffeo } from "../run.ts";

const { folder } = testFolder("shipped");

/** Nats a square of a Ruy Lopez under noise at these times, as the weights were left. */
const NATS: Readonly<
  Record<keyof typeof shippedModels, readonly (readonly [t: number, nats: number])[]>
> = {
  transformer: [
    [0.2, 0],
    [0.4, 0.1233],
    [0.6, 0.3711],
    [0.8, 1.0007],
  ],
  small: [
    [0.2, 0],
    [0.4, 0.126],
    [0.6, 0.4039],
    [0.8, 1.0159],
  ],
  unet: [
    [0.2, 0.0001],
    [0.4, 0.1256],
    [0.6, 0.3816],
    [0.8, 1.0036],
  ],
};

describe.each(Object.entries(shippedModels))("the shipped %s", (name, path) => {
  let model: Model;
  beforeAll(async () => {
    model = await loadModel(path);
  });

  it("is small, and a denoiser of chess positions", () => {
    expect(statSync(path).size).toBeLessThanOrEqual(20 * 2 ** 20);
    const { encoding, spec } = model;
    const kind = name === "unet" ? "unet" : "transformer";
    expect([spec.network.kind, encoding.grid, encoding.classes]).toEqual([kind, [8, 8], 13]);
    expect(spec.parameterisation).toBe("posterior");
  });

  // A network that is evaluated otherwise than it was trained loses more.
  it("recovers a Ruy Lopez from noise, as well as after training", async () => {
    const { denoiser, parameters } = model;
    const board = parseFen("r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R");
    const classes = { shape: [1, 8, 8], dtype: "int32", data: Int32Array.from(board) } as const;
    const loss = compile(
      (c: Tensor, t: Tensor, noise: Tensor) =>
        denoiserLoss(denoiser, asConstants(parameters), c, t, noise),
      [{ shape: [1, 8, 8], dtype: "int32" }, [1], [1, 8, 8, 12]],
      { threads: 1, once: true },
    );
    const noise = normal(key("ruy lopez"), [1, 8, 8, 12]);
    for (const [t, nats] of NATS[name as keyof typeof shippedModels])
      expect(Number((await loss(classes, [t], noise)).data[0])).toBeCloseTo(nats, 3);
    await loss.dispose();
  });

  it("has measured errors, to which its grid is fitted", () => {
    expect(fittedTimes(model, 49)).toHaveLength(50);
  });
});

describe("the shipped models", () => {
  const files = readdirSync(dirname(shippedModels.transformer)).filter((name) =>
    name.endsWith(".safetensors"),
  );
  it.each(files)("%s has a checksum: a zeroed block of 4 KiB is refused", (name) => {
    const bytes = readFileSync(join(dirname(shippedModels.transformer), name));
    const length = Number(bytes.readBigUInt64LE());
    const { checksum } = JSON.parse(bytes.subarray(8, 8 + length).toString()).__metadata__;
    expect(checksum).toMatch(/^crc32:/);
    for (const at of [Math.floor(bytes.length / 2), bytes.length - 4096]) {
      const damaged = Uint8Array.from(bytes);
      damaged.fill(0, at, at + 4096);
      expect(() => parseModel(damaged, name)).toThrow(`it should be ${checksum}`);
    }
  });

  it("can be selected by name", async () => {
    const words = [
      "chess",
      "sample",
      "--steps",
      "2",
      "--count",
      "1",
      "--format",
      "json",
      "--threads",
      "1",
    ];
    const digest = async (...more: string[]) =>
      JSON.parse((await diffeo(...words, ...more)).stdout).model;
    expect(await digest()).toBe(await modelDigest(shippedModels.transformer));
    for (const name of ["small", "unet"] as const)
      expect(await digest("--model", name)).toBe(await modelDigest(shippedModels[name]));
  });

  it("sample the figure by default", async () => {
    const out = join(folder, "figure");
    const words = [
      "chess",
      "figure",
      "--w",
      "0.95,1.05",
      "--boards",
      "1",
      "--steps",
      "3",
      "--out",
      out,
    ];
    const { code, stdout } = await diffeo(...words, "--threads", "1");
    expect(code).toBe(0);
    expect(stdout).toContain(`Written to ${out}.svg and ${out}.png`);
    const svg = readFileSync(`${out}.svg`, "utf8");
    for (const text of ["w = 0.95", "w = 1.05"]) expect(svg).toContain(text);
    expect(readFileSync(`${out}.png`).subarray(1, 4).toString()).toBe("PNG");
  });
});
