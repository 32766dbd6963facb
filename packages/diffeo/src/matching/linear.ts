/**
 * v(x) = v·x with E[v vᵀ] = I:  ∇v = v, H_v = 0, Δv = 0, C = I, div C = 0.
 *
 * With these slices GSSM is SSM and GSSM-VR is SSM-VR. Rademacher directions have the least
 * variance of vᵀ(∇s)v among those with independent entries; those on the sphere of radius √n have
 * the same variance if ∇s is a multiple of I.
 */
import { div, expandDims, fill, mul, sqrt, squaredNorm, type Tensor } from "../graph/index.ts";
import type { SliceFamily } from "./family.ts";

/** The distribution of the directions of linear slices. */
export type LinearDirections = "rademacher" | "normal" | "sphere";

/** v/‖v‖·√n */
const onSphere = (v: Tensor): Tensor =>
  mul(div(v, expandDims(sqrt(squaredNorm(v)), -1)), Math.sqrt(v.shape.at(-1) as number));

/**
 * Linear functions v(x) = uᵀx with a random direction u as slices, those of sliced score matching.
 */
export const linearSlices = (directions: LinearDirections = "rademacher"): SliceFamily => ({
  name: `linear (${directions})`,
  draws: (n) => ({
    v: { distribution: directions === "rademacher" ? "rademacher" : "normal", shape: [n] },
  }),
  slice: (_, { v }) => ({ grad: directions === "sphere" ? onSphere(v) : v }),
  moments: (x) => ({ covariance: { diagonal: fill([1], 1, x.dtype) } }),
  // The unit directions are uniform on the sphere or on the corners of a cube, so E[ddᵀ] = I/n.
  unitMoments: (x) => ({
    covariance: { diagonal: fill([1], 1 / (x.shape.at(-1) as number), x.dtype) },
  }),
});
