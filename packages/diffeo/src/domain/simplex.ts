/**
 * Parts of a whole: cells > 0 that sum to a total. y has the shares of all parts but one, the rest;
 * φ is any map onto {y > 0, Σy < 1}.
 *
 * A category of K labels is a point close to a corner of the simplex of K probabilities: that of
 * the label is 1 − ε, all others are ε/(K − 1). The label of a point is that of its greatest part.
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

/** The map φ onto {y > 0, Σy < 1} with the given name. */
export function shareMap(name: SimplexMap): Bijector {
  if (!simplexMaps.includes(name))
    fail(
      "usage",
      `unknown \`map\` "${name}" onto a simplex`,
      `use one of ${simplexMaps.join(", ")}`,
    );
  return { additiveLogistic, isometricLogRatio, stickBreaking }[name]();
}

/** Options of `simplex`: the total, the rest, zeros, and the map. */
export interface SimplexOptions {
  /** The sum of the parts. Default 1. */
  readonly total?: number;
  /**
   * The part that is omitted in y, by name or by index from 0. Default the last one. It is 1 minus
   * the sum of the others, with an error of 10⁻¹⁶ of the total, so choose one that is not tiny.
   */
  readonly rest?: string | number;
  /**
   * Exact zeros: a part of 0 represents any part below this share of the total, and decoded parts
   * below it are 0. Default 0; then a part of 0 is not in the domain.
   */
  readonly zeros?: number;
  /** The relative tolerance of the sum of a raw value, for rounded cells. Default 10⁻⁶. */
  readonly tolerance?: number;
  /** The map onto the shares. Default `additiveLogistic`. */
  readonly map?: SimplexMap;
}

/** The error of the rest by rounding, as a share of the total. */
const LEAST_REST = 2 ** -52;

function restOf(parts: number | readonly string[], n: number, rest: string | number): number {
  const at = typeof rest === "number" ? rest : typeof parts === "number" ? -1 : parts.indexOf(rest);
  if (!(Number.isInteger(at) && at >= 0 && at < n))
    fail(
      "usage",
      `simplex: \`rest\` is ${quoteCell(rest)}, which is not one of the parts`,
      `use an index from 0 to ${n - 1} or a name`,
    );
  return at;
}

/** Describes what is wrong with the parts of a row; undefined if nothing is. */
function faultOf(
  cells: readonly number[],
  { total, zeros, tolerance }: Readonly<Record<"total" | "zeros" | "tolerance", number>>,
): string | undefined {
  const wrong = cells.find((v) => !(v > 0 || (v === 0 && zeros > 0)));
  if (wrong === 0)
    return (
      "a part is 0, which is the bound; set `zeros` to the share of the total below which parts " +
      "are recorded as 0"
    );
  if (wrong !== undefined) return `the part ${wrong} is not above 0`;
  const sum = cells.reduce((a, b) => a + b, 0);
  return Math.abs(sum / total - 1) <= tolerance
    ? undefined
    : `the parts sum to ${sum}, not ${total}`;
}

/** The domain of positive parts that sum to a constant.
 *
 * @param parts the number of parts, or their names */
export function simplex(parts: number | readonly string[], options: SimplexOptions = {}): Domain {
  const n = partCount(parts, 2, "simplex");
  const { total = 1, zeros = 0, tolerance = 1e-6, map = "additiveLogistic" } = options;
  if (!(total > 0 && Number.isFinite(total)))
    fail("usage", `simplex: \`total\` is ${total}`, "give a number above 0");
  if (!(zeros >= 0 && zeros * n < 1))
    fail("usage", `simplex: \`zeros\` is ${zeros}`, `give a share below 1/${n}, or 0`);
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
    // A part of 0 represents any part below `zeros` of the total.
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

/** Sets shares below a bound to 0 and scales the others in proportion. */
function withZeros(shares: readonly number[], bound: number): number[] {
  const kept = shares.map((v) => (v < bound ? 0 : v));
  const sum = kept.reduce((a, b) => a + b, 0);
  return kept.map((v) => v / sum);
}

/** Options of `category`: the code of labels. */
export interface CategoryOptions {
  /**
   * The number of coordinates of a label's code, for many labels: each label is a point of Rᵈ.
   * Default: one less than the number of labels, with labels at the corners of a simplex.
   */
  readonly dimension?: number;
  /** ε, the distance from the corner. Default 0.01. */
  readonly soften?: number;
  /** The map onto the simplex. Default `additiveLogistic`. */
  readonly map?: SimplexMap;
}

/** The domain of one of several labels, which are text or numbers. */
export function category(labels: readonly Cell[], options: CategoryOptions = {}): Domain {
  const k = labels.length;
  requireCount(k, 2, "category: the number of labels");
  const { soften = 0.01, map = "additiveLogistic" } = options;
  if (!(soften > 0 && soften < 1 - 1 / k))
    fail(
      "usage",
      `category: \`soften\` is ${soften}`,
      `give a share between 0 and 1 − 1/${k}, at which all labels are equal`,
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

/** Describes why a label is not in a list; undefined if it is. */
const labelFault = (label: Cell, labels: readonly Cell[], places: Places): string | undefined =>
  places.has(label)
    ? undefined
    : `${quoteCell(label)} is not one of ` +
      `${labels.slice(0, 20).map(quoteCell).join(", ")}${labels.length > 20 ? ", …" : ""}`;

/** Labels as points of Rᵈ (`code-points.ts`); the label of a point is the closest one. */
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
