/**
 * Sites with known classes, as a sampler's `Known` on the simplex. Samples may have different known
 * sites. With a posterior p(k | x_t) of each site, the known sites act on the unknown ones by the
 * gradient of
 *
 *   log p(known | x_t) ≈ Σ_known log p(k | x_t),
 *
 * which is exact for one known site, and for several if they are independent given x_t, as they
 * become when t falls. The posterior of a known site depends on the rest of the grid; the gradient
 * moves the rest towards grids in which the known class is probable.
 */
import { sumEvent } from "../bijector/index.ts";
import {
  argmax,
  at,
  constant,
  dot,
  matmul,
  mul,
  oneHot,
  sizeOf,
  sub,
  type Tensor,
  transpose,
  where,
} from "../graph/index.ts";
import type { Known, KnownPoints } from "../sampler/index.ts";
import type { Categorical } from "./categorical.ts";
import type { ClassArray } from "./class-array.ts";
import type { KnownClasses } from "./evidence.ts";

/**
 * Makes the option `known` of samplers from sites with known classes.
 *
 * @param classes the classes of the grids, concatenated; a class beyond those of the encoding is an
 * unknown site
 */
export function knownSites(
  encoding: Categorical,
  classes: ClassArray,
): Pick<Known, "mask" | "value"> {
  const { grid, channels: n } = encoding;
  const last = encoding.classes - 1;
  const mixture = encoding.mixture(encoding.encode(classes.map((k) => Math.min(k, last))));
  const y = mixture.filter((_, i) => i % encoding.classes < n);
  const shape = [classes.length / sizeOf(grid), ...grid, n];
  const mask = Uint8Array.from(y, (_, i) => (classes[Math.floor(i / n)] > last ? 0 : 1));
  return {
    mask: { shape, dtype: "bool", data: mask },
    value: { shape, dtype: "float32", data: y },
  };
}

/**
 * Makes the option `likelihood` of samplers: log p(known | x_t), from log p(k | x_t) of all classes
 * of every site, [batch, ...grid, classes].
 */
export const siteLikelihood =
  (encoding: Categorical, logPosterior: (x: Tensor, t: Tensor) => Tensor) =>
  (x: Tensor, t: Tensor, known: KnownPoints): Tensor =>
    logLikelihood(logPosterior(x, t), encoding, known);

/**
 * Σ over known sites of the log-posterior of their class, which is that of the code point closest
 * to x₀.
 */
function logLikelihood(
  posterior: Tensor,
  encoding: Categorical,
  { points, mask }: KnownPoints,
): Tensor {
  const { classes: nearest, mask: sites } = classesOf(encoding, { points, mask });
  const own = dot(oneHot(nearest, encoding.classes, posterior.dtype), posterior);
  return sumEvent(where(sites, own, 0), encoding.grid.length);
}

/** The class of every site, by the closest code point, and which sites are known. */
export function classesOf(
  { classes, channels: n, points: codes }: Categorical,
  { points, mask }: KnownPoints,
): KnownClasses {
  const c = constant({ shape: [classes, n], dtype: "float64", data: codes }, points.dtype);
  // |x₀ − c|² is least where x₀·c − ½|c|² is greatest.
  const nearest = argmax(sub(matmul(points, transpose(c)), mul(dot(c, c), 0.5)));
  return { classes: nearest, mask: at(mask, 0, -1) };
}
