/**
 * The distribution of x in studies with a known score: three Gaussians in the plane, with mean near
 * 0 and variances near 1, which a Gaussian transition keeps a mixture.
 */
import { type Diffusible, gaussian, mixture } from "diffeo/distribution";
import type { GaussianSde, MarginalScore } from "diffeo/sde";

export const threeGaussians = (): Diffusible =>
  mixture([
    { weight: 0.5, distribution: gaussian({ mean: [1.1, 0.4], covariance: 0.12 }) },
    { weight: 0.3, distribution: gaussian({ mean: [-1.2, 0.8], covariance: 0.12 }) },
    { weight: 0.2, distribution: gaussian({ mean: [-0.95, -1.6], covariance: 0.12 }) },
  ]);

/** ∇ log p_t of a distribution under an SDE. */
export const exactScore =
  (law: Diffusible, { transition: { meanFactor, std } }: GaussianSde): MarginalScore =>
  (x, t) =>
    law.marginal(meanFactor(t), std(t)).score(x);
