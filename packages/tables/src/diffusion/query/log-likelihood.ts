/**
 * log-likelihood of rows in nats, in the units of their cells:
 *
 *   log q(row) = log p_t(m x) + c log m − log|det ∂y/∂x| + (d/2) log 2πσ²
 *   x = φ⁻¹(y),  m and σ of the level where rows are data
 *
 * with c coordinates of numbers, whose density it is of, and d of labels, whose probability. For
 * the latter the distribution has atoms c_k in x and noise of its own there, so that noised
 *
 *   p_t(m c_k, x) = Σⱼ p(j, x) N(m c_k; m c_j, σ²I) = p(k, x) (2πσ²)^{−d/2}
 *
 * but for the other codes, which are many σ away. So have integers that are atoms
 * (`atoms.ts`), and a number far beyond all that were seen has none. Any other integer k is
 * spread over [k, k + 1): its probability is the integral of
 * the density over it, the mean over u of q(k + u), here over `spread` values of u that are spread
 * evenly in every column (a Latin hypercube of midpoints). Parts of a whole that are 0 stand for
 * anything below `zeros` and have a probability likewise, and so has an atom of a number with point
 * masses, for which any score stands. So what comes out is log of (a
 * probability of all labels and integers) × (a density of all other cells).
 *
 * Missing values are left out: a row that has them gets the likelihood of its other cells, by the
 * network of `given.ts` with the missing parts hidden.
 */

import { logUnitIn, type Product, type ProductPart } from "diffeo/domain";
import { fail, type Tensor } from "diffeo/graph";
import { key as keyOf, permutation } from "diffeo/random";
import {
  addKnown,
  cellsOf,
  DRAWN,
  encodeRows,
  freedomOf,
  HIDDEN,
  isBeyond,
  isCoded,
  logVolumeOf,
  type OpenCell,
  type Pattern,
  type Patterns,
  partCells,
  patternsOf,
  type Related,
  type Row,
  scoreRanges,
  settledCells,
  statesOfKnown,
  tornFault,
  WHOLE_GROUPS,
  withoutIdle,
} from "../encode/index.ts";
import {
  type Coordinates,
  givenCoordinates,
  givenPredictorOf,
  intoFlow,
  LAST_LEVEL,
  type OpenedTable,
  predictorOf,
  sideSize,
} from "../network/index.ts";
import { logDensityOf } from "./likelihood.ts";
import type { Field, FlowOptions } from "./likelihood-types.ts";
import { masses, volumes } from "./masked-likelihood.ts";

/** How log-likelihoods are integrated. */
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

/** The field of rows without missing values, or of those with some. */
function fieldOf(model: OpenedTable, isTorn: boolean): Field {
  const n = model.domain.dimension;
  if (!isTorn) return { name: "rows", n, predict: predictorOf(model) };
  const network = givenPredictorOf(model);
  const { domain } = givenCoordinates(model);
  return {
    name: "rows with missing values",
    n: domain.dimension,
    side: sideSize(domain),
    predict: (x, lambda, beside) => network(x, beside as Tensor, lambda),
  };
}

/** log of the probability that goes with a density of 1 at a code, of so many coordinates. */
export function atomMass(coordinates: number): number {
  const variance = 1 / (1 + Math.exp(LAST_LEVEL));
  // A density of x is that of m x times mⁿ, which codes have no part in.
  return (coordinates / 2) * (Math.log(2 * Math.PI * variance) - Math.log1p(-variance));
}

/** What rows with the same parts share. */
interface SameParts {
  readonly pattern: Pattern;
  /** The parts that are there and have a density. */
  readonly measured: readonly ProductPart[];
  /** What takes the density of x to that of z, and to a probability in labels. */
  readonly constant: number;
}

/** What rows that have some of their parts share, by the states of these. */
function sharedBy(
  { domain, standard: { matrix }, atoms = {} }: Coordinates,
  related: Related | undefined,
  patterns: Patterns,
) {
  const n = domain.dimension;
  const found = new Map<string, SameParts>();
  return (z: Float64Array): SameParts => {
    const isKnown = (k: number): boolean => !Number.isNaN(z[domain.parts[k].at.x]);
    const states = Array.from(
      related
        ? statesOfKnown(related, isKnown, DRAWN, HIDDEN)
        : domain.parts.map((_, k) => (isKnown(k) ? DRAWN : HIDDEN)),
    );
    const name = states.join("");
    const before = found.get(name);
    if (before) return before;
    const there = domain.parts.filter((_, k) => states[k] === DRAWN);
    const numbers = there.filter((part) => !isCoded(part, atoms));
    const ofNumbers = patterns.of(
      domain.parts.map((part) => (numbers.includes(part) ? DRAWN : HIDDEN)),
    );
    const pattern = patterns.of(states);
    // Numbers that labels come before are whitened apart from all others.
    const scores = scoreRanges({ parts: there }, atoms).map(([i]) => i);
    const volume = scores.reduce((s, i) => s + Math.log(Math.abs(matrix[i * (n + 1)])), 0);
    const labels = freedomOf(pattern) - freedomOf(ofNumbers) - scores.length;
    const shared: SameParts = {
      pattern,
      measured: there.filter((part) => part.domain.logUnitOf || numbers.includes(part)),
      constant: atomMass(labels) - logVolumeOf(ofNumbers) - volume,
    };
    found.set(name, shared);
    return shared;
  };
}

