/** log p_t of the states of an arm, where x₀ is a mixture of three Gaussians. */

import { compile } from "diffeo/engine";
import { add, constant, logSumExp, type NdArray, stack, type Tensor } from "diffeo/graph";
import { pushLogDensity } from "diffeo/score";
import { gaussLegendre } from "../problem/gauss-legendre.ts";
import { components, threeGaussians, VARIANCE } from "../problem/mixture.ts";
import type { Arm } from "./arm.ts";
import { engine } from "./budget.ts";
import type { Problem } from "./losses.ts";

/** Nodes per coordinate, over so many lengths of the noise on either side. */
const NODES = 24;
const REACH = 7;

/** log p_t at states [count, …]. */
export async function logDensityAt(
  { density }: Arm,
  problem: Problem,
  states: NdArray,
  time: number,
): Promise<Float64Array> {
  if (density.kind === "quadrature") return byQuadrature(density, problem, states, time);
  const graph = compile(
    (u: Tensor, t: Tensor) =>
      logSumExp(
        stack(
          components.map(({ weight, mean }) =>
            add(density.of(u, constant([mean], u.dtype), t, VARIANCE), Math.log(weight)),
          ),
          -1,
        ),
        -1,
      ),
    [states.shape, []],
    engine,
  );
  const { data } = await graph(states, time);
  await graph.dispose();
  return data as Float64Array;
}

/** Points that are integrated at once: the spectral sum of one has many terms. */
const AT_ONCE = 16;

/**
 * log ∫ p₀(u₀) p(u | u₀) du₀ in the plane, over a square around u. With x = φ⁻¹(ψ(u₀)),
 * log p₀(u₀) = log p(x) − ℓ_φ(x) + ℓ_ψ(u₀).
 */
async function byQuadrature(
  { psi, logTransition, low, high, spread }: Extract<Arm["density"], { kind: "quadrature" }>,
  { phi }: Problem,
  { shape: [count], data: u }: NdArray,
  time: number,
): Promise<Float64Array> {
  const rule = gaussLegendre(NODES);
  const reach = REACH * spread(time);
  const axis = (value: number) => {
    const [from, to] = [Math.max(low, value - reach), Math.min(high, value + reach)];
    return rule.map(({ at, weight }) => ({
      at: from + ((to - from) * (1 + at)) / 2,
      weight: (weight * (to - from)) / 2,
    }));
  };
  const rows = AT_ONCE * NODES ** 2;
  const joint = compile(
    (from: Tensor, to: Tensor, t: Tensor) => {
      const x = phi.inverse(psi.forward(from));
      const prior = add(pushLogDensity(phi, x, threeGaussians().logDensity(x)), psi.logDet(from));
      return add(prior, logTransition(to, from, t));
    },
    [[rows, 2], [rows, 2], []],
    engine,
  );
  const density = new Float64Array(count);
  for (let first = 0; first < count; first += AT_ONCE) {
    const [from, to, weights] = [2, 2, 1].map((n) => new Float64Array(rows * n));
    for (let k = 0, row = 0; k < AT_ONCE; k++) {
      // The last point is repeated where fewer are left.
      const i = Math.min(count - 1, first + k);
      const point = [Number(u[2 * i]), Number(u[2 * i + 1])];
      const [across, up] = point.map(axis);
      for (const a of across)
        for (const b of up) {
          from.set([a.at, b.at], 2 * row);
          to.set(point, 2 * row);
          weights[row++] = a.weight * b.weight;
        }
    }
    const pairs = (data: Float64Array): NdArray => ({ shape: [rows, 2], dtype: "float64", data });
    const { data } = await joint(pairs(from), pairs(to), time);
    for (let row = 0; row < rows; row++) {
      const i = first + Math.floor(row / NODES ** 2);
      const value = weights[row] * Math.exp(Number(data[row]));
      // Far from u the spectral sum is 0 up to rounding, of either sign.
      if (i < count && Number.isFinite(value)) density[i] += value;
    }
  }
  await joint.dispose();
  return density.map(Math.log);
}
