/**
 * The chess appendix of the paper (`appendix:chess_derivations`) against the general reverse-time
 * Itô lemma. For one square, y on the simplex of 12 pieces and 'empty',
 *
 *   k_i = f̄_i + ½g²(2y_i − 1),   f̂_i = y_i(k_i − Σ_j y_j k_j),   G̃_ij = g(y_i δ_ij − y_i y_j),   f̄ = f − g² s
 *
 * where the paper prints the forward drift f for f̄. The library trains in standardised logits l =
 * μ + σx: the process of l has drift σf̄ and noise σg, so that there k_i = σf̄_i + ½σ²g²(2y_i − 1)
 * and G̃ has the factor σg.
 *
 * The appendix is written here in plain numbers, the lemma is derived from φ alone by automatic
 * differentiation.
 */

import { additiveLogistic, type Bijector, withoutClosedForms } from "diffeo/bijector";
import { categorical, standardise } from "diffeo/categorical";
import { type Shape, sizeOf } from "diffeo/graph";
import { fold, key, normal, uniform } from "diffeo/random";
import { pushedDiffusion, pushedReverseDrift, reversePush, vp } from "diffeo/sde";
import { describe, expect, it } from "vitest";
import { at, field } from "../../diffeo/test/sde/table.ts";

const N = 12;
/**
 * Logits of this spread: y in the middle of the simplex, near its faces, and at its vertices to
 * 10⁻¹⁵ and beyond.
 */
const SPREADS = [0.3, 1, 3, 8, 20];
const BOARDS = 8;
/**
 * Rounding, relative to the size of a term of f̂_i or of G̃_ij: what a coordinate near a face has,
 * not the largest one.
 */
const TOLERANCE = 1e-12;

/** One square, or a grid of squares with the chess encoding. */
interface Setting {
  readonly name: string;
  readonly phi: Bijector;
  readonly event: Shape;
  readonly mean: readonly number[];
  readonly scale: number;
}

const shares = [0.083, 0.016, 0.018, 0.022, 0.0069, 0.0156];
const grid = [2, 3];
const encoding = categorical(
  standardise([...shares, ...shares, 1 - 2 * shares.reduce((a, b) => a + b, 0)], {
    grid,
    epsilon: 0.01,
  }),
);
const settings: readonly Setting[] = [
  {
    name: "the paper's map",
    phi: additiveLogistic(),
    event: [N],
    mean: new Array(N).fill(0),
    scale: 1,
  },
  {
    name: "the standardised encoding on a grid",
    phi: encoding.phi,
    event: [...grid, N],
    mean: encoding.mean,
    scale: encoding.scale,
  },
];

/**
 * y of one square's logits, by its definition with the largest logit (that of 'empty' is 0) taken
 * out.
 */
function simplexOf(logits: ArrayLike<number>): number[] {
  const most = Math.max(0, ...Array.from(logits));
  const total = Array.from(logits).reduce((sum, l) => sum + Math.exp(l - most), Math.exp(-most));
  return Array.from(logits, (l) => Math.exp(l - most) / total);
}

/** β of the VP SDE: f = −½βx, g² = β. */
const beta = (t: number): number => 0.1 + 19.9 * t;

/**
 * Which drift k is made of, and the sign of its second term: the corrected appendix and two ways to
 * be wrong.
 */
interface Variant {
  readonly drift: "reverse" | "forward";
  readonly sign: 1 | -1;
}
const CORRECT: Variant = { drift: "reverse", sign: 1 };

/** k of one square. */
const kOf = (
  x: ArrayLike<number>,
  s: ArrayLike<number>,
  y: readonly number[],
  t: number,
  scale: number,
  v: Variant,
) =>
  y.map((yi, i) => {
    const drift = -0.5 * beta(t) * x[i] - (v.drift === "reverse" ? beta(t) * s[i] : 0);
    return scale * drift + v.sign * 0.5 * scale ** 2 * beta(t) * (2 * yi - 1);
  });

const driftOf = (y: readonly number[], k: readonly number[]): number[] => {
  const mean = y.reduce((sum, yj, j) => sum + yj * k[j], 0);
  return y.map((yi, i) => yi * (k[i] - mean));
};

/** Points of one spread in logits, with times and what the score field gives there. */
function pointsOf({ event, mean, scale }: Setting, spread: number) {
  const rank = event.length;
  const shape = [BOARDS, ...event];
  const k = fold(key("appendix"), `${rank}`);
  const z = normal(fold(k, "x"), shape, { dtype: "float64" }).data;
  const x = z.map((v, i) => (spread * v - mean[i % N]) / scale);
  const t = uniform(fold(k, "t"), [BOARDS], { dtype: "float64" }).data;
  const s = at((p, time) => field(rank)(p, time), [shape, x], [[BOARDS], t]);
  const perBoard = sizeOf(event) / N;
  const squares = Array.from({ length: x.length / N }, (_, q) => {
    const own = (v: Float64Array): Float64Array => v.subarray(q * N, (q + 1) * N);
    const logits = Array.from(own(x), (v, i) => mean[i] + scale * v);
    return { x: own(x), s: own(s), y: simplexOf(logits), t: t[Math.floor(q / perBoard)] };
  });
  return { shape, x, t, squares, rank };
}

