/**
 * The Jacobi diffusion on (0, 1), with independent coordinates (P. Avdeyev et al., "Dirichlet
 * diffusion score model for biological sequence generation", ICML 2023):
 *
 *   dZ = (s/2)(a(1 − Z) − bZ) dt + √(s Z(1 − Z)) dW,   stationary Beta(a, b)
 *
 * Its transition is a spectral sum (jacobi-spectrum.ts).
 *
 * An angle has constant noise: for z = sin²(θ/2),
 *
 *   dθ = (s/2)((a − ½) cot(θ/2) − (b − ½) tan(θ/2)) dt + √s dW
 *
 * by Itô's lemma. The process is symmetric around 0 and π, so a step of θ in R never leaves the
 * domain. With a = b = ½, θ is Brownian motion reflected at 0 and π.
 */
import { type Bijector, coordinatewise, sumEvent } from "../bijector/index.ts";
import { betaVariate, binomialVariate } from "../distribution/variates.ts";
import {
  abs,
  add,
  allocate,
  atan,
  cos,
  div,
  fail,
  log,
  mul,
  sin,
  sqrt,
  square,
  sub,
  type Tensor,
  zerosLike,
} from "../graph/index.ts";
import { type FloatArray, type Keys, type Sequence, sequence } from "../random/index.ts";
import {
  type Coordinate,
  coordinatesOf,
  eigenvalue,
  type JacobiOptions,
  spectrumOf,
} from "./jacobi-spectrum.ts";
import type { Prior } from "./prior.ts";
import type { Sde } from "./sde.ts";

/** The result of `jacobi`: the process, its transition and exact samples. */
export interface Jacobi {
  /** The process of z on (0, 1)ⁿ, with its prior Beta(a, b). */
  readonly sde: Sde;
  /** The map z = sin²(θ/2) from (0, π)ⁿ. */
  readonly phi: Bijector;
  /**
   * The process of θ, in which samplers step: `reversePush(angle, phi, pulledScore(phi, score))`.
   */
  readonly angle: Sde;
  /** From this time on the omitted terms of the spectral sum are below 10⁻¹⁰. */
  readonly firstTime: number;
  /** log p_{0t}(z | z₀), one number per event. */
  readonly logTransition: (z: Tensor, z0: Tensor, t: Tensor) => Tensor;
  /** ∇ log p_{0t}(z | z₀), the target of denoising score matching. */
  readonly transitionScore: (z: Tensor, z0: Tensor, t: Tensor) => Tensor;
  /** Samples Z_t for each row of z₀, [rows, n], exactly and at any time. */
  readonly sampleTransition: (keys: Keys, z0: FloatArray, t: number) => FloatArray;
}

/** The number of lines of descent that remain after a time, of infinitely many. */
function linesLeft(random: Sequence, theta: number, time: number): number {
  // k lines last for Exp(k(k − 1 + θ)/2). Those above `most` last for 2/(most + θ/2) on average;
  // the standard deviation 1.2/most^{3/2}, below 3·10⁻⁴, is neglected.
  const most = Math.max(256, Math.ceil(16 / time));
  let left = time - 2 / (most + theta / 2);
  for (let k = most; k > 0; k--) {
    left += (Math.log(random.uniform()) * 2) / (k * (k - 1 + theta));
    if (left < 0) return k;
  }
  return 0;
}

/** z = sin²(θ/2): z′ = ½ sin θ, (log z′)′ = cot θ. */
const squaredSine = (): Bijector =>
  coordinatewise({
    name: "sin²(θ/2)",
    forward: (theta) => square(sin(mul(theta, 0.5))),
    inverse: (z) => mul(atan(div(sqrt(z), sqrt(sub(1, z)))), 2),
    slope: (theta) => mul(sin(theta), 0.5),
    logSlope: (theta) => log(abs(mul(sin(theta), 0.5))),
    logSlopeDerivative: (theta) => div(cos(theta), sin(theta)),
  });

/** What the parts of a Jacobi diffusion share: the coordinates and their spectral sums. */
interface Parts extends ReturnType<typeof spectrumOf> {
  readonly all: readonly Coordinate[];
  readonly phi: Bijector;
  readonly horizon: number;
}

/** Samples of Beta(a, b) per coordinate. */
const sampleBeta =
  (all: readonly Coordinate[]): Prior["sample"] =>
  (keys, event, dtype) => {
    const n = event.at(-1) as number;
    const data = allocate(dtype, keys.count * n) as FloatArray["data"];
    for (let row = 0; row < keys.count; row++) {
      const random = sequence(keys, row);
      for (let i = 0; i < n; i++) {
        const { a, b } = all[all.length === 1 ? 0 : i];
        data[row * n + i] = betaVariate(random, a, b);
      }
    }
    return { shape: [keys.count, ...event], dtype, data } as FloatArray;
  };

