/**
 * log-likelihood of rows in nats, in the units of their cells:
 *
 *   log q(row) = log p_t(m x) + c log m − log|det ∂y/∂x| + (d/2) log 2πσ²      x = φ⁻¹(y),  m and σ of the level where rows are data
 *
 * with c coordinates of numbers, whose density it is of, and d of labels, whose probability. For
 * the latter the law has atoms c_k in x and noise of its own there, so that noised
 *
 *   p_t(m c_k, x) = Σⱼ p(j, x) N(m c_k; m c_j, σ²I) = p(k, x) (2πσ²)^{−d/2}
 *
 * but for the other codes, which are many σ away. So have whole numbers that are atoms
 * (`atoms.ts`), and a number far beyond all that were seen has none. Any other whole number k is
 * spread over [k, k + 1): its probability is the integral of
 * the density over it, the mean over u of q(k + u), here over `spread` values of u that are spread
 * evenly in every column (a Latin hypercube of midpoints). Parts of a whole that are 0 stand for
 * anything below `zeros` and have a probability likewise. So what comes out is log of (a
 * probability of all labels and whole numbers) × (a density of all other cells).
 *
 * Holes are left out: a row that has them gets the likelihood of its other cells, by the network of
 * `given.ts` with the holes hidden.
 */
import type { Product, ProductPart } from "diffeo/domain";
import { constant, expand, fail, matmul } from "diffeo/graph";
import { transposed } from "diffeo/host";
import { key as keyOf, permutation } from "diffeo/random";
import {
  addProduct,
  cellsOf,
  DRAWN,
  encodeRows,
  factor,
  HIDDEN,
  isBeyond,
  isCoded,
  mapRows,
  type OpenCell,
  type Pattern,
  partCells,
  type Row,
  tornFault,
  WHOLE_GROUPS,
} from "../encode/index.ts";
import {
  givenPredictorOf,
  intoFlow,
  LAST_LEVEL,
  type OpenedTable,
  type Predictor,
  predictorOf,
} from "../network/index.ts";
import { type Field, type FlowOptions, logDensityOf } from "./likelihood.ts";

export interface LogLikelihoodOptions extends FlowOptions {
  /** Values of u at which the density of a row with integers is averaged. Default 8. */
  readonly spread?: number;
}

/** Midpoints in every column, `count` rows of `width` numbers. */
function hypercube(count: number, width: number): Float64Array {
  const out = new Float64Array(count * width);
  for (let j = 0; j < width; j++)
    permutation(keyOf(`column ${j}`), count).data.forEach((place, i) => {
      out[i * width + j] = (place + 0.5) / count;
    });
  return out;
}

/** An orthonormal basis of the directions that a projection keeps, as columns [n, r]. */
function basis(
  projection: Float64Array,
  n: number,
): { readonly columns: Float64Array; readonly r: number } {
  const found: Float64Array[] = [];
  const rank = Math.round(
    Array.from({ length: n }, (_, i) => projection[i * (n + 1)]).reduce((s, v) => s + v, 0),
  );
  const left = Array.from({ length: n }, (_, i) => projection.slice(i * n, (i + 1) * n));
  const norm = (v: Float64Array): number => Math.hypot(...v);
  while (found.length < rank) {
    const v = left.reduce((a, b) => (norm(b) > norm(a) ? b : a));
    const length = norm(v);
    const unit = v.map((value) => value / length);
    found.push(unit);
    for (const w of left) {
      const along = w.reduce((s, value, i) => s + value * unit[i], 0);
      for (let i = 0; i < n; i++) w[i] -= along * unit[i];
    }
  }
  const columns = new Float64Array(n * rank);
  found.forEach((v, k) => {
    for (let i = 0; i < n; i++) columns[i * rank + k] = v[i];
  });
  return { columns, r: rank };
}

/** The field of rows of one pattern of holes, and the way from x to its coordinates. */
function fieldOf(model: OpenedTable, pattern: Pattern | undefined) {
  const n = model.domain.dimension;
  if (!pattern) {
    const field: Field = { name: "rows", n, predict: predictorOf(model) };
    return { field, coordinates: (x: Float64Array) => x };
  }
  const { columns, r } = basis(pattern.free, n);
  const network = givenPredictorOf(model);
  const predict: Predictor = (w, lambda) => {
    const q = constant({ shape: [n, r], dtype: "float64", data: columns }, w.dtype);
    const back = constant(
      { shape: [r, n], dtype: "float64", data: transposed(columns, n, r) },
      w.dtype,
    );
    const x = matmul(w, back);
    const beside = constant([...new Array<number>(n).fill(0), ...pattern.flags], w.dtype);
    const around = expand(beside, [...w.shape.slice(0, -1), beside.shape[0]]);
    return matmul(network(x, around, lambda), q);
  };
  const field: Field = { name: `rows with holes ${pattern.flags.join("")}`, n: r, predict };
  const coordinates = (x: Float64Array): Float64Array => {
    const out = new Float64Array((x.length / n) * r);
    for (let row = 0; row < x.length / n; row++)
      for (let i = 0; i < n; i++)
        for (let k = 0; k < r; k++) out[row * r + k] += x[row * n + i] * columns[i * r + k];
    return out;
  };
  return { field, coordinates };
}

