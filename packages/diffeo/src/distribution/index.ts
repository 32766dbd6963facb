/**
 * diffeo/distribution: analytic distributions, with their scores and those of their noised selves.
 */
export {
  chiSquared,
  exponential,
  gamma,
  halfCauchy,
  halfNormal,
  halfStudentT,
  inverseGamma,
  logNormal,
  pareto,
  weibull,
} from "./above.ts";
export { type BananaOptions, banana } from "./banana.ts";
export {
  bernoulli,
  betaBinomial,
  binomial,
  geometric,
  type Logit,
  type LogRate,
  type NegativeBinomialOptions,
  negativeBinomial,
  poisson,
} from "./counts.ts";
export {
  type Bounds,
  type Definition,
  type Density,
  type Diffusible,
  type Distribution,
  distribution,
  type Numbers,
  type Support,
  sampleFrom,
} from "./distribution.ts";
export { type GaussianOptions, gaussian } from "./gaussian.ts";
export { cauchy, gumbel, laplace, logistic, normal } from "./line.ts";
export { type Component, mixture } from "./mixture.ts";
export type { Covariance } from "./principal.ts";
export { type StudentOptions, studentT } from "./student.ts";
export { beta, uniform, vonMises } from "./within.ts";
