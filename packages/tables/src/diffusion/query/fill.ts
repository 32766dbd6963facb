/**
 * Points drawn given some of their parts, by the network of `given.ts`: the probability flow in the
 * free directions from noise εP, in exponential steps that are even in λ (C. Lu et al.,
 * DPM-Solver++ 2M, 2022),
 *
 *   x′ = (σ′/σ) x + m′(1 − e^{−h}) (D + ½ (h/h₋)(D − D₋)),      D = x̂₀P = (m x − σ v̂)P,   h = ½(λ′ − λ)
 *
 * and at the end x₀ = x₀P_S + D. What is given comes out as it went in: x₀P_S is all that z_S
 * depends on.
 */
import { compile } from "diffeo/engine";
import { input, type NdArray, reference, type Tensor } from "diffeo/graph";
import { batches } from "diffeo/host";
import { fold, key as keyOf, normal, sampleKeys } from "diffeo/random";
import { flowWeights, logSnr } from "diffeo/sampler";
import {
  addFree,
  addKnown,
  DRAWN,
  encodeRows,
  GIVEN,
  isHelped,
  mapRows,
  type OpenCell,
  type Pattern,
  resolvedCells,
  statesOfKnown,
} from "../encode/index.ts";
import {
  type Engine,
  type FittedTable,
  givenCoordinates,
  givenPredictorOf,
  LAST_LEVEL,
  type OpenedTable,
  scalesAt,
  sideSize,
  tableSde,
} from "../network/index.ts";
import type { DrawRows } from "./draw.ts";
import { filledByRules } from "./fill-rules.ts";

/** `first` is the number of the first point. */
export type FillOptions = Omit<DrawRows, "count">;

/** Points that are drawn at once. */
const BATCH = 10_000;

/** What a row is to be drawn by. */
interface Problem {
  readonly pattern: Pattern;
  /** z − mean, where it is given. */
  readonly given: Float64Array;
}

const compiled = (model: FittedTable, engine: Engine) =>
  compile(
    givenPredictorOf(model),
    [
      [null, givenCoordinates(model).domain.dimension],
      [null, sideSize(givenCoordinates(model).domain)],
      [],
    ],
    engine,
  );

/** σ′/σ and m′(1 − e^{−h}) of the solver's steps of length h, as numbers. */
function weightsOfSteps(h: number) {
  const at = (name: string): Tensor => input(name, [], "float64");
  const [sigma, mNext, sigmaNext, length] = ["sigma", "mNext", "sigmaNext", "h"].map(at);
  const { kept, gained } = flowWeights({ sigma, mNext, sigmaNext, h: length });
  return (from: number, to: number): readonly [kept: number, gained: number] => {
    const [now, next] = [scalesAt(from), scalesAt(to)];
    const numbers: readonly (readonly [Tensor, number])[] = [
      [sigma, now.sigma],
      [mNext, next.m],
      [sigmaNext, next.sigma],
      [length, h],
    ];
    const inputs = new Map(numbers.map(([tensor, value]) => [tensor, Float64Array.of(value)]));
    const [[k], [g]] = reference([kept, gained], inputs);
    return [k, g];
  };
}

/** x₀ of problems, each from its noise. */
async function drawn(
  velocity: ReturnType<typeof compiled>,
  problems: readonly Problem[],
  noise: Float64Array,
  n: number,
  {
    evaluations,
    signal,
    onStep,
  }: Required<Pick<DrawRows, "evaluations">> & Pick<DrawRows, "signal" | "onStep">,
): Promise<Float64Array> {
  const count = problems.length;
  const side = n + problems[0].pattern.flags.length;
  const settled = new Float64Array(count * n);
  const beside = new Float32Array(count * side);
  const rowOf = (rows: Float64Array, i: number): Float64Array => rows.subarray(i * n, (i + 1) * n);
  const projected = (v: Float64Array): Float64Array => {
    const out = new Float64Array(count * n);
    problems.forEach(({ pattern }, i) => {
      addFree(rowOf(out, i), rowOf(v, i), pattern);
    });
    return out;
  };
  problems.forEach(({ pattern, given }, i) => {
    addKnown(pattern, given, { given: rowOf(settled, i) });
    beside.set(rowOf(settled, i), i * side);
    beside.set(pattern.flags, i * side + n);
  });
  const array = (data: Float32Array, width: number): NdArray => ({
    shape: [count, width],
    dtype: "float32",
    data,
  });
  const around = array(beside, side);
  const [first] = logSnr(tableSde.transition)([tableSde.horizon]);
  const steps = evaluations - 1;
  const levelAt = (k: number): number => first + ((LAST_LEVEL - first) * k) / steps;
  const h = (LAST_LEVEL - first) / steps / 2;
  const weights = weightsOfSteps(h);
  let x = projected(noise);
  let before: Float64Array | undefined;
  for (let k = 0; ; k++) {
    signal?.throwIfAborted();
    const lambda = levelAt(k);
    const { m, sigma } = scalesAt(lambda);
    const v = (await velocity(array(Float32Array.from(x), n), around, lambda)).data as Float32Array;
    const mean = projected(x.map((value, i) => m * value - sigma * v[i]));
    onStep?.();
    if (k === steps) return mean.map((value, i) => value + settled[i]);
    const [kept, gained] = weights(lambda, levelAt(k + 1));
    // Steps of one length, ½ h/h₋ = ½; the first has no last one.
    const last = before ?? mean;
    x = x.map((value, i) => kept * value + gained * (mean[i] + 0.5 * (mean[i] - last[i])));
    before = mean;
  }
}

