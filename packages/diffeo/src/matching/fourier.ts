/**
 * Random Fourier features: v(x) = (√2/τ) cos θ,  θ = ω·x + b,  ω ~ N(0, τ²I),  b uniform on the
 * circle.
 *
 *   ∇v = −(√2/τ) sin θ ω      H_v∇v = (2/τ²) sin θ cos θ ‖ω‖² ω      Δv = −(√2/τ) cos θ ‖ω‖²
 *
 * Since b is uniform and independent of ω, E[sin²θ | ω] = ½ for any x, so C = (2/τ²)·½·E[ωωᵀ] = I
 * and div C = 0. H_v = −(√2/τ) cos θ ωωᵀ and ωᵀ∇v = −(√2/τ) sin θ ‖ω‖² give H_v∇v.
 */
import {
  add,
  cos,
  dot,
  expandDims,
  fail,
  fill,
  mul,
  sin,
  squaredNorm,
  type Tensor,
} from "../graph/index.ts";
import type { SliceFamily } from "./family.ts";

/** Random Fourier features as slices; they oscillate over a length of about 1/`frequency`. */
export const fourierSlices = (frequency = 1): SliceFamily => {
  if (!(frequency > 0))
    fail("usage", `fourierSlices: \`frequency\` is ${frequency}`, "give a number above 0");
  const amplitude = Math.SQRT2 / frequency;
  return {
    name: "random Fourier",
    draws: (n) => ({
      omega: { distribution: "normal", shape: [n] },
      phase: { distribution: "uniform", shape: [] },
    }),
    slice: (x, { omega: unit, phase }) => {
      const omega = mul(unit, frequency);
      const theta = add(dot(omega, x), mul(phase, 2 * Math.PI));
      const size = squaredNorm(omega);
      const along = (factor: Tensor): Tensor => mul(expandDims(factor, -1), omega);
      return {
        grad: along(mul(sin(theta), -amplitude)),
        hvp: along(mul(mul(mul(sin(theta), cos(theta)), size), amplitude ** 2)),
        laplacian: mul(mul(cos(theta), size), -amplitude),
      };
    },
    moments: (x) => ({ covariance: { diagonal: fill([1], 1, x.dtype) } }),
  };
};
