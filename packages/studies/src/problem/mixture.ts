/**
 * The distribution of x in studies with a known score: three Gaussians in the plane, with mean near
 * 0 and variances near 1, which a Gaussian transition keeps a mixture.
 */
import { type Diffusible, gaussian, mixture } from "diffeo/distribution";
import type { GaussianSde, MarginalScore } from "diffeo/sde";

export const threeGaussians = (): Diffusible =>
  mixture(
    components.map(({ weight, mean }) => ({
      weight,
      distribution: gaussian({ mean, covariance: VARIANCE }),
    })),
  );

/** Of each coordinate in each component. */
export const VARIANCE = 0.12;
/** Weights, which add up to 1, and means of the components. */
export const components = [
  { weight: 0.5, mean: [1.1, 0.4] },
  { weight: 0.3, mean: [-1.2, 0.8] },
  { weight: 0.2, mean: [-0.95, -1.6] },
] as const;

/** ∇ log p_t of a distribution under an SDE. */
export const exactScore =
  (law: Diffusible, { transition: { meanFactor, std } }: GaussianSde): MarginalScore =>
  (x, t) =>
    law.marginal(meanFactor(t), std(t)).score(x);
