/** The U-Net in plain loops over one image [row][column][channel], written from the papers. */
import { expect, it } from "vitest";
import { compile } from "../../src/engine/index.ts";
import { constant, isNdArray, mapTree, type NdArray, type Tensor } from "../../src/graph/index.ts";
import { unet } from "../../src/model/unet.ts";
import { type UNet, type UNetOptions, unetInit } from "../../src/model/unet-parameters.ts";
import { fold, key, normal, uniform } from "../../src/random/index.ts";

type Image = number[][][];
type Parameters = UNet<NdArray>;
type Block = Parameters["middle"][number];
type Dense = Block["conv1"];
type Scales = Block["norm1"];

const list = <T>(length: number, f: (i: number) => T): T[] =>
  Array.from({ length }, (_, i) => f(i));
const total = (length: number, f: (i: number) => number): number =>
  list(length, f).reduce((a, b) => a + b, 0);
const number = ({ data }: NdArray, i: number): number => Number(data[i]);
const eachPixel = (x: Image, f: (pixel: number[], r: number, s: number) => number[]): Image =>
  x.map((row, r) => row.map((pixel, s) => f(pixel, r, s)));
const plus = (x: Image, y: Image): Image =>
  eachPixel(x, (pixel, r, s) => pixel.map((v, c) => v + y[r][s][c]));

const sigmoid = (v: number): number => 1 / (1 + Math.exp(-v));
const silu = (v: number): number => v * sigmoid(v);
const siluImage = (x: Image): Image => eachPixel(x, (pixel) => pixel.map(silu));

/** y_o = b_o + Σ_i x_i w_io */
const linear = ({ w, b }: Dense, x: readonly number[]): number[] =>
  list(
    w.shape[1],
    (o) => number(b, o) + total(x.length, (i) => x[i] * number(w, i * w.shape[1] + o)),
  );

/** y[r][s][o] = b_o + Σ x[r + i − k/2][s + j − k/2][c] w_ijco, zero beyond the image. */
function conv({ w, b }: Dense, x: Image): Image {
  const [k, , channels, outputs] = w.shape;
  const half = (k - 1) / 2;
  return eachPixel(x, (_, r, s) =>
    list(outputs, (o) => {
      let sum = number(b, o);
      for (let i = 0; i < k; i++)
        for (let j = 0; j < k; j++) {
          const pixel = x[r + i - half]?.[s + j - half];
          for (let c = 0; pixel && c < channels; c++)
            sum += pixel[c] * number(w, ((i * k + j) * channels + c) * outputs + o);
        }
      return sum;
    }),
  );
}

/**
 * Mean 0 and variance 1 over the pixels and neighbouring channels of a group, then a scale and a
 * shift a channel.
 */
function groupNorm({ scale, shift }: Scales, x: Image, groups: number): Image {
  const size = x[0][0].length / groups;
  const moments = list(groups, (g) => {
    const values = x.flat().flatMap((pixel) => pixel.slice(g * size, (g + 1) * size));
    const mean = total(values.length, (i) => values[i]) / values.length;
    return { mean, variance: total(values.length, (i) => (values[i] - mean) ** 2) / values.length };
  });
  return eachPixel(x, (pixel) =>
    pixel.map((v, c) => {
      const { mean, variance } = moments[Math.floor(c / size)];
      return ((v - mean) / Math.sqrt(variance + 1e-5)) * number(scale, c) + number(shift, c);
    }),
  );
}

/**
 * Every head has its own d channels of query, key and value; what it reads goes back to these
 * channels.
 */
function attend(p: Block["attention"][number], x: Image, groups: number, heads: number): Image {
  const pixels = groupNorm(p.norm, x, groups).flat();
  const [q, k, v] = [p.query, p.key, p.value].map((role) =>
    pixels.map((pixel) => linear(role, pixel)),
  );
  const d = q[0].length / heads;
  const read = q.map((query) =>
    list(heads, (h) => {
      const weights = k.map((other) =>
        Math.exp(total(d, (c) => query[h * d + c] * other[h * d + c]) / Math.sqrt(d)),
      );
      const all = total(weights.length, (i) => weights[i]);
      return list(d, (c) => total(v.length, (i) => weights[i] * v[i][h * d + c]) / all);
    }).flat(),
  );
  return eachPixel(x, (pixel, r, s) =>
    linear(p.out, read[r * x[0].length + s]).map((y, c) => pixel[c] + y),
  );
}

