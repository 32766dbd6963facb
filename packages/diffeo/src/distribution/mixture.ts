/**
 * Mixtures p = Σ wₖpₖ: log p = log Σ exp(log wₖ + log pₖ), and with the responsibilities rₖ =
 * wₖpₖ/p
 *
 *   ∇ log p = Σ rₖ ∇ log pₖ
 *
 * The marginal of a mixture under a Gaussian transition is the mixture of the marginals.
 */
import {
  add,
  addAll,
  at,
  expandDims,
  fail,
  logSumExp,
  mul,
  type Operand,
  softmax,
  stack,
  type Tensor,
} from "../graph/index.ts";
import { fold, type Keys, uniform } from "../random/index.ts";
import { type Density, type Diffusible, type Distribution, vectors } from "./distribution.ts";
import { mixtureOf } from "./mixture-of.ts";

/** A component of a mixture, with its weight. */
export interface Component<D> {
  /** The weight, relative to those of the others. Default 1. */
  readonly weight?: number;
  readonly distribution: D;
}

/**
 * A mixture of distributions, with the component of each value summed out. With `[{ weight,
 * distribution }, …]` as the only argument it is a mixture of `Diffusible` distributions, which has
 * their marginals.
 *
 * @param weights one weight per component, on the last axis or as a list; they are divided by their
 * sum
 * @param components a list of distributions, or one with the components on the last axis of its
 * parameters
 * @example
 * const two = mixture([0.3, 0.7], [normal(0, 1), studentT(3, 2, 1)]);
 * const same = mixture([0.3, 0.7], normal([0, 2], [1, 0.5]));
 */
export function mixture(
  weights: Operand | readonly Operand[],
  components: Distribution | readonly Distribution[],
): Distribution;
export function mixture(components: readonly Component<Diffusible>[]): Diffusible;
export function mixture(
  first: readonly Component<Diffusible>[] | Operand | readonly Operand[],
  second?: Distribution | readonly Distribution[],
): Distribution {
  return second === undefined
    ? diffusibleMixture(first as readonly Component<Diffusible>[])
    : mixtureOf(first as Operand | readonly Operand[], second);
}

function diffusibleMixture(components: readonly Component<Diffusible>[]): Diffusible {
  if (components.length === 0) fail("usage", "mixture: no components", "give at least one");
  const parts = components.map((c) => c.distribution);
  const weights = components.map((c) => c.weight ?? 1);
  const n = parts[0].dimension;
  const odd = parts.find((d) => d.dimension !== n);
  if (odd)
    fail(
      "shape",
      `mixture: the components have ${n} and ${odd.dimension} dimensions`,
      "give components of the same dimension",
    );
  if (weights.some((w) => !(w > 0 && Number.isFinite(w))))
    fail(
      "usage",
      `mixture: the weights [${weights.join(", ")}] are not all positive`,
      "remove components without weight",
    );
  const total = weights.reduce((s, w) => s + w, 0);
  const logWeights = weights.map((w) => Math.log(w / total));

  const mixed = (densities: readonly Density[]): Density => {
    /** log wₖpₖ(x) along a new last axis. */
    const joint = (x: Tensor): Tensor =>
      stack(
        densities.map((d, k) => add(d.logDensity(x), logWeights[k])),
        -1,
      );
    return {
      logDensity: (x) => logSumExp(joint(x), -1),
      score: (x) => {
        const responsibilities = softmax(joint(x), -1);
        return addAll(
          densities.map((d, k) => mul(expandDims(at(responsibilities, k, -1), -1), d.score(x))),
        );
      },
    };
  };
  const draw = (keys: Keys): Float64Array => {
    const { data: u } = uniform(fold(keys, "component"), [], { dtype: "float64" });
    const out = new Float64Array(keys.count * n);
    let low = 0;
    parts.forEach((part, k) => {
      const high = k === parts.length - 1 ? 1 : low + weights[k] / total;
      const rows = [...u.keys()].filter((i) => u[i] >= low && u[i] < high);
      const drawn = part.draw(subset(keys, rows));
      rows.forEach((row, i) => {
        out.set(drawn.subarray(i * n, (i + 1) * n), row * n);
      });
      low = high;
    });
    return out;
  };
  return {
    ...vectors("mixture", n, draw),
    ...mixed(parts),
    marginal: (m, sigma) => mixed(parts.map((d) => d.marginal(m, sigma))),
  };
}

const subset = (keys: Keys, rows: readonly number[]): Keys => {
  const words = new Uint32Array(4 * rows.length);
  rows.forEach((row, i) => {
    words.set(keys.words.subarray(4 * row, 4 * row + 4), 4 * i);
  });
  return { count: rows.length, words };
};
