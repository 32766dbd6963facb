/**
 * Hidden Markov models with the states summed out. With the probabilities π of the first state,
 * P_jk of a step from j to k, and the density e_t(k) of y_t in state k,
 *
 *   p(y) = Σ_k α_n(k),   α_1(k) = π_k e_1(k),   α_t(k) = e_t(k) Σ_j α_{t−1}(j) P_jk
 *
 * which is a product of matrices (P_jk e_t(k)), computed pairwise and in logarithms.
 */
import { real } from "../domain/index.ts";
import {
  add,
  at,
  combineAll,
  concat,
  expand,
  expandDims,
  fail,
  flip,
  log,
  logSumExp,
  type Operand,
  scan,
  showShape,
  sizeOf,
  slice,
  softmax,
  type Tensor,
} from "../graph/index.ts";
import { asTensor } from "../graph/tensor.ts";
import { fold, sequence } from "../random/index.ts";
import { type Distribution, distribution } from "./distribution.ts";
import { joinParameters } from "./parts.ts";
import { bounds } from "./univariate.ts";

/** Options of `hiddenMarkov`: the chain of states and the emissions. */
export interface HiddenMarkovOptions {
  /** Number of observations. */
  readonly length: number;
  /** P, [K, K]: row j has the probabilities of the state after j. */
  readonly transition: Operand;
  /** The distribution of an observation in each state, with the K states on its batch axis. */
  readonly emission: Distribution;
  /** Probabilities of the first state, [K]. Default: uniform. */
  readonly initial?: Operand;
}

interface Chain {
  readonly states: number;
  readonly transition: Tensor;
  readonly initial: Tensor;
  /** log π_k + log e_1(k) [K]; log P_jk e_t(k) [n − 1, K, K] */
  readonly first: (y: Tensor) => Tensor;
  readonly steps: (y: Tensor) => Tensor;
}

/** The logarithm of a product of matrices […, j, k], given by their logarithms. */
const logProduct = (a: Tensor, b: Tensor): Tensor =>
  logSumExp(add(expandDims(a, -1), expandDims(b, -3)), -2);

function chainOf({ transition, emission, initial, length }: HiddenMarkovOptions): Chain {
  const p = asTensor(transition, "float64");
  const states = p.shape.at(-1) ?? 0;
  if (p.shape.length !== 2 || p.shape[0] !== states)
    fail(
      "shape",
      `hiddenMarkov: transition has shape ${showShape(p.shape)}`,
      "give a matrix [K, K]; row j has the probabilities of the state after j",
    );
  if (emission.batch.length !== 1 || emission.batch[0] !== states)
    fail(
      "shape",
      `hiddenMarkov: \`emission\` has batch shape ${showShape(emission.batch)} for ${states} ` +
        "states",
      "give a distribution with one value per state, such as normal(mu, sigma) with mu [K]",
    );
  if (!(Number.isSafeInteger(length) && length >= 2))
    fail("usage", `hiddenMarkov: \`length\` is ${length}`, "give an integer of at least 2");
  const equal = Array.from({ length: states }, () => 1 / states);
  const start = asTensor(initial ?? equal, "float64");
  const seen = (y: Tensor): Tensor =>
    emission.logDensity(expandDims(y, -1 - emission.event.length));
  return {
    states,
    transition: p,
    initial: start,
    first: (y) => add(log(start), at(seen(y), 0, -2)),
    steps: (y) => {
      const each = seen(y);
      const outer = each.shape.slice(0, -2).map(() => null);
      return add(expandDims(slice(each, ...outer, [1, length]), -2), log(p));
    },
  };
}

/**
 * A hidden Markov model: the distribution of `length` observations in order, with the states summed
 * out.
 *
 * @example
 * import { ordered } from "diffeo/domain";
 * import { model } from "diffeo/mcmc";
 *
 * export default model(({ parameter, observe }, data) => {
 *   const transition = parameter("transition", dirichlet([1, 1]), { shape: 2 });
 *   const mu = parameter("mu", normal(0, 5), { domain: ordered(2) });
 *   const length = data.y.shape[0];
 *   observe("y", hiddenMarkov({ transition, emission: normal(mu, 1), length }));
 * });
 */
export function hiddenMarkov(options: HiddenMarkovOptions): Distribution {
  const { length, emission } = options;
  const { states, transition, initial, first, steps } = chainOf(options);
  const { parameters, numbersOf } = joinParameters([
    { parameters: [initial, transition] },
    emission,
  ]);
  const event = [length, ...emission.event];
  const { discrete } = emission;
  return distribution({
    name: `hiddenMarkov(${emission.name})`,
    batch: [],
    event,
    discrete,
    support: emission.event.length === 0 ? eachOf(emission, length) : bounds(undefined),
    parameters,
    logDensity: (x) => {
      const y = asTensor(x, "float64");
      const paths = add(expandDims(first(y), -1), combineAll(logProduct, steps(y), -3));
      return logSumExp(paths, [-2, -1]);
    },
    drawFrom: (keys, numbers, shape = []) => {
      const [repeats, size] = [sizeOf(shape), sizeOf(emission.event)];
      const own = numbersOf(numbers, 1);
      const all = emission.drawFrom(fold(keys, "emission"), own, [...shape, length, states]);
      const out = new Float64Array(keys.count * repeats * length * size);
      const choices = fold(keys, "states");
      for (let row = 0; row < keys.count; row++) {
        const random = sequence(choices, row);
        const [start, rows] = numbers(row);
        for (let r = 0; r < repeats; r++) {
          let state = 0;
          for (let t = 0; t < length; t++) {
            const from = t === 0 ? start : rows.subarray(state * states, (state + 1) * states);
            state = choose(from, random.uniform());
            const place = (row * repeats + r) * length + t;
            const entry = (place * states + state) * size;
            out.set(all.subarray(entry, entry + size), place * size);
          }
        }
      }
      return out;
    },
  });
}

/** The support of a list of numbers, each in the support of a single one. */
const eachOf = ({ discrete, support }: Distribution, length: number): Distribution["support"] =>
  discrete
    ? bounds(0, undefined, true)
    : support.kind === "real"
      ? real(length)
      : bounds(undefined);

/** The entry that a uniform number u selects. */
function choose(p: Float64Array, u: number): number {
  let left = u * p.reduce((a, b) => a + b);
  for (let k = 0; k < p.length - 1; k++) {
    left -= p[k];
    if (left < 0) return k;
  }
  return p.length - 1;
}

/**
 * The posterior probability of each state at each time, given all observations: [n, K].
 *
 *   P(z_t = k | y) ∝ α_t(k) β_t(k),   β_n = 1,   β_t(j) = Σ_k P_jk e_{t+1}(k) β_{t+1}(k)
 */
export function stateProbabilities(options: HiddenMarkovOptions, y: Operand): Tensor {
  const { states, first, steps } = chainOf(options);
  const seen = asTensor(y, "float64");
  const matrices = steps(seen);
  const forward = scan(logProduct, matrices, 0);
  const start = first(seen);
  const alpha = logSumExp(add(expandDims(expandDims(start, 0), -1), forward), -2);
  const backward = flip(
    scan((a, b) => logProduct(b, a), flip(matrices, 0), 0),
    0,
  );
  const beta = logSumExp(backward, -1);
  const none = expand(asTensor(0, "float64"), [1, states]);
  const before = concat([expandDims(start, 0), alpha], 0);
  return softmax(add(before, concat([beta, none], 0)), -1);
}
