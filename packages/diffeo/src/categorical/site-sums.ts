/**
 * Bounds on a sum over sites, S = Σ v(class of the site), such as a count of a class or a total.
 * Given the noisy grid x_t, with the posterior p(k | x_t) of each site and sites taken as
 * independent, S has
 *
 *   mean μ = Σ_sites Σ_k p_k v_k        variance τ² = Σ_sites (Σ_k p_k v_k² − (Σ_k p_k v_k)²)
 *
 * and is approximately normal, so that with u² = τ² + 0.2²
 *
 *   log ψ = log P(least ≤ S ≤ most) ≈ log[Φ(b) − Φ(a)]
 *   a = (least − ½ − μ)/u,   b = (most + ½ − μ)/u
 *
 * The 0.2 limits the gradient if all sites are decided and S is outside the bounds: a sum that is
 * off by one is e⁵ times less likely. Sites are not independent, so this is an approximation; its
 * error is small where classes are nearly decided, and `particles` corrects it.
 */
import { sumEvent } from "../bijector/index.ts";
import {
  add,
  constant,
  div,
  erfc,
  exp,
  expm1,
  fail,
  greater,
  log,
  log1p,
  matmul,
  maximum,
  minimum,
  mul,
  neg,
  reshape,
  sqrt,
  square,
  sub,
  sum,
  type Tensor,
  where,
} from "../graph/index.ts";

/** Bounds on a sum over sites: the value of each class, and the least and the most of the sum. */
export interface SiteSum<N = number> {
  /** v: the value of each class, an integer. */
  readonly values: readonly number[];
  /** The least and the most of the sum, inclusive. Default: no bound. */
  readonly least?: N;
  readonly most?: N;
}

/** A lower bound on the variance of a sum. */
const FLOOR = 0.2 ** 2;

/** Below it erfc in float32 approaches zero, and the series of the tail has six digits. */
const TAIL = -10;

/** log Φ(z): by erfc, and in the lower tail −z²/2 − log(−z√2π) + log(1 − z⁻² + 3z⁻⁴ − 15z⁻⁶). */
function logNormal(z: Tensor): Tensor {
  const near = maximum(z, TAIL);
  const middle = log(mul(erfc(mul(near, -Math.SQRT1_2)), 0.5));
  const far = minimum(z, TAIL);
  const w = div(1, square(far));
  const series = mul(w, add(mul(w, add(mul(w, -15), 3)), -1));
  const tail = add(
    sub(mul(square(far), -0.5), log(mul(far, -Math.sqrt(2 * Math.PI)))),
    log1p(series),
  );
  return where(greater(z, TAIL), middle, tail);
}

/**
 * log[Φ(b) − Φ(a)] for a < b. Both are reflected to the side where Φ is small: there a difference
 * keeps its digits.
 */
function logBetween(a: Tensor, b: Tensor): Tensor {
  const above = greater(add(a, b), 0);
  const upper = logNormal(where(above, neg(a), b));
  const lower = logNormal(where(above, neg(b), a));
  return add(upper, log(neg(expm1(sub(lower, upper)))));
}

/**
 * log ψ of one sum, from log p(k | x_t) of all classes of every site, [batch, ...grid, classes].
 *
 * @returns one number per grid
 */
export function siteSum(
  logPosterior: Tensor,
  { values, least, most }: SiteSum<number | Tensor>,
): Tensor {
  const shape = logPosterior.shape;
  const classes = shape.at(-1) as number;
  if (values.length !== classes || !values.every(Number.isSafeInteger))
    fail(
      "usage",
      `a sum over sites of ${values.length} values`,
      `give ${classes} integers, one per class`,
    );
  if (least === undefined && most === undefined)
    fail("usage", "a sum over sites without a bound", "give `least`, `most` or both");
  if (typeof least === "number" && typeof most === "number" && least > most)
    fail(
      "usage",
      `a sum over sites of at least ${least} and at most ${most}`,
      "give `least` below `most`",
    );
  const p = exp(logPosterior);
  const column = (f: (v: number) => number): Tensor =>
    constant(
      { shape: [classes, 1], dtype: "float64", data: Float64Array.from(values, f) },
      p.dtype,
    );
  const moment = (f: (v: number) => number): Tensor =>
    reshape(matmul(p, column(f)), shape.slice(0, -1));
  const mean = moment((v) => v);
  const sites = shape.length - 2;
  const mu = sumEvent(mean, sites);
  const u = sqrt(
    add(
      sumEvent(
        maximum(
          sub(
            moment((v) => v * v),
            square(mean),
          ),
          0,
        ),
        sites,
      ),
      FLOOR,
    ),
  );
  const edge = (at: number | Tensor, beyond: number): Tensor => div(add(sub(at, mu), beyond), u);
  if (least === undefined) return logNormal(edge(most as number | Tensor, 0.5));
  if (most === undefined) return logNormal(neg(edge(least, -0.5)));
  return logBetween(edge(least, -0.5), edge(most, 0.5));
}

/** A sum over some sites, numbered in reading order. */
export interface GroupSum extends SiteSum {
  readonly sites: readonly number[];
}

/** The value of a missing bound, far beyond every sum. */
const noBound = (sums: readonly GroupSum[]): number =>
  Math.max(
    1e4,
    ...sums.map(({ sites, values }) =>
      values.reduce((most, v) => Math.max(most, 10 * sites.length * Math.abs(v)), 0),
    ),
  );

/**
 * Σ log ψ of many sums over parts of a grid, from log p(k | x_t), [batch, ...grid, classes]; one
 * number per grid. Sums are the last axis, so that any number of them needs only a few operations.
 */
export function groupSums(logPosterior: Tensor, sums: readonly GroupSum[]): Tensor {
  const [batch, ...rest] = logPosterior.shape;
  const classes = rest.at(-1) as number;
  const sites = rest.slice(0, -1).reduce((a, b) => a * b, 1);
  const p = reshape(exp(logPosterior), [batch, sites, classes]);
  const table = (rows: number, entry: (row: number, sum: GroupSum) => number): Tensor =>
    constant(
      Array.from({ length: rows }, (_, row) => sums.map((sum) => entry(row, sum))),
      p.dtype,
    );
  const own = table(sites, (site, sum) => (sum.sites.includes(site) ? 1 : 0));
  const moment = (power: number): Tensor =>
    matmul(
      p,
      table(classes, (k, { values }) => values[k] ** power),
    );
  const mean = moment(1);
  const spread = maximum(sub(moment(2), square(mean)), 0);
  const over = (t: Tensor): Tensor => sum(mul(t, own), 1);
  const u = sqrt(add(over(spread), FLOOR));
  const edge = (of: (sum: GroupSum) => number): Tensor =>
    div(sub(constant(sums.map(of), p.dtype), over(mean)), u);
  const none = noBound(sums);
  const below = edge(({ least = -none }) => least - 0.5);
  return sum(
    logBetween(
      below,
      edge(({ most = none }) => most + 0.5),
    ),
    1,
  );
}
