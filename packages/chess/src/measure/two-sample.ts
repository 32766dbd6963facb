/**
 * A two-sample test that learns: can a logistic regression on the material of a board tell samples from real positions?
 *
 *   P(real | board) = 1/(1 + e^{−θ·f}),   f the indicators of: each type's count, bishops of each colour on each colour of
 *   square, pawns of each colour on each file, and the material balance
 *
 * Indicators, because independent squares have the right mean of every count and only their laws are wrong. The figure is
 * the area under the ROC curve on boards it was not fitted to: 0.5 is a coin, 1 tells all apart.
 */
import { fail } from "diffeo/graph";
import { choice, fold, type Key } from "diffeo/random";
import type { Material } from "../board/material.ts";

/** Bins of a count; the last one is "so many or more". */
const PAWN_BINS = 10;
const PIECE_BINS = 5;
const BISHOP_BINS = 4;
const FILE_BINS = 5;
/** Balances from −12 to 12, the ends open. */
const MOST_BALANCE = 12;

/** How many indicators of a board are 1: one for each of 12 types, 4 kinds of bishops, 16 pawn files, and the balance. */
const ACTIVE = 12 + 4 + 16 + 1;

/** The indices of the indicators that are 1, `ACTIVE` a board, and how many indicators there are. */
function indicators(material: Material): { readonly active: Int32Array; readonly size: number } {
  const { count, types, bishops, pawnFiles, balance } = material;
  const active = new Int32Array(count * ACTIVE);
  let size = 0;
  for (let i = 0; i < count; i++) {
    let to = i * ACTIVE;
    let base = 0;
    const put = (value: number, bins: number): void => {
      active[to++] = base + Math.min(value, bins - 1);
      base += bins;
    };
    for (let k = 0; k < 12; k++) put(types[12 * i + k], k % 6 === 0 ? PAWN_BINS : PIECE_BINS);
    for (let j = 0; j < 4; j++) put(bishops[4 * i + j], BISHOP_BINS);
    for (let j = 0; j < 16; j++) put(pawnFiles[16 * i + j], FILE_BINS);
    put(Math.max(0, balance[i] + MOST_BALANCE), 2 * MOST_BALANCE + 1);
    size = base;
  }
  return { active, size };
}

/**
 * The area under the curve for two sets of boards: fitted on one half of both and tried on the other, then the other way
 * round; the mean of the two.
 */
export function twoSampleAuc(samples: Material, real: Material, key: Key): number {
  if (samples.count < 4 || real.count < 4)
    fail("usage", `two-sample test: ${samples.count} and ${real.count} boards are too few`, "give at least 4 of each");
  const a = indicators(samples);
  const b = indicators(real);
  const halves = [halve(a.active, fold(key, "samples")), halve(b.active, fold(key, "real"))];
  let sum = 0;
  for (const half of [0, 1]) {
    const theta = regress(halves[0][half], halves[1][half], a.size);
    sum += areaUnderCurve(scores(halves[0][1 - half], theta), scores(halves[1][1 - half], theta));
  }
  return sum / 2;
}

function halve(active: Int32Array, key: Key): readonly [Int32Array, Int32Array] {
  const count = active.length / ACTIVE;
  const order = choice(key, count, count, { replace: false }).data;
  const part = (rows: Int32Array): Int32Array => {
    const out = new Int32Array(rows.length * ACTIVE);
    for (let i = 0; i < rows.length; i++)
      out.set(active.subarray(rows[i] * ACTIVE, (rows[i] + 1) * ACTIVE), i * ACTIVE);
    return out;
  };
  const middle = count >> 1;
  return [part(order.subarray(0, middle)), part(order.subarray(middle))];
}

function scores(active: Int32Array, theta: Float64Array): Float64Array {
  const out = new Float64Array(active.length / ACTIVE);
  for (let i = 0; i < out.length; i++) for (let j = i * ACTIVE; j < (i + 1) * ACTIVE; j++) out[i] += theta[active[j]];
  return out;
}

