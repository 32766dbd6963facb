/**
 * diffeo/distribution: analytic distributions, with their scores and those of their noised selves.
 */
export { type BananaOptions, banana } from "./banana.ts";
export { type Density, type Diffusible, type Distribution, sampleFrom } from "./distribution.ts";
export { type GaussianOptions, gaussian } from "./gaussian.ts";
export { type Component, mixture } from "./mixture.ts";
export type { Covariance } from "./principal.ts";
export { type StudentOptions, studentT } from "./student.ts";
