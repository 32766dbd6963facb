/**
 * Parts of a whole: cells > 0 that sum to a total. y are their shares of it but one, the rest,
 * which the others leave; φ is any map onto {y > 0, Σy < 1}.
 *
 * A category of K labels is a point near a corner of the simplex of its K probabilities: the
 * label's own is 1 − ε, each other ε/(K − 1); the label of a point is that of its largest part.
 */
import {
  additiveLogistic,
  type Bijector,
  identity,
  isometricLogRatio,
  stickBreaking,
} from "../bijector/index.ts";
import { concat, fail, mul, slice, sub, sum, type Tensor } from "../graph/index.ts";
import { codePoints } from "./code-points.ts";
import { type Cell, type Domain, domain, partCount, quoteCell, requireCount } from "./domain.ts";
import { type SimplexMap, simplexMaps } from "./spec.ts";

/** φ onto {y > 0, Σy < 1} by its name. */
export function shareMap(name: SimplexMap): Bijector {
  if (!simplexMaps.includes(name))
    fail(
      "usage",
      `there is no map "${name}" onto a simplex`,
      `use one of ${simplexMaps.join(", ")}`,
    );
  return { additiveLogistic, isometricLogRatio, stickBreaking }[name]();
}

/** The total of the parts, and the map onto them. */
export interface SimplexOptions {
  /** What the parts sum to. Default 1. */
  readonly total?: number;
  /**
   * The part that is left out of y, by name or by number from 0. Default the last. It is known to
   * the digits that the sum of the others leaves, 10⁻¹⁶ of the total: choose one that is not tiny.
   */
  readonly rest?: string | number;
  /**
   * Exact zeros: a part of 0 stands for one somewhere below this share of the total, and what comes
   * out below it is 0. Without it a part of 0 is not inside.
   */
  readonly zeros?: number;
  /**
   * How far the sum of a raw value may be from the total, relative to it: rounded cells. Default
   * 10⁻⁶.
   */
  readonly tolerance?: number;
  /** Default additiveLogistic. */
  readonly map?: SimplexMap;
}

/** What rounding leaves of the rest, as a share of the total. */
const LEAST_REST = 2 ** -52;

function restOf(parts: number | readonly string[], n: number, rest: string | number): number {
  const at = typeof rest === "number" ? rest : typeof parts === "number" ? -1 : parts.indexOf(rest);
  if (!(Number.isInteger(at) && at >= 0 && at < n))
    fail(
      "usage",
      `simplex: there is no part ${quoteCell(rest)} to be the rest`,
      `use a number from 0 to ${n - 1} or a name`,
    );
  return at;
}

/** What is wrong with the parts of a row, as text. */
function faultOf(
  cells: readonly number[],
  { total, zeros, tolerance }: Readonly<Record<"total" | "zeros" | "tolerance", number>>,
): string | undefined {
  const wrong = cells.find((v) => !(v > 0 || (v === 0 && zeros > 0)));
  if (wrong === 0)
    return (
      "a part is 0, the bound itself; say by zeros below which share of the total a part is " +
      "called 0"
    );
  if (wrong !== undefined) return `the part ${wrong} is not above 0`;
  const sum = cells.reduce((a, b) => a + b, 0);
  return Math.abs(sum / total - 1) <= tolerance
    ? undefined
    : `the parts sum to ${sum}, not to ${total}`;
}

/** Parts that sum to a constant, by number or by name. */
export function simplex(parts: number | readonly string[], options: SimplexOptions = {}): Domain {
  const n = partCount(parts, 2, "simplex");
  const { total = 1, zeros = 0, tolerance = 1e-6, map = "additiveLogistic" } = options;
  if (!(total > 0 && Number.isFinite(total)))
    fail("usage", `simplex: the total is ${total}`, "give a number above 0");
  if (!(zeros >= 0 && zeros * n < 1))
    fail("usage", `simplex: zeros is ${zeros}`, `give a share below 1/${n}, or 0`);
  const rest = restOf(parts, n, options.rest ?? n - 1);
  const logUnit = -(n - 1) * Math.log(total);

  const fault = (cells: readonly number[]): string | undefined =>
    faultOf(cells, { total, zeros, tolerance });
  const encode = (cells: readonly Cell[], u: ArrayLike<number>): number[] => {
    const spread = (cells as readonly number[]).map((v, i) => (v === 0 ? u[i] * zeros * total : v));
    const sum = spread.reduce((a, b) => a + b, 0);
    const left = Math.max(spread[rest] / sum, LEAST_REST);
    const others = spread.filter((_, i) => i !== rest);
    const scale = (1 - left) / others.reduce((a, b) => a + b, 0);
    return others.map((v) => v * scale);
  };
  const decode = (y: ArrayLike<number>): number[] => {
    const others = Array.from(y, (v) => Math.max(v, Number.MIN_VALUE));
    others.splice(
      rest,
      0,
      Math.max(
        others.reduce((a, b) => a - b, 1),
        Number.MIN_VALUE,
      ),
    );
    const shares = zeros === 0 ? others : withZeros(others, zeros);
    return shares.map((v) => (v === 0 ? 0 : Math.max(v * total, Number.MIN_VALUE)));
  };
  return domain({
    kind: "simplex",
    spec: { kind: "simplex", parts: typeof parts === "number" ? parts : [...parts], ...options },
    map: shareMap(map),
    dimension: n - 1,
    cells: n,
    ...(typeof parts !== "number" && { names: parts }),
    noise: zeros > 0 ? n : 0,
    logUnit,
    // A part of 0 stands for anything below `zeros` of the total.
    ...(zeros > 0 && {
      logUnitOf: (cells: readonly Cell[]) =>
        logUnit + cells.filter((cell) => cell === 0).length * Math.log(zeros * total),
    }),
    fault,
    encode,
    decode,
    values: (y) => {
      const part = (from: number, to: number): Tensor[] =>
        from < to ? [slice(y, ...y.shape.slice(1).map(() => null), [from, to])] : [];
      const left = sub(1, sum(y, -1, { keepDims: true }));
      return mul(concat([...part(0, rest), left, ...part(rest, n - 1)], -1), total);
    },
  });
}

