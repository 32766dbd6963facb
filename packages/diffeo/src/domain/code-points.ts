/**
 * Points of Rᵈ that represent labels if there are many: the normal scores of the additive
 * recurrence whose steps are powers of 1/g, where g > 1 is the root of gᵈ⁺¹ = g + 1 (M. Roberts,
 * 2018). The recurrence fills the cube uniformly. So the points are distributed like N(0, I) for
 * any number K of them, and well separated: their distance decreases as K^{−1/d}.
 */
import { normalPoint } from "../host/index.ts";

/** g, by fixed-point iteration, whose derivative at g is g^{−d}/(d + 1) < 1. */
function root(d: number): number {
  let g = 2;
  for (let i = 0; i < 100; i++) g = (1 + g) ** (1 / (d + 1));
  return g;
}

/** The first `count` points in Rᵈ. */
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
