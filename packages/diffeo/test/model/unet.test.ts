import { describe, expect, it } from "vitest";
import { compile } from "../../src/engine/index.ts";
import type { NdArray, Tensor } from "../../src/graph/index.ts";
import { unet } from "../../src/model/unet.ts";
import { type UNet, type UNetOptions, unetInit } from "../../src/model/unet-parameters.ts";
import { key, normal, uniform } from "../../src/random/index.ts";
import { flatten, unflatten } from "../../src/train/index.ts";
import { expectGradient } from "./plain.ts";

const options: UNetOptions = {
  channels: 3,
  width: 8,
  multipliers: [1, 2],
  blocks: 1,
  groups: 4,
  attention: [1],
  heads: 2,
  position: [4, 4],
  outputs: 5,
};
const parameters = unetInit(key(1), options);
const x = normal(key(2), [2, 4, 4, 3], { dtype: "float64" });
const t = uniform(key(3), [2], { dtype: "float64" });

/** Every weight drawn, so that nothing hides behind the zeros a fresh network has. */
const theta: NdArray = normal(key(4), [flatten(parameters).length], { dtype: "float64" });
const at = (flat: Tensor, image: Tensor, time: Tensor): Tensor =>
  unet(unflatten(flat, parameters) as unknown as UNet<Tensor>, image, time, options);

describe("the U-Net", () => {
  it("maps an image and a time to an image with the given channels, and starts at zero", async () => {
    const f = compile(at, [[null], [null, 4, 4, 3], [null]], { threads: 1 });
    const start = flatten(parameters);
    const { shape, data } = await f(start, Float32Array.from(x.data), Float32Array.from(t.data));
    expect(shape).toEqual([2, 4, 4, 5]);
    expect(Math.max(...(data as Float32Array).map(Math.abs))).toBe(0);
    await f.dispose();
  });

  it("has the gradient of differences along random directions in all weights", async () => {
    await expectGradient(at, [[null], [null, 4, 4, 3], [null]], [theta, x, t], 4);
  });

  it.each<[Partial<UNetOptions>, string]>([
    [{ attention: [9] }, "`attention` has the level 9, but there are 2 levels. Use levels 0 to 1"],
    [{ heads: 3 }, "level 1 has 16 channels, which 3 heads do not divide"],
    [{ multipliers: [] }, "`multipliers` is empty"],
    [{ multipliers: [1, 1.1] }, "a level has 8 × 1.1 channels, which 4 groups do not divide"],
    [{ width: 9, groups: 3 }, "`width` is 9. Give an even number"],
    [{ blocks: 0 }, "`blocks` is 0"],
  ])("refuses %j", (odd, message) => {
    expect(() => unetInit(key(1), { ...options, ...odd })).toThrow(message);
  });

  it("treats each board of a batch independently", async () => {
    const f = compile(at, [[null], [null, 4, 4, 3], [null]], { type: "float64", threads: 1 });
    const both = (await f(theta, x, t)).data as Float64Array;
    const one = (
      await f(
        theta,
        { shape: [1, 4, 4, 3], dtype: "float64", data: (x.data as Float64Array).slice(0, 48) },
        (t.data as Float64Array).slice(0, 1),
      )
    ).data as Float64Array;
    expect(Math.max(...one.map((v, i) => Math.abs(v - both[i]) / (1 + Math.abs(v))))).toBeLessThan(
      1e-10,
    );
    await f.dispose();
  });
});
