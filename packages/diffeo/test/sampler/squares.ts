/**
 * One square of a chess board as a point of the simplex, with its exact score: the problem near the
 * boundary.
 *
 * Thirteen code points in logits, 'empty' at −c·1 and piece k at +c·eₖ, c = log((1 − 12ε)/ε), ε =
 * 0.01, standardised by an affine map (one mean a channel, one scale) so that the VP prior fits.
 * The data are point masses, so
 * p_t = Σ wₖ N(m xₖ, σ²I) and ∇ log p_t(x) = (m E[x₀|x] − x)/σ², E[x₀|x] the posterior mean of the
 * code points.
 */
import {
  additiveLogistic,
  affine,
  alignToEvent,
  type Bijector,
  chain,
} from "../../src/bijector/index.ts";
import {
  add,
  constant,
  div,
  matmul,
  mul,
  type NdArray,
  softmax,
  square,
  sub,
  sum,
  transpose,
} from "../../src/graph/index.ts";
import type { MarginalScore, Sde } from "../../src/sde/index.ts";

const epsilon = 0.01;
export const pieces = 12;
const reach = Math.log((1 - pieces * epsilon) / epsilon);

/**
 * How often a square holds each piece (pawn, knight, bishop, rook, queen, king; white, black), then
 * 'empty'.
 */
const perColour = [0.083, 0.016, 0.018, 0.022, 0.0069, 0.0156];
const frequencies = [...perColour, ...perColour, 1 - 2 * perColour.reduce((a, b) => a + b, 0)];
/** The share of squares that hold a piece. */
export const occupied = 1 - frequencies[pieces];

const codes = frequencies.map((_, k) =>
  Array.from({ length: pieces }, (_, i) => (k === pieces ? -reach : i === k ? reach : 0)),
);
const mean = Array.from({ length: pieces }, (_, i) =>
  codes.reduce((s, code, k) => s + frequencies[k] * code[i], 0),
);
const scale = Math.sqrt(
  codes.reduce(
    (s, code, k) => s + frequencies[k] * code.reduce((q, v, i) => q + (v - mean[i]) ** 2, 0),
    0,
  ) / pieces,
);
const standardised = codes.map((code) => code.map((v, i) => (v - mean[i]) / scale));

/** From standardised logits to the simplex. */
export const simplex: Bijector = chain(
  affine({ scale: mean.map(() => scale), shift: mean }),
  additiveLogistic(),
);

/** The exact score of one square, or of many: x is […, 12]. */
export const squareScore =
  ({ transition }: Sde): MarginalScore =>
  (x, t) => {
    if (!transition) throw new Error("the SDE has no transition");
    const [m, sigma] = [transition.meanFactor(t), transition.std(t)].map((v) => alignToEvent(v, 1));
    const points = constant(standardised, x.dtype);
    // log wₖ − ‖x − m xₖ‖²/2σ², less ‖x‖²/2σ², which all have in common
    const inner = mul(matmul(x, transpose(points)), m);
    const energy = sub(inner, mul(mul(sum(square(points), -1), square(m)), 0.5));
    const posterior = softmax(add(div(energy, square(sigma)), frequencies.map(Math.log)), -1);
    return div(sub(mul(matmul(posterior, points), m), x), square(sigma));
  };

/** The share of samples whose largest coordinate is a piece and not 'empty'. */
export function occupancy({ data, shape }: NdArray): number {
  let count = 0;
  for (let i = 0; i < shape[0]; i++) {
    const y = Array.from({ length: pieces }, (_, k) => Number(data[i * pieces + k]));
    if (Math.max(...y) > 1 - y.reduce((a, b) => a + b, 0)) count++;
  }
  return count / shape[0];
}
