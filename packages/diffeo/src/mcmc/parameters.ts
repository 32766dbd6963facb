/**
 * Parameters of a model by name: where each lives, and the log-density of all of them in free coordinates,
 *
 *   log p(x) = log p(φ(x)) + log|det J_φ(x)|,     x ∈ Rᵐ,
 *
 * φ the maps of their domains side by side. A parameter may be an array of values of one domain, and the bounds of a number may
 * depend on the parameters before it.
 */
import { sigmoidMap } from "../bijector/index.ts";
import type { Domain } from "../domain/index.ts";
import {
  add,
  addAll,
  constant,
  exp,
  fail,
  input,
  log,
  mul,
  type Operand,
  reshape,
  type Shape,
  showShape,
  sizeOf,
  slice,
  sub,
  sum,
  type Tensor,
} from "../graph/index.ts";

/** Values of parameters as a model sees them: a number of each chain [chains], or an array of it [chains, …]. */
export type Values = Readonly<Record<string, Tensor>>;

/** A number between bounds that depend on the parameters before it. */
export interface Bounded {
  readonly above?: (values: Values) => Operand;
  readonly below?: (values: Values) => Operand;
}

/** A domain, an array of values of one, or a number within bounds. */
export type Parameter = Domain | readonly [domain: Domain, ...shape: number[]] | Bounded;

interface Part {
  readonly name: string;
  /** Of one chain: [] for a number. */
  readonly shape: Shape;
  /** Coordinates of x. */
  readonly free: number;
  /** The values and log|det J| of coordinates [chains, free]. */
  readonly enter: (x: Tensor, before: Values) => { readonly value: Tensor; readonly logDet: Tensor };
}

export interface ParameterSpace {
  readonly parts: readonly Part[];
  /** m */
  readonly dimension: number;
  /** All values, and log|det J|, at x [chains, m]. */
  readonly enter: (x: Tensor) => { readonly values: Values; readonly logDet: Tensor };
}

const isDomain = (parameter: Parameter): parameter is Domain => "map" in parameter;

function ofDomain(name: string, domain: Domain, repeats: Shape): Part {
  const { map, dimension, values = (y: Tensor) => y } = domain;
  const size = values(input("y", [1, domain.size])).shape[1];
  if (map.eventRank !== 1)
    fail("usage", `parameter "${name}": a map on arrays of rank ${map.eventRank}`, "use a domain of vectors");
  const count = sizeOf(repeats);
  // A number has no axis of its own.
  const shape = [...repeats, ...(size === 1 ? [] : [size])];
  return {
    name,
    shape,
    free: count * dimension,
    enter: (x) => {
      const [chains] = x.shape;
      const points = reshape(x, [chains, count, dimension]);
      const t = constant(0, x.dtype);
      return {
        value: reshape(values(map.forward(points, t)), [chains, ...shape]),
        logDet: sum(map.logDet(points, t), -1),
      };
    },
  };
}

/**
 * With both bounds y = a + (b − a)σ(x), log|det J| = log(b − a) + log σ′(x); with one, y = a + eˣ or b − eˣ, log|det J| = x.
 */
function ofBounds(name: string, { above, below }: Bounded): Part {
  if (!above && !below)
    fail("usage", `parameter "${name}" has neither bound`, "give above, below or both, or use real()");
  const unit = sigmoidMap(0, 1);
  return {
    name,
    shape: [],
    free: 1,
    enter: (x, before) => {
      const [chains] = x.shape;
      const number = reshape(x, [chains]);
      if (above && below) {
        const [a, b] = [above(before), below(before)];
        const width = sub(b, a);
        const t = constant(0, x.dtype);
        return {
          value: add(a, mul(width, reshape(unit.forward(x, t), [chains]))),
          logDet: add(log(width), unit.logDet(x, t)),
        };
      }
      const step = exp(number);
      return {
        value: above ? add(above(before), step) : sub((below as NonNullable<typeof below>)(before), step),
        logDet: number,
      };
    },
  };
}

function partOf(name: string, parameter: Parameter): Part {
  if (Array.isArray(parameter)) {
    const [domain, ...shape] = parameter as readonly [Domain, ...number[]];
    if (shape.some((n) => !(Number.isInteger(n) && n >= 1)))
      fail("usage", `parameter "${name}": an array of shape ${showShape(shape)}`, "give sizes from 1");
    return ofDomain(name, domain, shape);
  }
  const single = parameter as Domain | Bounded;
  return isDomain(single) ? ofDomain(name, single, []) : ofBounds(name, single);
}

export function parameterSpace(parameters: Readonly<Record<string, Parameter>>): ParameterSpace {
  const parts = Object.entries(parameters).map(([name, parameter]) => partOf(name, parameter));
  if (parts.length === 0) fail("usage", "a model without parameters", "give at least one by name");
  return {
    parts,
    dimension: parts.reduce((total, { free }) => total + free, 0),
    enter: (x) => {
      const values: Record<string, Tensor> = {};
      const dets: Tensor[] = [];
      let at = 0;
      for (const { name, free, enter } of parts) {
        const { value, logDet } = enter(slice(x, null, [at, at + free]), values);
        values[name] = value;
        dets.push(logDet);
        at += free;
      }
      return { values, logDet: addAll(dets) };
    },
  };
}

/** log p(φ(x)) + log|det J_φ(x)|, one number a chain. */
export const freeLogDensity =
  (space: ParameterSpace, logDensity: (values: Values) => Tensor) =>
  (x: Tensor): Tensor => {
    const { values, logDet } = space.enter(x);
    const value = logDensity(values);
    const [chains] = x.shape;
    if (!(value.shape.length === 1 && value.shape[0] === chains))
      fail(
        "shape",
        `the log-density of ${chains} chains has shape ${showShape(value.shape)}`,
        "return one number a chain: sum over all axes but the first",
      );
    return add(value, logDet);
  };