/** Shares below a bound are 0, and the others make up for them in proportion. */
function withZeros(shares: readonly number[], bound: number): number[] {
  const kept = shares.map((v) => (v < bound ? 0 : v));
  const sum = kept.reduce((a, b) => a + b, 0);
  return kept.map((v) => v / sum);
}

/** How far the points of labels lie from the vertices. */
export interface CategoryOptions {
  /**
   * How many numbers a label is coded by, where labels are many: each is a point of its own. Default:
   * one fewer than there are labels, a corner of the simplex.
   */
  readonly dimension?: number;
  /** ε. Default 0.01. */
  readonly soften?: number;
  /** Default additiveLogistic. */
  readonly map?: SimplexMap;
}

/** One of several labels, text or numbers. */
export function category(labels: readonly Cell[], options: CategoryOptions = {}): Domain {
  const k = labels.length;
  requireCount(k, 2, "category: the number of labels");
  const { soften = 0.01, map = "additiveLogistic" } = options;
  if (!(soften > 0 && soften < 1 - 1 / k))
    fail(
      "usage",
      `category: soften is ${soften}`,
      `give a share between 0 and 1 − 1/${k}, where all labels are alike`,
    );
  const places = new Map(labels.map((label, i) => [label, i]));
  if (places.size !== k)
    fail("usage", "category: two labels are the same", "give every label once");
  if (options.dimension !== undefined) return embedded(labels, places, options.dimension);
  const codeOf = (label: number): number[] =>
    Array.from({ length: k - 1 }, (_, i) => (label === i ? 1 - soften : soften / (k - 1)));
  return domain({
    kind: "category",
    spec: { kind: "category", labels: [...labels], ...options },
    map: shareMap(map),
    dimension: k - 1,
    cells: 1,
    codes: labels.map((_, label) => codeOf(label)),
    fault: () => undefined,
    faultOfCells: ([label]) => labelFault(label, labels, places),
    encode: ([label]) => codeOf(places.get(label) as number),
    decode: (y) => {
      const shares = Array.from(y);
      shares.push(shares.reduce((a, b) => a - b, 1));
      return [labels[shares.indexOf(Math.max(...shares))]];
    },
  });
}

type Places = ReadonlyMap<Cell, number>;

/** Why a label is none of a list. */
const labelFault = (label: Cell, labels: readonly Cell[], places: Places): string | undefined =>
  places.has(label)
    ? undefined
    : `${quoteCell(label)} is none of ${labels.slice(0, 20).map(quoteCell).join(", ")}${labels.length > 20 ? ", …" : ""}`;

/** Labels as points of Rᵈ (`code-points.ts`); the label of a point is the nearest. */
function embedded(labels: readonly Cell[], places: Places, dimension: number): Domain {
  requireCount(dimension, 1, "category: dimension");
  const points = codePoints(labels.length, dimension);
  const distance = (point: readonly number[], y: ArrayLike<number>): number =>
    point.reduce((sum, v, i) => sum + (v - y[i]) ** 2, 0);
  return domain({
    kind: "category",
    spec: { kind: "category", labels: [...labels], dimension },
    map: identity(),
    dimension,
    cells: 1,
    codes: points,
    fault: () => undefined,
    faultOfCells: ([label]) => labelFault(label, labels, places),
    encode: ([label]) => points[places.get(label) as number],
    decode: (y) => {
      const far = points.map((point) => distance(point, y));
      const least = far.reduce((best, v, i) => (v < far[best] ? i : best), 0);
      return [labels[least]];
    },
  });
}
