/**
 * The network of rows of which some parts are given and some are hidden. For any division of the
 * parts into given S, drawn T and hidden H it predicts v of the free directions (`pattern.ts`) at
 * the level λ,
 *
 *   v̂( x P, x₀ P_S, S, H, λ )        E ‖(v̂ − v) P‖²/n → min,     x P = m x₀ P + σ ε P
 *
 * whose minimiser is the score of p_t(x_T | x_S): one network gives every conditional and every
 * marginal law of the table (Y. Tashiro et al., CSDI, NeurIPS 2021, for given parts). Nothing that
 * is hidden enters input or loss, so rows with holes are used as they are: their holes are hidden.
 *
 * What it learns of x_T given x_S comes from rows where S and T are there. That is right where
 * cells are missing for reasons in S; the rows that the network of the whole table learns from are
 * therefore these, with their holes drawn given all that is there (`fit.ts`), and not the rows
 * without holes alone.
 *
 * A level's rows share a division, drawn anew: each part is given with a chance that is itself
 * uniform, and in a quarter of the levels each other is hidden with a chance that is.
 */
import type { Product } from "diffeo/domain";
import {
  concat,
  expandDims,
  matmul,
  mean,
  type NdArray,
  square,
  squeeze,
  sub,
  type Tensor,
} from "diffeo/graph";
import { fold, integers, type Key, normal, uniform } from "diffeo/random";
import { addProduct, DRAWN, GIVEN, HIDDEN, type Pattern, patternsOf } from "../encode/index.ts";
import { type Coordinates, headOf, noisedRows, sideSize } from "../network/index.ts";
import { BATCH, LEVELS, levelsOf, ROWS } from "./loss.ts";
import { type Trained, type TrainingOptions, trainTask } from "./train.ts";

/** The share of levels in which parts are hidden that are there. */
const HIDING = 0.25;

/** Divisions of the parts, one a level; at least one part is drawn. */
function divisions(key: Key, parts: number): Uint8Array[] {
  const width = parts + 4;
  const u = uniform(key, [LEVELS, width], { dtype: "float64" }).data;
  return Array.from({ length: LEVELS }, (_, l) => {
    const [share, hiding, hidden, last, ...own] = u.subarray(l * width, (l + 1) * width);
    const most = hiding < HIDING ? share + (1 - share) * hidden : share;
    const states = Uint8Array.from(own, (v) => (v < share ? GIVEN : v < most ? HIDDEN : DRAWN));
    if (!states.includes(DRAWN)) states[Math.floor(last * parts)] = DRAWN;
    return states;
  });
}

/** Which parts of each row are holes, [rows, parts]. */
function holesOf(z: Float64Array, { dimension: n, parts }: Product): Uint8Array {
  const rows = z.length / n;
  return Uint8Array.from({ length: rows * parts.length }, (_, at) =>
    Number.isNaN(z[Math.floor(at / parts.length) * n + parts[at % parts.length].at.x]) ? 1 : 0,
  );
}

interface Source {
  readonly domain: Product;
  /** z − mean, NaN in holes. */
  readonly points: Float64Array;
  readonly holes: Uint8Array;
  readonly patternOf: (states: ArrayLike<number>) => Pattern;
}

/**
 * A level's division for a row: its holes are hidden, and if nothing is left to draw, what was
 * given is.
 */
function statesOf(level: Uint8Array, { holes }: Source, row: number): Uint8Array {
  const parts = level.length;
  const own = level.map((state, k) => (holes[row * parts + k] ? HIDDEN : state));
  return own.includes(DRAWN) ? own : own.map((state) => (state === GIVEN ? DRAWN : state));
}

/** x₀P, εP, what is beside x, λ and P of a batch. */
function batchOf(source: Source, key: Key): NdArray[] {
  const { domain, points, patternOf } = source;
  const [n, parts, side] = [domain.dimension, domain.parts.length, sideSize(domain)];
  const chosen = integers(fold(key, "rows"), BATCH, 0, points.length / n).data;
  const noise = normal(fold(key, "noise"), [BATCH, n], { dtype: "float64" }).data;
  const levels = divisions(fold(key, "divisions"), parts);
  const [rows, drawn] = [new Float32Array(BATCH * n), new Float32Array(BATCH * n)];
  const [beside, free] = [new Float32Array(BATCH * side), new Float32Array(BATCH * n * n)];
  for (let i = 0; i < BATCH; i++) {
    const from = chosen[i] * n;
    const pattern = patternOf(statesOf(levels[Math.floor(i / ROWS)], source, chosen[i]));
    addProduct(rows, i * n, points, from, pattern.known, n, { on: pattern.isKnown });
    addProduct(rows, i * n, points, from, pattern.given, n, { on: pattern.isGiven, sign: -1 });
    addProduct(beside, i * side, points, from, pattern.given, n, { on: pattern.isGiven });
    beside.set(pattern.flags, i * side + n);
    addProduct(drawn, i * n, noise, i * n, pattern.free, n);
    free.set(pattern.free, i * n * n);
  }
  const array = (data: Float32Array, ...last: number[]): NdArray => ({
    shape: [LEVELS, ROWS, ...last],
    dtype: "float32",
    data,
  });
  return [
    array(rows, n),
    array(drawn, n),
    array(beside, side),
    levelsOf(fold(key, "levels")),
    array(free, n, n),
  ];
}

/** Trains the network on points z with holes, and measures on others. */
export function trainGiven(
  coordinates: Coordinates,
  z: Float64Array,
  held: Float64Array,
  options: TrainingOptions,
): Promise<Trained> {
  const { width = 128, blocks = 3 } = options;
  const { domain, standard } = coordinates;
  const [n, side] = [domain.dimension, sideSize(domain)];
  const { outputs, velocity } = headOf(coordinates);
  const patternOf = patternsOf(domain, standard);
  const sourceOf = (points: Float64Array): Source => ({
    domain,
    points: points.map((v, i) => v - standard.mean[i % n]),
    holes: holesOf(points, domain),
    patternOf,
  });
  const [seen, unseen] = [sourceOf(z), sourceOf(held)];
  const loss = (
    network: (x: Tensor, lambda: Tensor) => Tensor,
    [rows, noise, beside, levels, free]: readonly Tensor[],
  ): Tensor => {
    const lambda = expandDims(levels, -1);
    const { x, velocity: target } = noisedRows(rows, noise, lambda);
    const wrong = sub(velocity(network(concat([x, beside], -1), lambda), x, lambda), target);
    return mean(square(squeeze(matmul(expandDims(wrong, -2), free), -2)));
  };
  return trainTask(
    {
      network: { kind: "residual", channels: n + side, outputs, width, blocks },
      rows: z.length / n,
      shapes: [
        [LEVELS, ROWS, n],
        [LEVELS, ROWS, n],
        [LEVELS, ROWS, side],
        [LEVELS],
        [LEVELS, ROWS, n, n],
      ],
      loss,
      batch: (key) => batchOf(seen, key),
      held: (key) => batchOf(unseen, key),
    },
    options,
  );
}
