/**
 * Distributions cut at bounds a and b, where F is the distribution function:
 *
 *   truncated   f(x)/(F(b) − F(a)),   a < x < b: values outside were not recorded
 *   censored    f(x) for a < x < b,   F(a) at x = a,   1 − F(b) at x = b: values outside were
 *               recorded as the bound
 */
import {
  constant,
  fail,
  greater,
  greaterEqual,
  lessEqual,
  log,
  type Operand,
  sizeOf,
  sub,
  Tensor,
  where,
} from "../graph/index.ts";
import { broadcastOffsets } from "../graph/loops.ts";
import { fold } from "../random/index.ts";
import { type Distribution, distribution, type Numbers } from "./distribution.ts";
import { joinParameters } from "./parts.ts";
import { batchOf, bounds, parameterTensors } from "./univariate.ts";

/** Bounds of `truncated` and `censored`; at least one is required. */
export interface CutOptions {
  /** a, the lower bound. Default: none. */
  readonly above?: Operand;
  /** b, the upper bound. Default: none. */
  readonly below?: Operand;
}

interface Cut {
  readonly base: Distribution;
  readonly a?: Tensor;
  readonly b?: Tensor;
  readonly parameters: readonly Tensor[];
  readonly numbersOf: (numbers: Numbers, part: number) => Numbers;
  readonly batch: readonly number[];
  /** F, and 1 − F without cancellation. */
  readonly cdf: (x: Tensor) => Tensor;
  readonly survival: (x: Tensor) => Tensor;
}

/** The most resamples until all values are within the bounds. */
const TRIES = 100_000;

function cutOf(name: string, base: Distribution, { above, below }: CutOptions): Cut {
  const { cdf } = base;
  if (!cdf || base.discrete)
    return fail(
      "usage",
      `${name}: the distribution function of ${base.name} is not available`,
      "use a continuous distribution with one: normal, studentT, cauchy, laplace, logistic, " +
        "gumbel, halfNormal, halfStudentT, halfCauchy, logNormal, exponential, gamma, " +
        "inverseGamma, chiSquared, weibull, pareto, uniform, beta",
    );
  if (above === undefined && below === undefined)
    fail("usage", `${name}: no bounds are given`, "give `above`, `below` or both");
  const given = {
    ...(above !== undefined && { above }),
    ...(below !== undefined && { below }),
  };
  const tensors = parameterTensors(name, given);
  const names = Object.keys(given);
  const of = (side: string): Tensor | undefined => tensors[names.indexOf(side)];
  const { parameters, numbersOf } = joinParameters([base, { parameters: tensors }]);
  const shapes = Object.fromEntries(names.map((side, i) => [side, tensors[i].shape]));
  return {
    base,
    a: of("above"),
    b: of("below"),
    parameters,
    numbersOf,
    batch: batchOf(name, { [base.name]: base.batch, ...shapes }),
    cdf,
    survival: base.survival ?? ((x) => sub(1, cdf(x))),
  };
}

/** The bounds of a row's entries; ±∞ if absent. */
function limitsOf({ a, b, numbersOf }: Cut, numbers: Numbers, shape: readonly number[]) {
  const places = [a, b].map((t) => t && broadcastOffsets(t.shape, shape));
  const own = numbersOf(numbers, 1);
  return (row: number) => {
    const values = own(row);
    const low = a && values[0];
    const high = b && values[a ? 1 : 0];
    return (i: number): [number, number] => [
      low ? low[(places[0] as Int32Array)[i]] : Number.NEGATIVE_INFINITY,
      high ? high[(places[1] as Int32Array)[i]] : Number.POSITIVE_INFINITY,
    ];
  };
}

/**
 * The distribution of x ~ `base` given that x is within the bounds; see `censored` for values
 * outside that are recorded as the bound.
 *
 * @throws DiffeoError of kind `usage` if `base` is discrete or its distribution function is not
 * available, or if no bound is given
 * @example
 * const d = truncated(normal(0, 2), { above: -1, below: 3 });
 */
