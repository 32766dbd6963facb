/** From z of a label to its place among the labels. */
import type { LabelSite } from "./sites.ts";

/** From z of a label to its place. */
export function labelFinder({ codes, count, from, to }: LabelSite) {
  const width = to - from;
  const nameOf = (z: Float64Array): string => Array.from(z, (v) => v.toPrecision(9)).join();
  const known = new Map(
    Array.from({ length: count }, (_, k) => [
      nameOf(codes.subarray(k * width, (k + 1) * width)),
      k,
    ]),
  );
  const nearest = (z: Float64Array): number => {
    let [best, least] = [0, Infinity];
    for (let k = 0; k < count; k++) {
      let d = 0;
      for (let i = 0; i < width; i++) d += (codes[k * width + i] - z[i]) ** 2;
      if (d < least) [best, least] = [k, d];
    }
    return best;
  };
  return (z: Float64Array): number => known.get(nameOf(z)) ?? nearest(z);
}
