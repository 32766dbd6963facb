/**
 * The network of rows of which some parts are given and some are hidden. For any division of the
 * parts into given S, drawn T and hidden H it predicts v of the free directions (`pattern.ts`) at
 * the level λ,
 *
 *   v̂( x P, x₀ P_S, S, H, λ )        E ‖(v̂ − v) P‖²/n → min,     x P = m x₀ P + σ ε P
 *
 * whose minimiser is the score of p_t(x_T | x_S): one network gives every conditional and every
 * marginal distribution of the table (Y. Tashiro et al., CSDI, NeurIPS 2021, for given parts).
 * Nothing that is hidden enters input or loss, so rows with missing values are used as they are:
 * their missing values are hidden.
 *
 * What it learns of x_T given x_S comes from rows where S and T are there. That is right where
 * cells are missing for reasons in S; the rows that the network of the whole table learns from are
 * therefore these, with their missing values drawn given all that is there (`fit.ts`), and not the
 * rows without missing values alone.
 *
 * A level's rows share a division, resampled: each part is given with a chance that is itself
 * uniform, and in a quarter of the levels each other is hidden with a chance that is.
 */
import type { Product } from "diffeo/domain";
import {
  addAll,
  concat,
  div,
  expandDims,
  matmul,
  mul,
  type NdArray,
  pad,
  reshape,
  type Shape,
  sizeOf,
  square,
  squeeze,
  sub,
  sum,
  type Tensor,
  take,
  transpose,
} from "diffeo/graph";
import { fold, integers, type Key, normal, uniform } from "diffeo/random";
import {
  addFree,
  addKnown,
  DRAWN,
  drawPart,
  type FreeLayout,
  freeLayoutOf,
  GIVEN,
  HIDDEN,
  type Pattern,
  type Patterns,
  patternsOf,
  type Related,
  settleStates,
  writeFree,
} from "../encode/index.ts";
import { type Coordinates, headOf, noisedRows, sideSize } from "../network/index.ts";
import { BATCH, LEVELS, levelsOf, ROWS } from "./loss.ts";
import { trainTask } from "./train.ts";
import type { NetworkTraining, Trained } from "./training-options.ts";

/** The share of levels in which parts are hidden although their values are known. */
const HIDING = 0.25;

/**
 * Divisions of the parts, one per level; at least one part is drawn. A column that follows from
 * others replaces one of these half of the time.
 */
function divisions(key: Key, parts: number, related: Related | undefined): Uint8Array[] {
  const helpers = related?.helpers.length ?? 0;
  const width = parts + 4 + helpers;
  const u = uniform(key, [LEVELS, width], { dtype: "float64" }).data;
  return Array.from({ length: LEVELS }, (_, l) => {
    const [share, hiding, hidden, last, ...own] = u.subarray(l * width, (l + 1) * width);
    const most = hiding < HIDING ? share + (1 - share) * hidden : share;
    const states = Uint8Array.from(own.slice(0, parts), (v) =>
      v < share ? GIVEN : v < most ? HIDDEN : DRAWN,
    );
    if (related) settleStates(related, states, own.slice(parts));
    if (states.includes(DRAWN)) return states;
    if (related) drawPart(related, states, Math.floor(last * (parts - helpers)));
    else states[Math.floor(last * parts)] = DRAWN;
    return states;
  });
}

/** Which parts of each row are missing, [rows, parts]. */
function missingIn(z: Float64Array, { dimension: n, parts }: Product): Uint8Array {
  const rows = z.length / n;
  return Uint8Array.from({ length: rows * parts.length }, (_, at) =>
    Number.isNaN(z[Math.floor(at / parts.length) * n + parts[at % parts.length].at.x]) ? 1 : 0,
  );
}

/** What the network is trained on, whichever rows there are. */
interface Setting {
  readonly domain: Product;
  readonly related: Related | undefined;
  readonly patterns: Patterns;
  readonly layout: FreeLayout;
  /** Whether any value is missing: then each row has a pattern of its own, else each level. */
  readonly isTorn: boolean;
}

interface Source extends Setting {
  /** z − mean, NaN in missing values. */
  readonly points: Float64Array;
  readonly missing: Uint8Array;
}

/**
 * A level's division for a row: its missing values are hidden, and if nothing is left to draw, what
 * was given is.
 */
function statesOf(level: Uint8Array, { missing }: Source, row: number): Uint8Array {
  const parts = level.length;
  const own = level.map((state, k) => (missing[row * parts + k] ? HIDDEN : state));
  return own.includes(DRAWN) ? own : own.map((state) => (state === GIVEN ? DRAWN : state));
}

/**
 * What a step sees: x₀P, εP, what is next to x, λ, and the free directions as `writeFree` has them.
 */