/**
 * Fills the missing values, NaN, of points z; a part is a missing value whole. A point without
 * missing values costs nothing.
 */
export async function filledPoints(
  model: OpenedTable,
  z: Float64Array,
  { seed = 0, evaluations = 50, first = 0, ...options }: FillOptions = {},
): Promise<Float64Array> {
  if (model.bins) return filledByRules(model, z, { seed, first, ...options });
  const { graphs, patterns, related } = model;
  const { domain, standard } = givenCoordinates(model);
  const n = domain.dimension;
  const matrix = Float64Array.from(standard.matrix);
  const out = z.slice();
  for (const [from, count] of batches(z.length / n, Math.min(z.length / n, BATCH))) {
    const rows = Array.from({ length: count }, (_, i) =>
      z.subarray((from + i) * n, (from + i + 1) * n),
    );
    const open = rows.flatMap((row, i) => (row.some(Number.isNaN) ? [i] : []));
    if (open.length === 0) continue;
    const problems = open.map((i): Problem => {
      const isKnown = (k: number): boolean => !Number.isNaN(rows[i][domain.parts[k].at.x]);
      const states = related
        ? statesOfKnown(related, isKnown, GIVEN, DRAWN)
        : domain.parts.map((_, k) => (isKnown(k) ? GIVEN : DRAWN));
      return { pattern: patterns().of(states), given: rows[i].map((v, j) => v - standard.mean[j]) };
    });
    const keys = sampleKeys(fold(keyOf(seed), "holes"), count, first + from);
    const all = normal(keys, n, { dtype: "float64" }).data;
    const noise = new Float64Array(open.length * n);
    open.forEach((i, k) => {
      noise.set(all.subarray(i * n, (i + 1) * n), k * n);
    });
    const x = await graphs.take(
      "given",
      open.length,
      (engine) => compiled(model, engine),
      (velocity) => drawn(velocity, problems, noise, n, { evaluations, ...options }),
    );
    const found = new Float64Array(n);
    open.forEach((i, k) => {
      found.set(standard.mean);
      for (let i = 0; i < n; i++) {
        const weight = x[k * n + i];
        if (weight !== 0) for (let j = 0; j < n; j++) found[j] += weight * matrix[i * n + j];
      }
      // Given cells are kept to the last digit.
      for (let j = 0; j < n; j++)
        if (!problems[k].pattern.isGiven[j]) out[(from + i) * n + j] = found[j];
    });
  }
  return out;
}

/**
 * Points of whole rows, with their missing values sampled. Where columns follow from others, z are
 * points of all, and rows in which one of these helped come out so that its rule holds.
 */
export async function completedPoints(
  model: OpenedTable,
  z: Float64Array,
  options: FillOptions,
): Promise<Float64Array> {
  const filled = await filledPoints(model, z, options);
  const { related, domain, atoms = {} } = model;
  if (!related) return filled;
  const { parts, dimension: wide, size, map } = related.domain;
  const n = domain.dimension;
  const rows = filled.length / wide;
  const out = new Float64Array(rows * n);
  for (let i = 0; i < rows; i++) out.set(filled.subarray(i * wide, i * wide + n), i * n);
  const isKnown = (row: number, k: number): boolean => !Number.isNaN(z[row * wide + parts[k].at.x]);
  const helped = Array.from({ length: rows }, (_, i) => i).filter((i) =>
    isHelped(related, (k) => isKnown(i, k)),
  );
  if (helped.length === 0) return out;
  const some = new Float64Array(helped.length * wide);
  helped.forEach((row, i) => {
    some.set(filled.subarray(row * wide, (row + 1) * wide), i * wide);
  });
  // A helper that is not known has no point of its own.
  const y = mapRows(
    some.map((v) => (Number.isNaN(v) ? 0 : v)),
    wide,
    map.forward,
  );
  const cells = helped.map((row, i) => {
    const own = y.subarray(i * size, (i + 1) * size);
    const decoded = related.domain.decode(own);
    const given = parts.flatMap(({ at, domain: { cells: count } }, k): OpenCell[] =>
      isKnown(row, k) ? decoded.slice(at.cells, at.cells + count) : Array(count).fill(null),
    );
    return resolvedCells(related, given, decoded, own).slice(0, domain.cells);
  });
  const middle = new Float64Array(cells.length * domain.noise).fill(0.5);
  const points = encodeRows(cells, domain, middle, atoms);
  helped.forEach((row, i) => {
    out.set(points.subarray(i * n, (i + 1) * n), row * n);
  });
  return out;
}
