/**
 * The gradient of a score-matching loss of a kernel energy: third derivatives of
 * f(x) = Σ_l α_l exp(−½‖h(x) − h(z_l)‖²), h a three-layer softplus network.
 */
import {
  add,
  dot,
  exp,
  expandDims,
  gradEach,
  matmul,
  mean,
  mul,
  softplus,
  squaredNorm,
  sub,
  type Tensor,
  traceJacobian,
  transpose,
  valueAndGrad,
} from "diffeo/graph";
import { fold, key, normal, rademacher } from "diffeo/random";

export const sizes = { batch: 200, n: 15, points: 200, width: 30 } as const;

export interface KernelEnergy<T> {
  readonly layers: readonly { readonly w: T; readonly b: T }[];
  readonly z: T;
  readonly alpha: T;
}

/** h(x): n → width → width → width with softplus between. */
const features = ({ layers }: KernelEnergy<Tensor>, x: Tensor): Tensor =>
  layers.reduce((h, { w, b }, i) => {
    const y = add(matmul(h, w), b);
    return i < layers.length - 1 ? softplus(y) : y;
  }, x);

/** ‖a − b‖² = ‖a‖² − 2a·b + ‖b‖², all pairs in one product. */
function energy(p: KernelEnergy<Tensor>, x: Tensor): Tensor {
  const hx = features(p, x);
  const hz = features(p, p.z);
  const distance = add(
    sub(expandDims(squaredNorm(hx), -1), mul(matmul(hx, transpose(hz)), 2)),
    squaredNorm(hz),
  );
  return dot(exp(mul(distance, -0.5)), p.alpha);
}

/** mean(½‖s‖² + vᵀ∇s v), s = ∇f */
export function loss(p: KernelEnergy<Tensor>, x: Tensor, v: Tensor): Tensor {
  const score = gradEach((y) => energy(p, y));
  return mean(add(mul(squaredNorm(score(x)), 0.5), traceJacobian(score, x, v)));
}

export const lossAndGradient = valueAndGrad(loss);

/** Parameters, points and directions: samples of one key, the same in every language. */
export function data<D extends "float32" | "float64">(dtype: D) {
  const { batch, n, points, width } = sizes;
  const k = key(3);
  const draw = (name: string, shape: readonly number[], scale = 1) => {
    const a = normal(fold(k, name), shape, { dtype });
    return { ...a, data: a.data.map((v) => v * scale) };
  };
  const layer = (i: number, from: number) => ({
    w: draw(`w${i}`, [from, width], 1 / Math.sqrt(width)),
    b: draw(`b${i}`, [width], 0.3),
  });
  return {
    parameters: {
      layers: [layer(0, n), layer(1, width), layer(2, width)],
      z: draw("z", [points, n]),
      alpha: draw("alpha", [points], 0.1),
    },
    x: draw("x", [batch, n]),
    v: rademacher(fold(k, "v"), [batch, n], { dtype }),
  };
}