/** log of what a part of cells is the probability or density of, beyond the density of its y. */
function unitOf(part: ProductPart, cells: readonly OpenCell[]): number {
  const { logUnit, spec } = part.domain;
  if (spec?.kind !== "simplex" || !spec.zeros) return logUnit;
  const own = partCells(part, cells) ?? [];
  return (
    logUnit + own.filter((cell) => cell === 0).length * Math.log(spec.zeros * (spec.total ?? 1))
  );
}

/** log|det ∂y/∂z| of parts of numbers, a row. */
function volumes(
  { dimension: n }: Product,
  z: Float64Array,
  parts: readonly ProductPart[],
): Float64Array {
  const rows = z.length / n;
  const out = new Float64Array(rows);
  for (const { domain: own, at } of parts) {
    const d = own.dimension;
    const coordinates = new Float64Array(rows * d);
    for (let i = 0; i < rows; i++)
      coordinates.set(z.subarray(i * n + at.x, i * n + at.x + d), i * d);
    mapRows(coordinates, d, (p) => own.map.logDet(p)).forEach((v, i) => {
      out[i] += v;
    });
  }
  return out;
}

/** log of the probability that goes with a density of 1 at a code, of so many coordinates. */
export function atomMass(coordinates: number): number {
  const variance = 1 / (1 + Math.exp(LAST_LEVEL));
  // A density of x is that of m x times mⁿ, which codes have no part in.
  return (coordinates / 2) * (Math.log(2 * Math.PI * variance) - Math.log1p(-variance));
}

/** log q of points z that have the same holes. */
async function likelihoodOf(
  model: OpenedTable,
  z: Float64Array,
  cells: readonly (readonly OpenCell[])[],
  options: FlowOptions,
): Promise<Float64Array> {
  const { domain, standard, atoms = {}, flow: learned, graphs, patternOf } = model;
  const n = domain.dimension;
  const there = domain.parts.filter(({ at }) => !Number.isNaN(z[at.x]));
  if (there.length === 0) return new Float64Array(z.length / n);
  const whole = there.length === domain.parts.length;
  const states = domain.parts.map((part) => (there.includes(part) ? DRAWN : HIDDEN));
  const pattern = patternOf(states);
  const x = new Float64Array(z.length);
  const centred = z.map((v, i) => v - standard.mean[i % n]);
  for (let i = 0; i < x.length; i += n)
    addProduct(x, i, centred, i, pattern.known, n, { on: pattern.isKnown });
  const { field, coordinates } = fieldOf(model, whole ? undefined : pattern);
  // A flow is of whole rows: x of the network is T of what is x here.
  const through = whole && learned ? await intoFlow(learned, x, graphs) : undefined;
  const found = await logDensityOf(graphs, field, through?.x ?? coordinates(x), options);
  const parts = there.filter((part) => !isCoded(part, atoms));
  const numbers = parts.flatMap(({ domain: own, at }) =>
    Array.from({ length: own.dimension }, (_, i) => at.x + i),
  );
  const l = factor(standard, numbers);
  const root = numbers.reduce((s, _, i) => s + Math.log(l[i * (numbers.length + 1)]), 0);
  const mass = atomMass(field.n - numbers.length);
  const volume = volumes(domain, z, parts);
  return found.map((v, i) => {
    if (there.some((part) => isBeyond(part, atoms, cells[i]))) return -Infinity;
    const units = parts.reduce((s, part) => s + unitOf(part, cells[i]), 0);
    return v + (through?.logDet[i] ?? 0) - root - volume[i] + mass + units;
  });
}

/** Rows by which of their parts are holes. */
function byHoles(rows: readonly (readonly OpenCell[])[], { parts }: Product): readonly number[][] {
  const groups = new Map<string, number[]>();
  rows.forEach((row, i) => {
    const name = parts.map((part) => (partCells(part, row) ? 1 : 0)).join("");
    const group = groups.get(name);
    if (group) group.push(i);
    else groups.set(name, [i]);
  });
  return [...groups.values()];
}

const logMeanExp = (values: readonly number[]): number => {
  const most = Math.max(...values);
  if (most === -Infinity) return most;
  return most + Math.log(values.reduce((s, v) => s + Math.exp(v - most), 0) / values.length);
};

/** log q of each row, as above. */
export async function tableLogLikelihood(
  model: OpenedTable,
  rows: readonly Row[],
  { spread = 8, ...options }: LogLikelihoodOptions = {},
): Promise<Float64Array> {
  const { domain } = model;
  if (!(Number.isSafeInteger(spread) && spread >= 1))
    fail("usage", `spread is ${spread}`, "give a whole number, at least 1");
  const cells = rows.map((row, i) => {
    const own = cellsOf(row, domain.columns, i, "refused");
    const fault = tornFault(domain, own);
    if (fault !== undefined) fail("data", `row ${i + 1}: ${fault}`, WHOLE_GROUPS);
    return own;
  });
  const { atoms = {} } = model;
  const times = domain.parts.some((part) => part.domain.noise > 0 && !isCoded(part, atoms))
    ? spread
    : 1;
  const u = hypercube(times, domain.noise);
  const out = new Float64Array(rows.length);
  for (const group of byHoles(cells, domain)) {
    const own = group.flatMap((i) => Array.from({ length: times }, () => cells[i]));
    const shifts = Float64Array.from(
      { length: own.length * domain.noise },
      (_, at) => u[at % u.length],
    );
    const found = await likelihoodOf(model, encodeRows(own, domain, shifts, atoms), own, options);
    group.forEach((row, i) => {
      out[row] = logMeanExp(Array.from(found.subarray(i * times, (i + 1) * times)));
    });
  }
  return out;
}
