/**
 * Distributions whose parameters or values are vectors or matrices, each defined by a rule. The
 * last axes of a parameter, `rank` of them, belong to one value; the axes before them broadcast.
 */
import {
  cast,
  constant,
  fail,
  type Operand,
  type Shape,
  showShape,
  sizeOf,
  Tensor,
} from "../graph/index.ts";
import { broadcastOffsets } from "../graph/loops.ts";
import { type Keys, type Sequence, sequence } from "../random/index.ts";
import { type Distribution, distribution, type Numbers, type Support } from "./distribution.ts";
import { batchOf, parameterTensors, type Requirement, requireNumbers } from "./univariate.ts";

interface VectorParameter {
  /** The number of its last axes that belong to one value. */
  readonly rank: number;
  readonly is?: Requirement;
}

/** A distribution of values with axes, in terms of its parameters as tensors of one type. */
export interface VectorRule {
  readonly name: string;
  readonly discrete?: boolean;
  readonly parameters: Readonly<Record<string, VectorParameter>>;
  /** The shape of a value, given the shapes of the parameters' last axes. */
  readonly event: (...own: Shape[]) => Shape;
  readonly support: (event: Shape) => Support;
  /** The log-density at values of the support, [..., ...batch, ...event]. */
  readonly logDensity: (x: Tensor, ...p: Tensor[]) => Tensor;
  readonly mean?: (...p: Tensor[]) => Tensor;
  readonly variance?: (...p: Tensor[]) => Tensor;
  /** Samples one value into `out`, given the parameters of one value. */
  readonly variate: (random: Sequence, out: Float64Array, ...p: Float64Array[]) => void;
}

const names = ["a number", "a vector", "a matrix"];

/** The distribution of a rule for parameters in the rule's order. */
export function vectorDistribution(rule: VectorRule, operands: readonly Operand[]): Distribution {
  const { name, discrete, logDensity, mean, variance } = rule;
  const keys = Object.keys(rule.parameters);
  const parameters = parameterTensors(
    name,
    Object.fromEntries(keys.map((key, i) => [key, operands[i]])),
  );
  const ranks = keys.map((key) => rule.parameters[key].rank);
  const outer = parameters.map(({ shape }, i) => {
    if (shape.length < ranks[i])
      fail(
        "shape",
        `${name}: ${keys[i]} has shape ${showShape(shape)}`,
        `give ${names[ranks[i]]}, or an array of them`,
      );
    requireNumbers(name, keys[i], parameters[i], rule.parameters[keys[i]].is ?? "any");
    return shape.slice(0, shape.length - ranks[i]);
  });
  const own = parameters.map(({ shape }, i) => shape.slice(shape.length - ranks[i]));
  const event = rule.event(...own);
  const batch = batchOf(name, Object.fromEntries(keys.map((key, i) => [key, outer[i]])));
  return distribution({
    name,
    batch,
    event,
    support: rule.support(event),
    discrete,
    parameters,
    logDensity: (x) => {
      const t = x instanceof Tensor ? x : constant(x, parameters[0].dtype);
      return logDensity(t, ...parameters.map((p) => (p.dtype === t.dtype ? p : cast(p, t.dtype))));
    },
    mean: mean && (() => mean(...parameters)),
    variance: variance && (() => variance(...parameters)),
    drawFrom: (drawn, numbers, shape = batch) =>
      drawEach(rule, drawn, numbers, shape, sizeOf(event), outer, own),
  });
}

/** Samples one value per entry of the batch from the random numbers of one key. */
function drawEach(
  { variate }: VectorRule,
  keys: Keys,
  numbers: Numbers,
  batch: Shape,
  size: number,
  outer: readonly Shape[],
  own: readonly Shape[],
): Float64Array {
  const entries = sizeOf(batch);
  const places = outer.map((shape) => broadcastOffsets(shape, batch));
  const sizes = own.map(sizeOf);
  const out = new Float64Array(keys.count * entries * size);
  for (let row = 0; row < keys.count; row++) {
    const random = sequence(keys, row);
    const values = numbers(row);
    for (let i = 0; i < entries; i++) {
      const at = (row * entries + i) * size;
      const one = values.map((v, k) =>
        v.subarray(places[k][i] * sizes[k], (places[k][i] + 1) * sizes[k]),
      );
      variate(random, out.subarray(at, at + size), ...one);
    }
  }
  return out;
}

/** The common size of vectors and square matrices. */
export function sameSize(name: string, what: string, shapes: readonly Shape[]): number {
  const [n] = shapes.find((shape) => shape.length > 0) ?? [1];
  if (shapes.some((shape) => shape.some((d) => d !== n)))
    fail(
      "shape",
      `${name}: ${what} have shapes ${shapes.map(showShape).join(" and ")}`,
      "give vectors of size n and matrices n × n, with the same n",
    );
  return n;
}
