/**
 * Domains of values: a set in Rⁿ, the map φ from Rᵐ onto its interior, a test of membership, and
 * the conversion of raw values, such as cells of a table or numbers of a parameter:
 *
 *   cells  → encode →  y  → φ⁻¹ →  x ∈ Rᵐ        x  → φ →  y  → decode →  cells
 *
 * For most domains cells are y. An integer is spread over its interval, a category is a corner of a
 * simplex, an angle is a point of the circle. Decoded values are always inside: numbers that
 * rounding moves to a bound are replaced by the nearest number inside.
 */
import type { Bijector } from "../bijector/index.ts";
import { fail, input, reference, type Tensor } from "../graph/index.ts";
import type { DomainSpec } from "./spec.ts";

/** A cell of a table: a number, or the label of a category. */
export type Cell = number | string;

/**
 * A domain of values: the map from Rᵐ onto it, the test of membership, and the conversion of cells.
 * Columns of tables and parameters of models use the same domains.
 */
export interface Domain {
  /** The kind of the domain, such as "positive" or "simplex". */
  readonly kind: string;
  /** The domain as JSON, from which `domainOf` makes it again; absent for a custom domain. */
  readonly spec?: DomainSpec;
  /** φ, from Rᵐ onto the interior. */
  readonly map: Bijector;
  /** m, the number of coordinates of x. */
  readonly dimension: number;
  /** n, the number of coordinates of y. */
  readonly size: number;
  /** The number of cells of a raw value. */
  readonly cells: number;
  /** The names of the cells, if the domain has them. */
  readonly names?: readonly string[];
  /** The number of uniform random numbers that `encode` needs. */
  readonly noise: number;
  /** Describes why a raw value is not in the domain; undefined if it is. */
  readonly fault: (cells: readonly Cell[]) => string | undefined;
  /** Converts a raw value in the domain to y, with `noise` uniform numbers from (0, 1). */
  readonly encode: (cells: readonly Cell[], u: ArrayLike<number>) => number[];
  /** Converts y to a raw value. */
  readonly decode: (y: ArrayLike<number>) => Cell[];
  /**
   * The logarithm of the volume in y of one unit of cells: the log-density of cells is that of y
   * plus this.
   */
  readonly logUnit: number;
  /** The same if it depends on the value and its x; the density is then a mean over u. */
  readonly logUnitOf?: (cells: readonly Cell[], x: ArrayLike<number>) => number;
  /**
   * The y of each label, in the first coordinates, which belong to the labels alone. Absent without
   * labels.
   */
  readonly codes?: readonly (readonly number[])[];
  /** φ(0) */
  readonly start: readonly number[];
  /**
   * The values that a model gets, computed from y, [..., n] → [..., k], such as all parts of a
   * simplex. Default: y.
   */
  readonly values?: (y: Tensor) => Tensor;
}

/** The definition of a domain, for `domain`. */
export interface DomainDefinition {
  readonly kind: string;
  readonly spec?: DomainSpec;
  readonly map: Bijector;
  readonly dimension: number;
  /** The number of coordinates of y. Default `dimension`. */
  readonly size?: number;
  /** The number of cells of a raw value. Default `size`. */
  readonly cells?: number;
  readonly names?: readonly string[];
  /** The number of uniform random numbers that `encode` needs. Default 0. */
  readonly noise?: number;
  /**
   * Describes why finite numbers are not in the domain; undefined if they are. For cells of text,
   * see `faultOfCells`.
   */
  readonly fault: (y: readonly number[]) => string | undefined;
  /** Replaces `fault` if cells are not all numbers. */
  readonly faultOfCells?: (cells: readonly Cell[]) => string | undefined;
  /** Converts a raw value to y. Default: the cells themselves. */
  readonly encode?: (cells: readonly Cell[], u: ArrayLike<number>) => number[];
  readonly decode?: (y: ArrayLike<number>) => Cell[];
  /** Default 0. */
  readonly logUnit?: number;
  readonly logUnitOf?: Domain["logUnitOf"];
  readonly codes?: Domain["codes"];
  readonly values?: (y: Tensor) => Tensor;
}

