/** Jacobi diffusions of the sticks of a simplex, in angles, as an arm of the comparison. */
import { blocks, chain } from "diffeo/bijector";
import {
  add,
  div,
  exp,
  expm1,
  less,
  log,
  mul,
  type NdArray,
  neg,
  onesLike,
  sin,
  sqrt,
  square,
  sub,
  type Tensor,
  where,
} from "diffeo/graph";
import { type Key, sampleKeys } from "diffeo/random";
import { pullScore } from "diffeo/score";
import { jacobi, jacobiSimplex, type Sde } from "diffeo/sde";
import { type Arm, byShares, type Form, vector, wall } from "./arm.ts";
import type { Problem } from "./losses.ts";

/** Terms of the spectral sum: they make the noise of the earliest time .02 of an angle. */
const TERMS = 400;
/** The standard deviation of an angle of Beta(1, 1). */
const ANGLE = Math.sqrt(Math.PI ** 2 / 4 - 2);
/** ∫β of VP: means of sticks decay by e^{−t} as those of VP by e^{−∫β/2}. */
const [FLAT, STEEP] = [0.1, 9.95];

/** Angles at time t, of angles at time 0: each row from its own key. */
const anglesOf =
  ({ sampleTransition }: Pick<ReturnType<typeof jacobi>, "sampleTransition">, n: number) =>
  (start: NdArray, t: NdArray, key: Key): NdArray => {
    const data = Float64Array.from(start.data as Float64Array, (v) => Math.sin(v / 2) ** 2);
    t.data.forEach((time, i) => {
      const row = data.subarray(i * n, (i + 1) * n);
      const z0 = { shape: [1, n], dtype: "float64" as const, data: row.slice() };
      row.set(sampleTransition(sampleKeys(key, 1, i), z0, Number(time)).data);
    });
    for (let i = 0; i < data.length; i++) data[i] = 2 * Math.asin(Math.sqrt(data[i]));
    return { shape: start.shape, dtype: "float64", data };
  };

/** The form of a score of angles; `at` is the angle inside of [0, π], `side` −1 beyond. */
function formOf(angle: Sde, theta: Tensor, at: Tensor, side: Tensor, t: Tensor): Form {
  const [m, sigma] = [exp(neg(t)), sqrt(neg(expm1(mul(t, -2))))];
  // The angle's noise has one size √s, so its drift is ½ s ∇ log of the stationary density.
  const rate = square(angle.diffusion(theta, t).value as Tensor);
  const inner = mul(side, wall(at, sub(Math.PI, at), sigma));
  return {
    base: div(mul(angle.drift(theta, t), 2), rate),
    size: mul(inner, vector(div(m, sigma))),
    sigma,
    level: mul(log(div(m, sigma)), 2),
  };
}

/** The sites of a grid are simplices of their own. */
export function jacobiArm({ phi, n }: Problem): Arm {
  const sites = n / 2;
  const all = <T>(pair: readonly T[]): T[] => Array.from({ length: sites }, () => pair).flat();
  const horizon = (FLAT + STEEP) / 2;
  const {
    angle,
    phi: squared,
    ...process
  } = jacobi({
    ...{ a: all([1, 1]), b: all([2, 1]), terms: TERMS, horizon },
  });
  const { sticks } = jacobiSimplex({ alpha: [1, 1, 1] });
  const psi = chain(
    squared,
    blocks(Array.from({ length: sites }, () => ({ map: sticks, size: 2 }))),
  );
  const earliest = (Math.sqrt(FLAT ** 2 + 8 * STEEP * process.firstTime) - FLAT) / (2 * STEEP);
  const timeAt = (share: number): number => {
    const u = earliest + (1 - earliest) * share;
    return Math.min(horizon, (FLAT * u + STEEP * u * u) / 2);
  };
  // An angle beyond 0 or π is its mirror image, and the score there the mirrored one.
  const inside = (theta: Tensor): Tensor => squared.inverse(squared.forward(theta));
  const side = (theta: Tensor): Tensor =>
    where(less(sin(theta), 0), neg(onesLike(theta)), onesLike(theta));
  return {
    sde: angle,
    inputs: n,
    outputs: n,
    timeAt,
    grid: byShares(timeAt),
    start: (x0) => psi.inverse(phi.forward(x0)),
    noised: { kind: "host", of: anglesOf(process, n) },
    target: (theta, start, t) => {
      const [z, z0] = [squared.forward(theta), squared.forward(start)];
      return pullScore(squared, theta, process.transitionScore(z, z0, t));
    },
    read: (theta) => mul(sub(inside(theta), Math.PI / 2), 1 / ANGLE),
    form: (theta, t) => formOf(angle, theta, inside(theta), side(theta), t),
    full: (score) => score,
    toY: (theta) => psi.forward(theta),
    density: {
      kind: "quadrature",
      psi,
      logTransition: (theta, start, t) =>
        add(
          process.logTransition(squared.forward(theta), squared.forward(start), t),
          squared.logDet(theta),
        ),
      low: 0,
      high: Math.PI,
      spread: Math.sqrt,
    },
  };
}
