/** diffeo/domain: domains of values, for columns of tables and for parameters of models. */
export { type DateOptions, date } from "./date.ts";
export { derived } from "./derived.ts";
export { type Cell, type Domain, type DomainDefinition, domain } from "./domain.ts";
export { type EmpiricalOptions, empirical } from "./empirical.ts";
export { correlation, covariance } from "./matrix.ts";
export { mixed } from "./mixed.ts";
export { type OrderedOptions, ordered } from "./ordered.ts";
export { type Product, type ProductPart, product } from "./product.ts";
export type { RecordedOptions } from "./recorded.ts";
export { type AngleOptions, angle, ball, sphere } from "./round.ts";
export {
  between,
  count,
  type IntegerOptions,
  integer,
  type PositiveOptions,
  positive,
  real,
} from "./scalar.ts";
export { type CategoryOptions, category, type SimplexOptions, simplex } from "./simplex.ts";
export type { Derivation, DomainSpec, PositiveMap, SimplexMap } from "./spec.ts";
export { domainOf } from "./stored.ts";

// For other packages of this repository; published types leave them out.

/** @internal */
export { bent, SPLINE_BOUND } from "./bent.ts";
/** @internal */
export { datePartsOf, weekdayOf } from "./date.ts";
/** @internal */
export { correlationMatrix, covarianceMatrix } from "./matrix.ts";
/** @internal */
export { mixedLabel, OTHER } from "./mixed.ts";
/** @internal */
export { logUnitIn } from "./product.ts";
/** @internal */
export { nearestMultiple } from "./recorded.ts";
/** @internal */
export { type Bend, domainSchema, LEAST_HEIGHT, simplexMaps } from "./spec.ts";