/**
 * Makes a domain from a map and a test of membership. Use it for custom domains.
 *
 *     const above = domain({
 *       kind: "above the diagonal",
 *       map: affineMatrix(…), dimension: 2,
 *       fault: ([a, b]) => (b > a ? undefined : `${b} is not above ${a}`),
 *     });
 */
export function domain(definition: DomainDefinition): Domain {
  const {
    kind,
    spec,
    map,
    dimension,
    names,
    noise = 0,
    logUnit = 0,
    logUnitOf,
    codes,
    fault,
    faultOfCells,
    values: seen,
  } = definition;
  const { size = dimension } = definition;
  const { cells = size } = definition;
  if (map.eventRank !== 1)
    fail("shape", `${kind}: its map acts on ${map.eventRank} axes`, "use a map of vectors");
  const start = startOf(map, dimension);
  if (start.length !== size)
    fail(
      "shape",
      `${kind}: its map gives ${start.length} coordinates, \`size\` is ${size}`,
      "set `size` to the number of coordinates of y",
    );
  const ofNumbers = (values: readonly Cell[]): string | undefined =>
    values.map(numberFault).find((found) => found !== undefined) ??
    fault(values as readonly number[]);
  return {
    kind,
    spec,
    map,
    dimension,
    size,
    cells,
    names,
    noise,
    fault: (values) =>
      values.length === cells
        ? (faultOfCells ?? ofNumbers)(values)
        : `${values.length} ${values.length === 1 ? "value" : "values"} given, ${cells} expected`,
    encode: definition.encode ?? ((values) => values as number[]),
    decode: definition.decode ?? ((y) => Array.from(y)),
    logUnit,
    ...(logUnitOf && { logUnitOf }),
    ...(codes && { codes }),
    start,
    values: seen,
  };
}

/** φ(0) */
export function startOf(map: Bijector, dimension: number): number[] {
  const zero = input("x", [1, dimension], "float64");
  return Array.from(
    reference([map.forward(zero)], new Map([[zero, new Float64Array(dimension)]]))[0],
  );
}

/** Describes why a cell is not a finite number; undefined if it is. */
export const numberFault = (cell: Cell): string | undefined =>
  typeof cell === "number" && Number.isFinite(cell)
    ? undefined
    : `${quoteCell(cell)} is not a finite number`;

/** A cell as text of limited length, for errors. */
export const quoteCell = (cell: Cell): string =>
  typeof cell === "string" ? `"${cell.slice(0, 60)}${cell.length > 60 ? "…" : ""}"` : String(cell);

/** The smallest number above x. */
export function above(x: number): number {
  if (x === 0) return Number.MIN_VALUE;
  if (x === Number.POSITIVE_INFINITY) return x;
  const number = Float64Array.of(x);
  new BigInt64Array(number.buffer)[0] += x > 0 ? 1n : -1n;
  return number[0];
}

/** The number in (low, high) that is closest to x. */
export const within = (x: number, low: number, high: number): number =>
  x > low ? (x < high ? x : -above(-high)) : above(low);

/** Throws unless an argument is an integer of at least `least`. */
export function requireCount(value: number, least: number, what: string): void {
  if (!(Number.isSafeInteger(value) && value >= least))
    fail("usage", `${what} is ${value}`, `give an integer of at least ${least}`);
}

/** The number of parts, which are given by number or by their names. */
export function partCount(parts: number | readonly string[], least: number, what: string): number {
  const n = typeof parts === "number" ? parts : parts.length;
  requireCount(n, least, `${what}: the number of parts`);
  if (typeof parts !== "number" && new Set(parts).size !== n)
    fail("usage", `${what}: two parts have the same name`, "give every part its own name");
  return n;
}

/** Throws unless low < high are finite with a number between them. */
export function requireInterval(low: number, high: number, what: string): void {
  if (!(Number.isFinite(low) && Number.isFinite(high) && low < high && above(low) < high))
    fail(
      "usage",
      `${what}: the interval from ${low} to ${high} is empty or unbounded`,
      "give two finite numbers, low < high",
    );
}
