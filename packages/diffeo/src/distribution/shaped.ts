/**
 * Distributions derived from others by a change of shape or of variables:
 *
 *   independent(p)       the last axes of the batch are one value: log p = Σ log p_i
 *   transformed(p, φ)    y = φ(x), x ~ p:   log q(y) = log p(φ⁻¹(y)) − log|det J_φ(φ⁻¹(y))|
 */
import type { Bijector } from "../bijector/index.ts";
import { type Domain, domain, product, real } from "../domain/index.ts";
import {
  expandDims,
  fail,
  input,
  reference,
  reshape,
  sizeOf,
  squeeze,
  sub,
  sum,
} from "../graph/index.ts";
import { asTensor } from "../graph/tensor.ts";
import { type Distribution, distribution } from "./distribution.ts";

/** The support of `size` numbers, each in the support of a single one. */
function supportOf({ support }: Distribution, size: number): Distribution["support"] {
  if (support.kind === "bounds") return support;
  const one = support as Domain;
  if (one.kind === "real") return real(size);
  return one.size === 1
    ? product(Object.fromEntries(Array.from({ length: size }, (_, i) => [String(i + 1), one])))
    : one;
}

/**
 * Treats the last `axes` axes of the batch as axes of one value, whose log-density is their sum.
 *
 * @param axes the number of axes. Default all
 */
export function independent(base: Distribution, axes = base.batch.length): Distribution {
  if (!(Number.isInteger(axes) && axes >= 0 && axes <= base.batch.length))
    fail(
      "usage",
      `independent: \`axes\` is ${axes}, the batch has ${base.batch.length}`,
      "give at most that many",
    );
  const { batch: all, event, mean, variance } = base;
  const kept = all.slice(0, all.length - axes);
  const own = all.slice(kept.length);
  const last = own.map((_, i) => -1 - i);
  return distribution({
    ...base,
    name: `independent(${base.name})`,
    batch: kept,
    event: [...own, ...event],
    support: supportOf(base, sizeOf([...own, ...event])),
    logDensity: (x) => (axes === 0 ? base.logDensity(x) : sum(base.logDensity(x), last)),
    mean,
    variance,
    score: base.score,
    cdf: undefined,
    survival: undefined,
    quantile: undefined,
    drawFrom: (keys, numbers, batch = kept) => base.drawFrom(keys, numbers, [...batch, ...own]),
  });
}

/**
 * The distribution of φ(x) for x ~ `base`, by the change of variables (Theorem 1 of the paper). The
 * base is a distribution on all real numbers or vectors, and φ any smooth invertible map.
 *
 * @example
 * const logNormal = transformed(normal(0, 1), expMap());
 */
export function transformed(base: Distribution, phi: Bijector): Distribution {
  const { event, support, parameters } = base;
  if (support.kind !== "real")
    fail(
      "usage",
      `transformed: values of ${base.name} are of kind ${support.kind}`,
      "use a distribution on all real numbers, such as normal",
    );
  if (event.length > 1 || phi.eventRank !== 1)
    fail(
      "shape",
      `transformed: values of ${base.name} have ${event.length} axes`,
      "use a distribution of numbers or vectors, and a map on vectors",
    );
  const single = event.length === 0;
  const n = single ? 1 : event[0];
  const size = sizeOf(phi.forward(input("x", [1, n], "float64")).shape);
  return distribution({
    name: `transformed(${base.name}, ${phi.name})`,
    batch: base.batch,
    event: single ? [] : [size],
    support: domain({
      kind: phi.name,
      map: phi,
      dimension: n,
      size,
      fault: () => undefined,
    }),
    parameters,
    logDensity: (operand) => {
      const y = asTensor(operand, "float64");
      const x = phi.inverse(single ? expandDims(y, -1) : y);
      const density = base.logDensity(single ? squeeze(x, -1) : x);
      return sub(density, phi.logDet(x));
    },
    drawFrom: (keys, numbers, batch) => {
      const rows = base.drawFrom(keys, numbers, batch);
      const x = input("x", [rows.length / n, n], "float64");
      const y = reshape(phi.forward(x), [(rows.length / n) * size]);
      return reference([y], new Map([[x, rows]]))[0];
    },
  });
}
