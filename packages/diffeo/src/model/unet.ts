/**
 * A U-Net for small images, channels-last: residual blocks with group normalisation and SiLU at
 * halved resolutions, skip connections, self-attention at some levels, and a learned embedding of
 * the time added in every block.
 */
import {
  add,
  averagePool,
  concat,
  conv2d,
  expandDims,
  groupNorm,
  matmul,
  mul,
  reshape,
  silu,
  softmax,
  type Tensor,
  transpose,
  upsampleNearest,
} from "../graph/index.ts";
import { conv, linear, type Norm, timeFeatures } from "./layers.ts";
import type { Attention, ResidualBlock, UNet, UNetOptions } from "./unet-parameters.ts";

const norm = ({ scale, shift }: Norm<Tensor>, x: Tensor, groups: number): Tensor =>
  groupNorm(x, scale, shift, groups);

/**
 * Height and width. Between convolutions an image is [batch, pixels, channels], which avoids
 * reshapes.
 */
type Size = readonly [number, number];

const asImage = (x: Tensor, [h, w]: Size): Tensor => reshape(x, [x.shape[0], h, w, x.shape[2]]);
const asPixels = (x: Tensor): Tensor =>
  reshape(x, [x.shape[0], x.shape[1] * x.shape[2], x.shape[3]]);
const convolved = (w: Tensor, x: Tensor, size: Size): Tensor =>
  asPixels(conv2d(asImage(x, size), w));

/** x + softmax(QKᵀ/√d)V over the pixels, in several heads. */
function attend(p: Attention<Tensor>, x: Tensor, groups: number, heads: number): Tensor {
  const [b, pixels, c] = x.shape;
  const d = c / heads;
  const normed = norm(p.norm, x, groups);
  // Separate products for Q, K and V, because slicing them out of one would cost three paddings in
  // the gradient.
  const [q, k, value] = [p.query, p.key, p.value].map((role) =>
    transpose(reshape(linear(role, normed), [b, pixels, heads, d]), [0, 2, 1, 3]),
  );
  const weights = softmax(matmul(mul(q, 1 / Math.sqrt(d)), transpose(k)));
  const mixed = reshape(transpose(matmul(weights, value), [0, 2, 1, 3]), [b, pixels, c]);
  return add(x, linear(p.out, mixed));
}

function residual(
  p: ResidualBlock<Tensor>,
  x: Tensor,
  embedding: Tensor,
  size: Size,
  { groups, heads = 4 }: UNetOptions,
): Tensor {
  // The bias is added to the embedding of the time, one vector per image, and not to every pixel.
  const shift = expandDims(add(linear(p.time, embedding), p.conv1.b), 1);
  const timed = add(convolved(p.conv1.w, silu(norm(p.norm1, x, groups)), size), shift);
  const out = add(convolved(p.conv2.w, silu(norm(p.norm2, timed, groups)), size), p.conv2.b);
  const y = add(
    p.skip.reduce((same, skip) => add(convolved(skip.w, same, size), skip.b), x),
    out,
  );
  return p.attention.reduce((z, a) => attend(a, z, groups, heads), y);
}

/** Applies the U-Net to images x [batch, height, width, channels] and times t [batch]. */
export function unet(p: UNet<Tensor>, x: Tensor, t: Tensor, options: UNetOptions): Tensor {
  const { width, groups } = options;
  const embedding = silu(linear(p.time2, silu(linear(p.time1, timeFeatures(t, width)))));
  let [size, h]: [Size, Tensor] = [[x.shape[1], x.shape[2]], asPixels(conv(p.stem, x))];
  for (const offset of p.position) h = add(h, reshape(offset, [-1, width]));
  const skips: Tensor[] = [];
  p.down.forEach((level, l) => {
    if (l > 0) {
      h = asPixels(averagePool(asImage(h, size)));
      size = [size[0] / 2, size[1] / 2];
    }
    for (const block of level) {
      h = residual(block, h, embedding, size, options);
      skips.push(h);
    }
  });
  for (const block of p.middle) h = residual(block, h, embedding, size, options);
  p.up.forEach((level, l) => {
    if (l > 0) {
      h = asPixels(upsampleNearest(asImage(h, size)));
      size = [size[0] * 2, size[1] * 2];
    }
    for (const block of level)
      h = residual(block, concat([h, skips.pop() as Tensor], -1), embedding, size, options);
  });
  return conv(p.head, asImage(silu(norm(p.norm, h, groups)), size));
}
