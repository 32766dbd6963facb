/**
 * Distributions of single numbers, each defined by a rule. Parameters broadcast, and all functions
 * are elementwise.
 */
import { between, integer, positive, real } from "../domain/index.ts";
import {
  cast,
  constant,
  type DType,
  fail,
  type Operand,
  type Shape,
  showShape,
  sizeOf,
  Tensor,
} from "../graph/index.ts";
import { broadcastOffsets } from "../graph/loops.ts";
import { broadcastShapes } from "../graph/ndarray.ts";
import { constantValue, uniformValue } from "../graph/tensor.ts";
import { type Keys, type Sequence, sequence } from "../random/index.ts";
import {
  type Distribution,
  distribution,
  type Numbers,
  type ParameterFault,
  type Support,
} from "./distribution.ts";

/** The range of a parameter. */
export type Requirement = "any" | "positive" | "probability" | "count";

/** A distribution of numbers, in terms of its parameters as tensors of one type. */
export interface Rule {
  readonly name: string;
  /** The parameters by name. */
  readonly parameters: Readonly<Record<string, Requirement>>;
  readonly support: (...p: Tensor[]) => Support;
  /** The log-density at values of the support. */
  readonly logDensity: (x: Tensor, ...p: Tensor[]) => Tensor;
  readonly mean?: (...p: Tensor[]) => Tensor;
  readonly variance?: (...p: Tensor[]) => Tensor;
  readonly cdf?: (x: Tensor, ...p: Tensor[]) => Tensor;
  /** P(X > x), without the cancellation of 1 − cdf. */
  readonly survival?: (x: Tensor, ...p: Tensor[]) => Tensor;
  readonly quantile?: (u: Tensor, ...p: Tensor[]) => Tensor;
  readonly variate: (random: Sequence, ...p: number[]) => number;
  readonly discrete?: boolean;
  /** An alternative for a parameter that is out of range, for errors. */
  readonly hint?: string;
  /** The names of the location and scale parameters. */
  readonly affine?: readonly [location: string, scale: string];
}

const holds: Readonly<Record<Requirement, (v: number) => boolean>> = {
  any: (v) => !Number.isNaN(v),
  positive: (v) => v > 0,
  probability: (v) => v >= 0 && v <= 1,
  count: (v) => v >= 0 && Number.isInteger(v),
};

const wanted: Readonly<Record<Requirement, string>> = {
  any: "a number",
  positive: "a number above 0",
  probability: "a number from 0 to 1",
  count: "an integer of at least 0",
};

/** The parameters as tensors of one float type: that of a given tensor, else `fallback`. */
export function parameterTensors(
  name: string,
  given: Readonly<Record<string, Operand>>,
  fallback: DType = "float64",
): Tensor[] {
  const dtype = Object.values(given).find((p) => p instanceof Tensor)?.dtype ?? fallback;
  return Object.entries(given).map(([parameter, value]) => {
    if (value === undefined || value === null)
      fail("usage", `${name}: ${parameter} is missing`, `give a number, an array or a tensor`);
    if (value instanceof Tensor) return value.dtype === dtype ? value : cast(value, dtype);
    return constant(value, dtype);
  });
}

const isRecord = (value: unknown): value is object =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  !ArrayBuffer.isView(value) &&
  !("shape" in value);

/** Whether an argument is an object with the given name. */
export const isNamed = <T extends object>(given: unknown, name: keyof T & string): given is T =>
  typeof given === "object" && given !== null && Object.hasOwn(given, name);

/** The first parameter of a rule that is out of range. */
function faultOf(
  { name, parameters, hint }: Rule,
  numbers: readonly Float64Array[],
): ParameterFault | undefined {
  for (const [i, [parameter, rule]] of Object.entries(parameters).entries()) {
    const wrong = numbers[i].find((v) => !holds[rule](v));
    if (wrong !== undefined)
      return {
        problem: `the ${parameter} of ${name} is ${Number(wrong.toPrecision(6))}`,
        remedy: `give ${wanted[rule]}${hint === undefined ? (hints[rule] ?? "") : `, ${hint}`}`,
      };
  }
  return undefined;
}

const hints: Partial<Record<Requirement, string>> = {
  positive: ", such as exp(…), or a parameter whose prior is halfNormal(1)",
  probability: ", such as sigmoid(…), or a parameter whose prior is beta(1, 1)",
};

/** Throws if a constant has a number that is out of range. */
export function requireNumbers(
  name: string,
  parameter: string,
  value: Tensor,
  rule: Requirement,
): void {
  const known = constantValue(value);
  const wrong = known && Array.from(known.data, Number).find((v) => !holds[rule](v));
  if (wrong !== undefined)
    fail("usage", `${name}: ${parameter} is ${wrong}`, `give ${wanted[rule]}`);
}