function batchShapes({ domain, layout, isTorn }: Setting): readonly Shape[] {
  const [n, patterns] = [domain.dimension, isTorn ? ROWS : 1];
  return [
    [LEVELS, ROWS, n],
    [LEVELS, ROWS, n],
    [LEVELS, ROWS, sideSize(domain)],
    [LEVELS],
    // An axis of no entries is not an input.
    [LEVELS, patterns, Math.max(1, layout.masked.length)],
    [LEVELS, patterns, Math.max(1, layout.gathered.length), layout.size, layout.size],
  ];
}

/** A batch of rows of a source. */
function batchOf(source: Source, key: Key): NdArray[] {
  const { domain, related, points, isTorn, layout, patterns } = source;
  const [n, side] = [domain.dimension, sideSize(domain)];
  const chosen = integers(fold(key, "rows"), BATCH, 0, points.length / n).data;
  const noise = normal(fold(key, "noise"), [BATCH, n], { dtype: "float64" }).data;
  const levels = divisions(fold(key, "divisions"), domain.parts.length, related);
  const shapes = batchShapes(source);
  const data = shapes.map((shape) => new Float32Array(sizeOf(shape)));
  const [rows, drawn, beside, , mask, directions] = data;
  const given = new Float64Array(n);
  const patternAt = (i: number): Pattern => {
    const level = Math.floor(i / ROWS);
    const states = isTorn ? statesOf(levels[level], source, chosen[i]) : levels[level];
    const found = patterns.of(states);
    writeFree(found, layout, isTorn ? i : level, mask, directions);
    return found;
  };
  let pattern = patternAt(0);
  for (let i = 0; i < BATCH; i++) {
    if (i > 0 && (isTorn || i % ROWS === 0)) pattern = patternAt(i);
    const from = chosen[i] * n;
    addKnown(pattern, points.subarray(from, from + n), {
      given: given.fill(0),
      drawn: rows.subarray(i * n, (i + 1) * n),
    });
    beside.set(given, i * side);
    beside.set(pattern.flags, i * side + n);
    addFree(drawn.subarray(i * n, (i + 1) * n), noise.subarray(i * n, (i + 1) * n), pattern);
  }
  return shapes.map((shape, k) =>
    k === 3 ? levelsOf(fold(key, "levels")) : { shape, dtype: "float32", data: data[k] },
  );
}

/** ‖wP‖²/n, the mean over rows w [levels, rows, n]; mask and Q are those of `writeFree`. */
function meanFreeSquare(
  w: Tensor,
  { masked, gathered, size }: FreeLayout,
  mask: Tensor,
  q: Tensor,
): Tensor {
  const [levels, rows, n] = w.shape;
  const sums: Tensor[] = [];
  if (masked.length > 0) sums.push(sum(square(mul(take(w, [...masked], -1), mask))));
  if (gathered.length > 0) {
    const wide = pad(w, [0, 0, 0], [0, 0, 1]);
    const own = reshape(take(wide, gathered.flat(), -1), [levels, rows, gathered.length, size]);
    // Rows of a level share Q or have their own.
    const along =
      q.shape[1] === 1
        ? matmul(transpose(own, [0, 2, 1, 3]), squeeze(q, 1))
        : matmul(expandDims(own, -2), q);
    sums.push(sum(square(along)));
  }
  return div(addAll(sums), levels * rows * n);
}

/**
 * Trains the network on points z with missing values, and measures on others; `related` are the
 * rules of columns that follow from others.
 */
export function trainGiven(
  coordinates: Coordinates,
  z: Float64Array,
  held: Float64Array,
  related: Related | undefined,
  options: NetworkTraining,
): Promise<Trained> {
  const { width = 128, blocks = 3 } = options;
  const { domain, standard } = coordinates;
  const [n, side] = [domain.dimension, sideSize(domain)];
  const { outputs, velocity } = headOf(coordinates);
  const patterns = patternsOf(domain, standard);
  const layout = freeLayoutOf(patterns.blocks, n);
  const isTorn = [z, held].some((points) => points.some(Number.isNaN));
  const setting: Setting = { domain, related, patterns, layout, isTorn };
  const sourceOf = (points: Float64Array): Source => ({
    ...setting,
    points: points.map((v, i) => v - standard.mean[i % n]),
    missing: missingIn(points, domain),
  });
  const [seen, unseen] = [sourceOf(z), sourceOf(held)];
  const loss = (
    network: (x: Tensor, lambda: Tensor) => Tensor,
    [rows, noise, beside, levels, mask, directions]: readonly Tensor[],
  ): Tensor => {
    const lambda = expandDims(levels, -1);
    const { x, velocity: target } = noisedRows(rows, noise, lambda);
    const wrong = sub(velocity(network(concat([x, beside], -1), lambda), x, lambda), target);
    return meanFreeSquare(wrong, layout, mask, directions);
  };
  return trainTask(
    {
      network: { kind: "residual", channels: n + side, outputs, width, blocks },
      rows: z.length / n,
      shapes: batchShapes(setting),
      loss,
      batch: (key) => batchOf(seen, key),
      held: (key) => batchOf(unseen, key),
    },
    options,
  );
}