/** The process of z. */
const processOf = ({ all, each, logBeta, horizon }: Parts): Sde => ({
  eventRank: 1,
  horizon,
  name: "Jacobi",
  drift: (z) => {
    const up = each(z, ({ a, s }) => (s * a) / 2);
    const down = each(z, ({ a, b, s }) => (s * (a + b)) / 2);
    return sub(up, mul(z, down));
  },
  diffusion: (z) => {
    const rate = each(z, (c) => c.s);
    return { kind: "diagonal", value: sqrt(mul(mul(z, sub(1, z)), rate)) };
  },
  // g² = s z(1 − z), (g²)′ = s(1 − 2z): differentiating the root would divide by it.
  reversal: (z, score) => {
    const rate = each(z, (c) => c.s);
    return mul(add(mul(mul(z, sub(1, z)), score), sub(1, mul(z, 2))), rate);
  },
  prior: { sample: sampleBeta(all), logDensity: (z) => sumEvent(logBeta(z), 1) },
});

/** The process of θ. */
const angleOf = ({ all, each, logBeta, phi, horizon }: Parts): Sde => ({
  eventRank: 1,
  horizon,
  name: "angle of Jacobi",
  drift: (theta) => {
    const half = mul(theta, 0.5);
    const [c, s] = [cos(half), sin(half)];
    const up = each(theta, ({ a, s: rate }) => (rate * (a - 0.5)) / 2);
    const down = each(theta, ({ b, s: rate }) => (rate * (b - 0.5)) / 2);
    return sub(mul(div(c, s), up), mul(div(s, c), down));
  },
  diffusion: (theta) => {
    const size = each(theta, (c) => Math.sqrt(c.s));
    return { kind: "diagonal", value: add(zerosLike(theta), size) };
  },
  prior: {
    sample: (keys, event, dtype) => {
      const start = sampleBeta(all)(keys, event, dtype);
      start.data.forEach((z, i) => {
        start.data[i] = 2 * Math.asin(Math.sqrt(z));
      });
      return start;
    },
    logDensity: (theta) => add(sumEvent(logBeta(phi.forward(theta)), 1), phi.logDet(theta)),
  },
});

/** log p_{0t} and its score, from the spectral sum. */
const transitionOf = ({
  each,
  series,
  logBeta,
}: Parts): Pick<Jacobi, "logTransition" | "transitionScore"> => ({
  logTransition: (z, z0, t) => sumEvent(add(logBeta(z), log(series(z, z0, t).sum)), 1),
  transitionScore: (z, z0, t) => {
    const { sum: total, slope } = series(z, z0, t);
    const low = div(
      each(z, ({ a }) => a - 1),
      z,
    );
    const high = div(
      each(z, ({ b }) => b - 1),
      sub(1, z),
    );
    return add(sub(low, high), div(slope, total));
  },
});

/**
 * Of m remaining lines, L ~ Binomial(m, z₀) are of the first kind, and Z_t ~ Beta(a + L, b + m − L)
 * (R. Griffiths and D. Spanò, 2010).
 */
const sampleTransitionOf =
  (all: readonly Coordinate[]): Jacobi["sampleTransition"] =>
  (keys, z0, t) => {
    const [rows, n] = z0.shape;
    const data = allocate(z0.dtype, rows * n) as FloatArray["data"];
    for (let row = 0; row < rows; row++) {
      const random = sequence(keys, row);
      for (let i = row * n; i < (row + 1) * n; i++) {
        const { a, b, s } = all[all.length === 1 ? 0 : i - row * n];
        const m = linesLeft(random, a + b, s * t);
        const first = binomialVariate(random, m, z0.data[i]);
        data[i] = betaVariate(random, a + first, b + m - first);
      }
    }
    return { ...z0, data } as FloatArray;
  };

/**
 * The Jacobi diffusion of vectors in (0, 1)ⁿ, with independent coordinates. It is stationary under
 * Beta(a, b).
 *
 * Train in z by `transitionScore`, or in θ with `pulledScore`. Sample in θ, where steps do not
 * leave the domain. If a or b is below ½, θ reaches 0 or π, and steps near it are biased.
 *
 * @throws DiffeoError of kind `usage` if a parameter is not positive
 * @example
 * import { key } from "diffeo/random";
 * import { pulledScore } from "diffeo/score";
 *
 * const { angle, phi } = jacobi({ a: 2, b: 3 });
 * // This is the score of Beta(2, 3); replace it by a network of z and t.
 * const score = (z: Tensor) => sub(div(1, z), div(2, sub(1, z)));
 * const process = reversePush(angle, phi, pulledScore(phi, score));
 * await sample(process, { shape: [2], count: 100, key: key(1), solver: "domainPreserving" });
 */
export function jacobi(options: JacobiOptions = {}): Jacobi {
  const { horizon = 6, terms = 80 } = options;
  if (!(horizon > 0 && horizon < Infinity))
    fail("usage", `jacobi: \`horizon\` is ${horizon}`, "use a positive number");
  if (!Number.isInteger(terms) || terms < 2)
    fail("usage", `jacobi: \`terms\` is ${terms}`, "use an integer of at least 2");
  const all = coordinatesOf(options);
  const phi = squaredSine();
  const parts: Parts = { ...spectrumOf(all, terms), all, phi, horizon };
  return {
    phi,
    firstTime: Math.max(...all.map((c) => 28 / (c.s * eigenvalue(terms, c)))),
    sde: processOf(parts),
    angle: angleOf(parts),
    ...transitionOf(parts),
    sampleTransition: sampleTransitionOf(all),
  };
}
