/**
 * Schema: what each column of a table is.
 *
 * In: a table of texts (`CellTable`) and the rules that a person wrote for its columns.
 * Out: a domain for each column or group of columns, with the reason why.
 */
export { formatRule } from "./columns.ts";
export { inferColumns, layoutOf, namedDomains, otherDomains } from "./infer.ts";
export type { Inferred } from "./inferred.ts";
