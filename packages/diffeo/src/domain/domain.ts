/**
 * Where a value lives: a set in Rⁿ, the map φ from Rᵐ onto its inside, what is inside, and how a
 * raw value, cells of a table or numbers of a parameter, gets in and out:
 *
 *   cells  → encode →  y  → φ⁻¹ →  x ∈ Rᵐ        x  → φ →  y  → decode →  cells
 *
 * For most domains cells are y. An integer is spread over its interval, a category is a corner of a
 * simplex, an angle to a point of the circle. Nothing that comes out is outside, whatever rounding
 * did: what falls on a bound is moved to the nearest number within.
 */
import type { Bijector } from "../bijector/index.ts";
import { fail, input, reference, type Tensor } from "../graph/index.ts";
import type { DomainSpec } from "./spec.ts";

/** A cell of a table: a number, or the label of a category. */
export type Cell = number | string;

/** Where values live: the map onto them, what is inside, and how cells are read and written. */
export interface Domain {
  /** What it is called: "positive", "simplex", … */
  readonly kind: string;
  /** All that is needed to make it again, as JSON; absent for a custom domain. */
  readonly spec?: DomainSpec;
  /** φ, from Rᵐ onto the inside. */
  readonly map: Bijector;
  /** m, the coordinates of x. */
  readonly dimension: number;
  /** n, the coordinates of y. */
  readonly size: number;
  /** How many cells a raw value has. */
  readonly cells: number;
  /** What the cells are called, where the domain itself names them. */
  readonly names?: readonly string[];
  /** How many uniform numbers the way in takes. */
  readonly noise: number;
  /** Why a raw value is not inside; undefined where it is. */
  readonly fault: (cells: readonly Cell[]) => string | undefined;
  /** y of a raw value that is inside, with `noise` numbers from (0, 1). */
  readonly encode: (cells: readonly Cell[], u: ArrayLike<number>) => number[];
  /** The raw value of y. */
  readonly decode: (y: ArrayLike<number>) => Cell[];
  /** log of the y-volume of one unit of cells: a log-density of cells is that of y plus this. */
  readonly logUnit: number;
  /** The same where it depends on the value and its x, and is the logarithm of a mean over u. */
  readonly logUnitOf?: (cells: readonly Cell[], x: ArrayLike<number>) => number;
  /**
   * The y of each label, in the first coordinates, which are the labels' alone. Absent where there
   * are none.
   */
  readonly codes?: readonly (readonly number[])[];
  /** φ(0) */
  readonly start: readonly number[];
  /** What a model sees of y, [..., n] → [..., k]: all parts of a simplex, say. Absent: y itself. */
  readonly values?: (y: Tensor) => Tensor;
}

/** What one says of a domain; the rest follows. */
export interface DomainDefinition {
  readonly kind: string;
  readonly spec?: DomainSpec;
  readonly map: Bijector;
  readonly dimension: number;
  /** Default `dimension`. */
  readonly size?: number;
  /** Default `size`. */
  readonly cells?: number;
  readonly names?: readonly string[];
  /** Default 0. */
  readonly noise?: number;
  /**
   * Whether numbers are inside; that they are finite numbers is known. For cells of text, see
   * `faultOfCells`.
   */
  readonly fault: (y: readonly number[]) => string | undefined;
  /** Instead of `fault`, where cells are not all numbers. */
  readonly faultOfCells?: (cells: readonly Cell[]) => string | undefined;
  /** Default: the cells as they are. */
  readonly encode?: (cells: readonly Cell[], u: ArrayLike<number>) => number[];
  readonly decode?: (y: ArrayLike<number>) => Cell[];
  /** Default 0. */
  readonly logUnit?: number;
  readonly logUnitOf?: Domain["logUnitOf"];
  readonly codes?: Domain["codes"];
  readonly values?: (y: Tensor) => Tensor;
}

/**
 * A domain from a map and a test of what is inside; custom domains are made by this too.
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
      `${kind}: its map makes ${start.length} coordinates of ${dimension}, not ${size}`,
      "say its size",
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
        : `${values.length} ${values.length === 1 ? "value" : "values"} where ${cells} belong`,
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

/** Why a cell is not a finite number. */
export const numberFault = (cell: Cell): string | undefined =>
  typeof cell === "number" && Number.isFinite(cell)
    ? undefined
    : `${quoteCell(cell)} is not a finite number`;

/** A cell in an error, of bounded length. */
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

/** The number within (low, high) that is nearest to x. */
export const within = (x: number, low: number, high: number): number =>
  x > low ? (x < high ? x : -above(-high)) : above(low);

/** An integer in a list of arguments. */
export function requireCount(value: number, least: number, what: string): void {
  if (!(Number.isSafeInteger(value) && value >= least))
    fail("usage", `${what} is ${value}`, `give an integer, at least ${least}`);
}

/** How many parts there are, said by number or by their names. */
export function partCount(parts: number | readonly string[], least: number, what: string): number {
  const n = typeof parts === "number" ? parts : parts.length;
  requireCount(n, least, `${what}: the number of parts`);
  if (typeof parts !== "number" && new Set(parts).size !== n)
    fail("usage", `${what}: two parts have the same name`, "give every part a name of its own");
  return n;
}

/** Two ends of an interval, low < high. */
export function requireInterval(low: number, high: number, what: string): void {
  if (!(Number.isFinite(low) && Number.isFinite(high) && low < high && above(low) < high))
    fail(
      "usage",
      `${what}: ${low} and ${high} have no number between them`,
      "give two finite numbers, low < high",
    );
}