/** ½‖θ‖² − log likelihood, a term log(1 + e^{∓θ·f}) a board. */
function loss(samples: Int32Array, real: Int32Array, theta: Float64Array): number {
  const softplus = (z: number): number => Math.max(z, 0) + Math.log1p(Math.exp(-Math.abs(z)));
  let sum = 0;
  for (const t of theta) sum += (t * t) / 2;
  for (const z of scores(samples, theta)) sum += softplus(z);
  for (const z of scores(real, theta)) sum += softplus(-z);
  return sum;
}

/**
 * Newton's method on the loss:   (FᵀWF + I) δ = Fᵀ(y − p) − θ,   W = p(1 − p), a step halved until the loss falls.
 * The unit prior keeps θ finite where the two sets can be told apart without error; the indicators of a group sum to 1,
 * so the intercept is among them. Rows are sparse: a product costs ACTIVE² a board, whatever the number of indicators.
 */
function regress(samples: Int32Array, real: Int32Array, size: number): Float64Array {
  let theta = new Float64Array(size);
  let least = loss(samples, real, theta);
  for (let step = 0; step < 30; step++) {
    const hessian = new Float64Array(size * size);
    const gradient = theta.map((t) => -t);
    for (let i = 0; i < size; i++) hessian[i * size + i] = 1;
    for (const [active, label] of [
      [samples, 0],
      [real, 1],
    ] as const) {
      const s = scores(active, theta);
      for (let row = 0; row < s.length; row++) {
        const p = 1 / (1 + Math.exp(-s[row]));
        const w = p * (1 - p);
        const end = (row + 1) * ACTIVE;
        for (let j = row * ACTIVE; j < end; j++) {
          const f = active[j];
          gradient[f] += label - p;
          // Indices of a row ascend, so this fills the upper triangle.
          for (let k = j; k < end; k++) hessian[f * size + active[k]] += w;
        }
      }
    }
    const change = solveUpper(hessian, gradient, size);
    let length = 1;
    let next = theta.map((t, i) => t + change[i]);
    for (; loss(samples, real, next) > least && length > 1e-6; length /= 2)
      next = theta.map((t, i) => t + (length / 2) * change[i]);
    const fallen = least - loss(samples, real, next);
    if (!(fallen > 1e-6 * least)) break;
    least -= fallen;
    theta = next;
  }
  return theta;
}

/** Solves A x = b for a positive definite A of which the upper triangle is given, by Cholesky: A = UᵀU. Overwrites A. */
function solveUpper(a: Float64Array, b: Float64Array, n: number): Float64Array {
  for (let i = 0; i < n; i++) {
    const pivot = Math.sqrt(a[i * n + i]);
    for (let j = i; j < n; j++) a[i * n + j] /= pivot;
    for (let r = i + 1; r < n; r++) {
      const factor = a[i * n + r];
      if (factor !== 0) for (let c = r; c < n; c++) a[r * n + c] -= factor * a[i * n + c];
    }
  }
  const x = b.slice();
  for (let i = 0; i < n; i++) {
    x[i] /= a[i * n + i];
    for (let j = i + 1; j < n; j++) x[j] -= a[i * n + j] * x[i];
  }
  for (let i = n - 1; i >= 0; i--) {
    for (let j = i + 1; j < n; j++) x[i] -= a[i * n + j] * x[j];
    x[i] /= a[i * n + i];
  }
  return x;
}

/** P(score of a positive > score of a negative) + ½ P(equal), from ranks. */
export function areaUnderCurve(negatives: ArrayLike<number>, positives: ArrayLike<number>): number {
  const a = Float64Array.from(negatives).sort();
  const b = Float64Array.from(positives).sort();
  let area = 0;
  let below = 0;
  let upTo = 0;
  for (const score of b) {
    while (below < a.length && a[below] < score) below++;
    while (upTo < a.length && a[upTo] <= score) upTo++;
    area += (below + upTo) / 2;
  }
  return area / (a.length * b.length);
}