/** The shape to which parameters broadcast. The error names all parameters with their shapes. */
export function batchOf(name: string, parameters: Readonly<Record<string, Shape>>): Shape {
  const shapes = Object.entries(parameters);
  try {
    return shapes.reduce<Shape>((all, [, shape]) => broadcastShapes(all, shape, name), []);
  } catch {
    return fail(
      "shape",
      `${name}: ${shapes.map(([key, shape]) => `${key} ${showShape(shape)}`).join(", ")} do ` +
        "not broadcast",
      "make the sizes equal, or insert an axis of size 1 with expandDims where one should repeat",
    );
  }
}

/** The support between bounds: a domain if they are constants that are equal for all values. */
export function bounds(
  above: number | Tensor | undefined,
  below?: number | Tensor,
  ofIntegers = false,
): Support {
  const known = (bound: number | Tensor | undefined): number | undefined =>
    bound instanceof Tensor ? uniformValue(bound) : bound;
  const asTensor = (bound: number | Tensor | undefined): Tensor | undefined =>
    typeof bound === "number" ? constant(bound, "float64") : bound;
  const [low, high] = [known(above), known(below)];
  if ((above !== undefined && low === undefined) || (below !== undefined && high === undefined))
    return {
      kind: "bounds",
      above: asTensor(above),
      below: asTensor(below),
      integer: ofIntegers,
    };
  if (ofIntegers) return integer({ least: low, most: high });
  if (low !== undefined && high !== undefined) return between(low, high);
  if (low !== undefined) return positive({ above: low });
  return high === undefined ? real() : positive({ below: high });
}

/** The distribution of a rule for parameters in the rule's order. */
export function univariate(rule: Rule, operands: readonly Operand[]): Distribution {
  const { name, discrete } = rule;
  const names = Object.keys(rule.parameters);
  const given = Object.fromEntries(names.map((key, i) => [key, operands[i]]));
  for (const [parameter, value] of Object.entries(given))
    if (isRecord(value))
      fail(
        "usage",
        `${name}: ${parameter} is an object with ${Object.keys(value).join(", ") || "no members"}`,
        `give a number, an array or a tensor${rule.hint === undefined ? "" : `, ${rule.hint}`}`,
      );
  const parameters = parameterTensors(name, given);
  names.forEach((key, i) => {
    requireNumbers(name, key, parameters[i], rule.parameters[key]);
  });
  const batch = batchOf(
    name,
    Object.fromEntries(names.map((key, i) => [key, parameters[i].shape])),
  );
  const dtype = parameters[0].dtype;
  const typed = (to: DType): Tensor[] => parameters.map((t) => (t.dtype === to ? t : cast(t, to)));
  const at =
    (f: (x: Tensor, ...p: Tensor[]) => Tensor) =>
    (x: Operand): Tensor => {
      const t = x instanceof Tensor ? x : constant(x, dtype);
      batchOf(name, { value: t.shape, parameters: batch });
      return f(t, ...typed(t.dtype));
    };
  const { mean, variance, cdf, survival, quantile, affine } = rule;
  const named = (key: string): Tensor => parameters[names.indexOf(key)];
  return distribution({
    name,
    batch,
    event: [],
    support: rule.support(...parameters),
    discrete,
    parameters,
    fault: (numbers) => faultOf(rule, numbers),
    logDensity: at(rule.logDensity),
    mean: mean && (() => mean(...parameters)),
    variance: variance && (() => variance(...parameters)),
    cdf: cdf && at(cdf),
    survival: survival && at(survival),
    quantile: quantile && at(quantile),
    affine: affine && { location: named(affine[0]), scale: named(affine[1]) },
    drawFrom: (keys, numbers, shape = batch) => drawEach(rule, keys, numbers, shape, parameters),
  });
}

/** Samples one variate per number of the batch from the random numbers of one key. */
function drawEach(
  { variate }: Rule,
  keys: Keys,
  numbers: Numbers,
  batch: Shape,
  parameters: readonly Tensor[],
): Float64Array {
  const size = sizeOf(batch);
  const places = parameters.map(({ shape }) => broadcastOffsets(shape, batch));
  const out = new Float64Array(keys.count * size);
  for (let row = 0; row < keys.count; row++) {
    const random = sequence(keys, row);
    const values = numbers(row);
    for (let i = 0; i < size; i++)
      out[row * size + i] = variate(random, ...values.map((v, k) => v[places[k][i]]));
  }
  return out;
}
