/**
 * diffeo/distribution: distributions with densities and scores; for some, also of their noised
 * marginals.
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
export { type CutOptions, censored, truncated } from "./cut.ts";
export {
  type Bounds,
  type Definition,
  type Density,
  type Diffusible,
  type Distribution,
  distribution,
  type Numbers,
  type ParameterFault,
  type Support,
  sampleFrom,
} from "./distribution.ts";
export { type GaussianOptions, gaussian } from "./gaussian.ts";
export {
  type GaussianProcessOptions,
  type GaussianProcessPredictionOptions,
  gaussianProcess,
  gaussianProcessPrediction,
} from "./gaussian-process.ts";
export { type HiddenMarkovOptions, hiddenMarkov, stateProbabilities } from "./hidden-markov.ts";
export { hurdle, zeroInflated } from "./inflated.ts";
export {
  addKernels,
  type Kernel,
  type KernelOptions,
  linear,
  type MaternOptions,
  matern,
  multiplyKernels,
  periodic,
  rationalQuadratic,
  squaredExponential,
} from "./kernels.ts";
export { cauchy, gumbel, laplace, logistic, normal } from "./line.ts";
export { inverseWishart, lkj, wishart } from "./matrix.ts";
export { type Component, mixture } from "./mixture.ts";
export {
  type MultivariateNormal,
  type MultivariateNormalOptions,
  type MultivariateStudentOptions,
  multivariateNormal,
  multivariateStudentT,
} from "./multivariate-normal.ts";
export type { Covariance } from "./principal.ts";
export {
  type AutoregressionOptions,
  autoregression,
  lags,
  type RandomWalkOptions,
  randomWalk,
} from "./series.ts";
export { independent, transformed } from "./shaped.ts";
export {
  categorical,
  dirichlet,
  dirichletMultinomial,
  type Logits,
  multinomial,
  orderedLogistic,
} from "./shares.ts";
export { type StudentOptions, studentT } from "./student.ts";
export { beta, uniform, vonMises } from "./within.ts";