/** log q of points z, all of which have missing values or none has. */
async function likelihoodOf(
  model: OpenedTable,
  z: Float64Array,
  cells: readonly (readonly OpenCell[])[],
  isTorn: boolean,
  options: FlowOptions,
): Promise<Float64Array> {
  if (model.bins) return masses(model, z, cells, options);
  const { atoms = {}, flow: learned, graphs } = model;
  const own = isTorn ? givenCoordinates(model) : model;
  const { domain, standard } = own;
  const n = domain.dimension;
  const shared = sharedBy(
    own,
    isTorn ? model.related : undefined,
    isTorn ? model.patterns() : patternsOf(domain, standard),
  );
  const rows = cells.map((_, i) => shared(z.subarray(i * n, (i + 1) * n)));
  const x = new Float64Array(z.length);
  const centred = z.map((v, i) => v - standard.mean[i % n]);
  rows.forEach(({ pattern }, i) => {
    const [from, to] = [i * n, (i + 1) * n];
    addKnown(pattern, centred.subarray(from, to), { drawn: x.subarray(from, to) });
  });
  // A flow is of whole rows: x of the network is T of what is x here.
  const through = !isTorn && learned ? await intoFlow(learned, x, graphs) : undefined;
  const found = await logDensityOf(
    graphs,
    fieldOf(model, isTorn),
    {
      x: through?.x ?? x,
      ...(isTorn && { patterns: rows.map(({ pattern }) => pattern) }),
    },
    options,
  );
  const isNumber = (part: ProductPart): boolean => !isCoded(part, atoms);
  const volume = volumes(domain, z, domain.parts.filter(isNumber));
  return found.map((v, i) => {
    const { measured, constant } = rows[i];
    if (domain.parts.some((part) => isBeyond(part, atoms, cells[i]))) return -Infinity;
    const own = z.subarray(i * n, (i + 1) * n);
    const units = measured.reduce(
      (s, part) => s + logUnitIn(part, partCells(part, cells[i]) ?? [], own),
      0,
    );
    return v + (through?.logDet[i] ?? 0) - volume[i] + constant + units;
  });
}

/** The cells of a row in all columns, with those that follow from others. */
function rowCells({ domain, related }: OpenedTable, row: Row, at: number): readonly OpenCell[] {
  if (!related) return cellsOf(row, domain.columns, at, "refused");
  const found = settledCells(related, cellsOf(row, related.domain.columns, at, "absent"));
  return typeof found === "string"
    ? fail("data", `row ${at + 1}: ${found}`, "fix or drop the row")
    : found;
}

/** Rows without missing values, with some, and with nothing but these. */
function byMissing(
  rows: readonly (readonly OpenCell[])[],
  { parts }: Product,
  related: Related | undefined,
) {
  const groups = { whole: [] as number[], torn: [] as number[] };
  const helpers = related?.domain.parts.slice(parts.length) ?? [];
  rows.forEach((row, i) => {
    const isThere = (part: ProductPart): boolean => partCells(part, row) !== undefined;
    if (parts.every(isThere)) groups.whole.push(i);
    else if (parts.some(isThere) || helpers.some(isThere)) groups.torn.push(i);
  });
  return groups;
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
  const { domain, related } = model;
  if (!(Number.isSafeInteger(spread) && spread >= 1))
    fail("usage", `spread is ${spread}`, "give an integer, at least 1");
  const cells = rows.map((row, i) => {
    const own = rowCells(model, row, i);
    const fault = tornFault(domain, own);
    if (fault !== undefined) fail("data", `row ${i + 1}: ${fault}`, WHOLE_GROUPS);
    return own;
  });
  const { atoms = {} } = model;
  const times = domain.parts.some(
    ({ name, domain: own }) => own.noise > 0 && !Object.hasOwn(atoms, name),
  )
    ? spread
    : 1;
  const out = new Float64Array(rows.length);
  const { whole, torn } = byMissing(cells, domain, related);
  for (const group of [whole, torn]) {
    if (group.length === 0) continue;
    // Rows with missing cells are points of all columns, others of those that are learned.
    const product = group === torn && !model.bins ? givenCoordinates(model).domain : domain;
    const u = hypercube(times, product.noise);
    const own = group.flatMap((i) => {
      const row = group === torn && related ? withoutIdle(related, cells[i]) : cells[i];
      return Array.from({ length: times }, () => row.slice(0, product.cells));
    });
    const shifts = Float64Array.from(
      { length: own.length * product.noise },
      (_, at) => u[at % u.length],
    );
    const found = await likelihoodOf(
      model,
      encodeRows(own, product, shifts, atoms),
      own,
      group === torn,
      options,
    );
    group.forEach((row, i) => {
      out[row] = logMeanExp(Array.from(found.subarray(i * times, (i + 1) * times)));
    });
  }
  return out;
}
