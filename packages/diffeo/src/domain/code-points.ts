/**
 * Points of Rᵈ that stand for labels where these are many: point k of the additive recurrence
 * whose steps are powers of 1/g, with g the root above 1 of gᵈ⁺¹ = g + 1 (M. Roberts, 2018), which
 * fills the cube evenly, taken to normal scores. So points are spread like N(0, I), whatever their
 * number, and no two are near to each other: their distance falls as K^{−1/d}.
 */
import { normalPoint } from "../host/index.ts";

/** g, by fixed-point iteration: the map has the slope g^{−d}/(d + 1) < 1 there. */
function root(d: number): number {
  let g = 2;
  for (let i = 0; i < 100; i++) g = (1 + g) ** (1 / (d + 1));
  return g;
}

/** So many points of Rᵈ. */
export function codePoints(count: number, d: number): number[][] {
  const g = root(d);
  const steps = Array.from({ length: d }, (_, i) => g ** -(i + 1));
  return Array.from({ length: count }, (_, k) =>
    steps.map((step) => {
      const u = (0.5 + (k + 1) * step) % 1;
      return normalPoint(u, 1 - u);
    }),
  );
}