function residual(
  p: Block,
  x: Image,
  embedding: readonly number[],
  { groups, heads = 4 }: UNetOptions,
): Image {
  const time = linear(p.time, embedding);
  const h = eachPixel(conv(p.conv1, siluImage(groupNorm(p.norm1, x, groups))), (pixel) =>
    pixel.map((v, c) => v + time[c]),
  );
  const out = conv(p.conv2, siluImage(groupNorm(p.norm2, h, groups)));
  const y = plus(p.skip.length > 0 ? conv(p.skip[0], x) : x, out);
  return p.attention.length > 0 ? attend(p.attention[0], y, groups, heads) : y;
}

const halved = (x: Image): Image =>
  list(x.length / 2, (r) =>
    list(x[0].length / 2, (s) =>
      x[0][0].map((_, c) => total(4, (i) => x[2 * r + (i >> 1)][2 * s + (i & 1)][c]) / 4),
    ),
  );
const doubled = (x: Image): Image =>
  list(2 * x.length, (r) => list(2 * x[0].length, (s) => x[Math.floor(r / 2)][Math.floor(s / 2)]));

function plainUnet(p: Parameters, x: Image, t: number, options: UNetOptions): Image {
  const half = options.width / 2;
  // A thousand times t, as if time were counted in thousandths, at wavelengths from 2π up to nearly
  // 2π·10⁴.
  const angles = list(half, (i) => (1000 * t) / 10_000 ** (i / half));
  const features = [...angles.map(Math.sin), ...angles.map(Math.cos)];
  const embedding = linear(p.time2, linear(p.time1, features).map(silu)).map(silu);
  const [position] = p.position;
  const [, columns, width] = position.shape;
  let h = eachPixel(conv(p.stem, x), (pixel, r, s) =>
    pixel.map((v, c) => v + number(position, (r * columns + s) * width + c)),
  );
  const skips: Image[] = [];
  for (const [l, level] of p.down.entries()) {
    if (l > 0) h = halved(h);
    for (const block of level) {
      h = residual(block, h, embedding, options);
      skips.push(h);
    }
  }
  for (const block of p.middle) h = residual(block, h, embedding, options);
  for (const [l, level] of p.up.entries()) {
    if (l > 0) h = doubled(h);
    for (const block of level) {
      const skip = skips.pop() as Image;
      h = residual(
        block,
        eachPixel(h, (pixel, r, s) => [...pixel, ...skip[r][s]]),
        embedding,
        options,
      );
    }
  }
  return conv(p.head, siluImage(groupNorm(p.norm, h, options.groups)));
}

it("equals plain loops, to rounding", async () => {
  const options: UNetOptions = {
    channels: 3,
    width: 8,
    multipliers: [1, 2],
    blocks: 2,
    groups: 4,
    attention: [0, 1],
    heads: 2,
    position: [4, 6],
    outputs: 5,
  };
  // Every weight drawn, so that nothing hides behind the zeros a fresh network has.
  const parameters = mapTree<NdArray, NdArray>(
    unetInit(key(1), options),
    ({ shape }, name) => {
      const { data } = normal(fold(key(4), name), shape, { dtype: "float64" });
      return { shape, dtype: "float64", data: data.map((v) => 0.5 * v) };
    },
    isNdArray,
  ) as unknown as Parameters;
  const x = normal(key(2), [2, 4, 6, 3], { dtype: "float64" });
  const t = uniform(key(3), [2], { dtype: "float64" });
  const f = compile(
    (image: Tensor, time: Tensor) => {
      const constants = mapTree<NdArray, Tensor>(
        parameters,
        (a) => constant(a, "float64"),
        isNdArray,
      );
      return unet(constants as unknown as UNet<Tensor>, image, time, options);
    },
    [[2, 4, 6, 3], [2]],
    { device: "reference", type: "float64" },
  );
  const { data } = await f(x, t);
  await f.dispose();
  const plain = list(2, (i) => {
    const image = list(4, (r) =>
      list(6, (s) => list(3, (c) => number(x, ((i * 4 + r) * 6 + s) * 3 + c))),
    );
    return plainUnet(parameters, image, number(t, i), options);
  }).flat(3);
  expect(plain.length).toBe(data.length);
  expect(Math.max(...plain.map(Math.abs))).toBeGreaterThan(1);
  expect(Math.max(...plain.map((v, i) => Math.abs(v - Number(data[i]))))).toBeLessThan(1e-10);
});