export function truncated(base: Distribution, options: CutOptions): Distribution {
  const cut = cutOf("truncated", base, options);
  const { a, b, batch, cdf, survival } = cut;
  // F(b) − F(a); computed from upper tails if a is above the median.
  const share = (): Tensor => {
    if (!a) return cdf(b as Tensor);
    if (!b) return survival(a);
    const upper = greater(cdf(a), 0.5);
    return where(upper, sub(survival(a), survival(b)), sub(cdf(b), cdf(a)));
  };
  return distribution({
    name: `truncated(${base.name})`,
    batch,
    event: [],
    support: bounds(a ?? lowerOf(base), b ?? upperOf(base)),
    parameters: cut.parameters,
    logDensity: (x) => sub(base.logDensity(x), log(share())),
    drawFrom: (keys, numbers, shape = batch) => {
      const [size, own] = [sizeOf(shape), cut.numbersOf(numbers, 0)];
      const limits = limitsOf(cut, numbers, shape);
      const out = base.drawFrom(keys, own, shape);
      for (let tried = 0; ; tried++) {
        let outside = 0;
        const again = tried > 0 ? base.drawFrom(fold(keys, tried), own, shape) : out;
        for (let row = 0; row < keys.count; row++) {
          const limit = limits(row);
          for (let i = 0; i < size; i++) {
            const at = row * size + i;
            const [low, high] = limit(i);
            if (!(out[at] > low && out[at] < high)) out[at] = again[at];
            if (!(out[at] > low && out[at] < high)) outside++;
          }
        }
        if (outside === 0) return out;
        if (tried === TRIES)
          fail(
            "numerical",
            `truncated: after ${TRIES} samples of ${base.name} some are not within the bounds`,
            "give bounds with more probability; sampling is by rejection",
          );
      }
    },
  });
}

/** The bounds of a base distribution, if they are numbers. */
const lowerOf = ({ support }: Distribution): Tensor | number | undefined =>
  support.kind === "bounds"
    ? (support as { above?: Tensor }).above
    : support.kind === "positive"
      ? ((support as { spec?: { above?: number } }).spec?.above ?? 0)
      : undefined;
const upperOf = ({ support }: Distribution): Tensor | undefined =>
  support.kind === "bounds" ? (support as { below?: Tensor }).below : undefined;

/**
 * The distribution of x ~ `base` with values outside the bounds replaced by the bound. An
 * observation at a bound counts as censored.
 *
 * @example
 * const d = censored(weibull(1.5, 10), { below: 12 });   // lifetimes of a study that ended at 12
 */
export function censored(base: Distribution, options: CutOptions): Distribution {
  const cut = cutOf("censored", base, options);
  const { a, b, batch, cdf, survival } = cut;
  return {
    ...distribution({
      name: `censored(${base.name})`,
      batch,
      event: [],
      support: bounds(undefined),
      parameters: cut.parameters,
      logDensity: (x) => {
        const t = x instanceof Tensor ? x : constant(x, "float64");
        // At a bound the density may be infinite, and its gradient would make that of the result
        // NaN.
        const low = a && lessEqual(t, a);
        const high = b && greaterEqual(t, b);
        let density = base.logDensity(t);
        if (a && low) density = where(low, log(cdf(a)), density);
        if (b && high) density = where(high, log(survival(b)), density);
        return density;
      },
      drawFrom: (keys, numbers, shape = batch) => {
        const size = sizeOf(shape);
        const limits = limitsOf(cut, numbers, shape);
        const out = base.drawFrom(keys, cut.numbersOf(numbers, 0), shape);
        for (let row = 0; row < keys.count; row++) {
          const limit = limits(row);
          for (let i = 0; i < size; i++) {
            const [low, high] = limit(i);
            out[row * size + i] = Math.min(high, Math.max(low, out[row * size + i]));
          }
        }
        return out;
      },
    }),
  };
}
