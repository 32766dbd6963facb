/**
 * diffeo/domain: where values live, one vocabulary for columns of tables and for parameters of
 * models.
 */
export { bent, SPLINE_BOUND } from "./bent.ts";
export { type DateOptions, type DateParts, date, datePartsOf, weekdayOf } from "./date.ts";
export { type Cell, type Domain, type DomainDefinition, domain } from "./domain.ts";
export { type EmpiricalOptions, empirical } from "./empirical.ts";
export { correlation, correlationMatrix, covariance, covarianceMatrix } from "./matrix.ts";
export { mixed, mixedLabel, OTHER } from "./mixed.ts";
export { type OrderedOptions, ordered } from "./ordered.ts";
export { logUnitIn, type Product, type ProductPart, product } from "./product.ts";
export { nearestMultiple, type RecordedOptions } from "./recorded.ts";
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
export {
  type Bend,
  type DomainSpec,
  domainSchema,
  LEAST_HEIGHT,
  type PositiveMap,
  positiveMaps,
  type SimplexMap,
  simplexMaps,
} from "./spec.ts";
export { domainOf } from "./stored.ts";