/**
 * The largest |lemma − appendix| over squares and coordinates, in units of y_i max|k|, the size of
 * what is added up.
 */
function driftError(
  setting: Setting,
  lemma: Float64Array,
  spread: number,
  variant: Variant,
): number {
  let most = 0;
  pointsOf(setting, spread).squares.forEach(({ x, s, y, t }, q) => {
    const k = kOf(x, s, y, t, setting.scale, variant);
    const size = Math.max(...k.map(Math.abs));
    driftOf(y, k).forEach((f, i) => {
      most = Math.max(most, Math.abs(lemma[q * N + i] - f) / (y[i] * size));
    });
  });
  return most;
}

for (const setting of settings)
  describe(setting.name, () => {
    const { phi, event, scale } = setting;
    const general = withoutClosedForms(phi);
    const sde = vp({ eventRank: event.length });
    const lemmaAt = (spread: number, map = general): Float64Array => {
      const { shape, x, t, rank } = pointsOf(setting, spread);
      return at(
        (p, time) => pushedReverseDrift(sde, map, field(rank), p, time),
        [shape, x],
        [[BOARDS], t],
      );
    };

    for (const spread of SPREADS)
      it(`has the reverse drift f̂ of the appendix with f̄ for f, at logits of spread ${spread}`, () => {
        expect(driftError(setting, lemmaAt(spread), spread, CORRECT)).toBeLessThan(TOLERANCE);
        // What samplers use: the map with its closed forms.
        expect(driftError(setting, lemmaAt(spread, phi), spread, CORRECT)).toBeLessThan(TOLERANCE);
      });

    it("includes points near every part of the boundary", () => {
      const all = SPREADS.flatMap((spread) => pointsOf(setting, spread).squares.map(({ y }) => y));
      expect(Math.min(...all.map((y) => Math.min(...y)))).toBeLessThan(1e-20);
      expect(Math.max(...all.map((y) => Math.max(...y)))).toBeGreaterThan(1 - 1e-6);
      expect(Math.min(...all.map((y) => Math.abs(1 - y.reduce((a, b) => a + b))))).toBeLessThan(
        1e-12,
      );
    });

    it("has the same drift if the process is given y and computes x itself", () => {
      const { shape, t, squares, rank } = pointsOf(setting, 1);
      const y = Float64Array.from(squares.flatMap((square) => square.y));
      const process = reversePush(sde, general, field(rank));
      const lemma = at((p, time) => process.drift(p, time), [shape, y], [[BOARDS], t]);
      expect(driftError(setting, lemma, 1, CORRECT)).toBeLessThan(TOLERANCE);
    });

    it("differs from the printed form with the forward drift by exactly the score term", () => {
      for (const spread of [0.3, 1, 3]) {
        const lemma = lemmaAt(spread);
        expect(driftError(setting, lemma, spread, { drift: "forward", sign: 1 })).toBeGreaterThan(
          0.05,
        );
        // printed − lemma = J σg²s
        const { squares } = pointsOf(setting, spread);
        squares.forEach(({ x, s, y, t }, q) => {
          const k = kOf(x, s, y, t, scale, { drift: "forward", sign: 1 });
          const score = Array.from(s, (v) => scale * beta(t) * v);
          const size = Math.max(...k.map(Math.abs), ...score.map(Math.abs));
          const printed = driftOf(y, k);
          driftOf(y, score).forEach((missing, i) => {
            const difference = printed[i] - lemma[q * N + i];
            expect(Math.abs(difference - missing)).toBeLessThan(TOLERANCE * y[i] * size);
          });
        });
      }
    });

    it("differs from the form with the other sign of ½g²(2y − 1)", () => {
      for (const spread of [0.3, 1, 3])
        expect(
          driftError(setting, lemmaAt(spread), spread, { drift: "reverse", sign: -1 }),
        ).toBeGreaterThan(0.05);
    });

    for (const spread of SPREADS)
      it(`has the diffusion G̃ of the appendix, at logits of spread ${spread}`, () => {
        const { shape, x, t, squares } = pointsOf(setting, spread);
        const n = sizeOf(event);
        const dense = at(
          (p, time) => {
            const g = pushedDiffusion(sde, general, p, time);
            if (g.kind !== "matrix") throw new Error(`G̃ is ${g.kind}`);
            return g.value;
          },
          [shape, x],
          [[BOARDS], t],
        );
        expect(dense.length).toBe(BOARDS * n * n);
        let most = 0;
        dense.forEach((found, flat) => {
          const [board, row, column] = [
            Math.floor(flat / n ** 2),
            Math.floor(flat / n) % n,
            flat % n,
          ];
          const [square, other] = [row, column].map((at) => Math.floor(at / N));
          const { y, t: time } = squares[(board * n) / N + square];
          const [i, j] = [row % N, column % N];
          const g = scale * Math.sqrt(beta(time));
          // Squares diffuse apart; within one, 1 − y_i is left to cancel as it is printed.
          const printed = square !== other ? 0 : i === j ? g * y[i] * (1 - y[i]) : -g * y[i] * y[j];
          const size = g * y[i] * (i === j || square !== other ? 1 : y[j]);
          most = Math.max(most, Math.abs(found - printed) / size);
        });
        expect(most).toBeLessThan(TOLERANCE);
      });
  });
