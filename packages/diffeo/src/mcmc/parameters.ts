/**
 * Parameters of a model by name: the domain of each, and the log-density of all in free
 * coordinates,
 *
 *   log p(x) = log p(φ(x)) + log|det J_φ(x)|,     x ∈ Rᵐ,
 *
 * where φ applies the map of each parameter's domain. A parameter may be an array of values of one
 * domain, and bounds may depend on the parameters before it.
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
  Tensor,
} from "../graph/index.ts";

/**
 * Values of parameters or data by name. Parameters of a log-density have the shape [chains] or
 * [chains, …].
 */
export type Values = Readonly<Record<string, Tensor>>;

/**
 * A parameter between bounds that depend on the parameters before it: one bound per chain, or one
 * per element [chains, …].
 */
export interface Bounded {
  readonly above?: (values: Values, data: Values) => Operand;
  readonly below?: (values: Values, data: Values) => Operand;
}

/**
 * A parameter y = location + scale · x of which chains sample x (the non-centred parameterisation).
 * Location and scale may depend on the parameters before it; each is [chains, …shape], or one
 * number per chain.
 */
export interface Standardised {
  readonly location: (values: Values, data: Values) => Operand;
  readonly scale: (values: Values, data: Values) => Operand;
}

type Place = Domain | Bounded | Standardised;

/**
 * A parameter of a `PosteriorModel`: a domain, bounds, a standardised number, or an array of values
 * of one of these.
 */
export type Parameter = Place | readonly [of: Place, ...shape: number[]];

interface Part {
  readonly name: string;
  /** The shape for one chain: [] for a number. */
  readonly shape: Shape;
  /** The number of free coordinates. */
  readonly free: number;
  /** The values and log|det J| of coordinates [chains, free]. */
  readonly enter: (
    x: Tensor,
    before: Values,
    data: Values,
  ) => { readonly value: Tensor; readonly logDet: Tensor };
}

export interface ParameterSpace {
  readonly parts: readonly Part[];
  /** m */
  readonly dimension: number;
  /** All values, and log|det J|, at x [chains, m]. */
  readonly enter: (x: Tensor, data: Values) => { readonly values: Values; readonly logDet: Tensor };
}

const isDomain = (of: Place): of is Domain => "map" in of;
const isStandardised = (of: Place): of is Standardised => "location" in of;

function ofDomain(name: string, domain: Domain, repeats: Shape): Part {
  const { map, dimension, values = (y: Tensor) => y } = domain;
  if (domain.kind === "integer" || domain.kind === "category")
    fail(
      "usage",
      `parameter "${name}" is of kind ${domain.kind}, so the log-density has no gradient in it`,
      "sum it out of the log-density",
    );
  const [, ...own] = values(input("y", [1, domain.size])).shape;
  if (map.eventRank !== 1)
    fail(
      "usage",
      `parameter "${name}": its map acts on arrays of rank ${map.eventRank}`,
      "use a domain of vectors",
    );
  const count = sizeOf(repeats);
  // The event of a number has no axis.
  const shape = [...repeats, ...(sizeOf(own) === 1 && own.length === 1 ? [] : own)];
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

/** Expands one value per chain to one per number. */
const perNumber =
  (numbers: Tensor) =>
  (given: Operand): Tensor => {
    const [chains, ...shape] = numbers.shape;
    const short = given instanceof Tensor && given.shape.length === 1 && shape.length > 0;
    const wide = short ? reshape(given, [chains, ...shape.map(() => 1)]) : given;
    return add(mul(numbers, 0), wide);
  };

/** log|det J| = Σ log scale */
const ofStandard = (name: string, { location, scale }: Standardised, shape: Shape): Part => ({
  name,
  shape,
  free: sizeOf(shape),
  enter: (x, before, data) => {
    const [chains] = x.shape;
    const numbers = reshape(x, [chains, ...shape]);
    const one = perNumber(numbers);
    const width = one(scale(before, data));
    return {
      value: add(one(location(before, data)), mul(width, numbers)),
      logDet: sum(reshape(log(width), [chains, sizeOf(shape)]), -1),
    };
  },
});

/**
 * With both bounds y = a + (b − a)σ(x), log|det J| = log(b − a) + log σ′(x); with one, y = a + eˣ
 * or b − eˣ, log|det J| = x.
 */
function ofBounds(name: string, { above, below }: Bounded, shape: Shape): Part {
  if (!above && !below)
    fail(
      "usage",
      `parameter "${name}" has no bounds`,
      "give `above`, `below` or both, or use real()",
    );
  const unit = sigmoidMap(0, 1);
  return {
    name,
    shape,
    free: sizeOf(shape),
    enter: (x, before, data) => {
      const [chains] = x.shape;
      const numbers = reshape(x, [chains, ...shape]);
      const one = perNumber(numbers);
      const total = (each: Tensor): Tensor => sum(reshape(each, [chains, sizeOf(shape)]), -1);
      const [a, b] = [above && one(above(before, data)), below && one(below(before, data))];
      if (a && b) {
        const width = sub(b, a);
        const t = constant(0, x.dtype);
        return {
          value: add(a, mul(width, reshape(unit.forward(x, t), [chains, ...shape]))),
          logDet: add(total(log(width)), unit.logDet(x, t)),
        };
      }
      const step = exp(numbers);
      return { value: a ? add(a, step) : sub(b as Tensor, step), logDet: total(numbers) };
    },
  };
}

function partOf(name: string, parameter: Parameter): Part {
  const [of, ...shape] = (Array.isArray(parameter) ? parameter : [parameter]) as readonly [
    Place,
    ...number[],
  ];
  if (shape.some((n) => !(Number.isInteger(n) && n >= 1)))
    fail("usage", `parameter "${name}" has shape ${showShape(shape)}`, "give sizes of at least 1");
  if (typeof of !== "object" || of === null)
    fail(
      "usage",
      `parameter "${name}" is ${String(of)}`,
      "give a domain such as real(), bounds, or [domain, size]",
    );
  if (isDomain(of)) return ofDomain(name, of, shape);
  return isStandardised(of) ? ofStandard(name, of, shape) : ofBounds(name, of, shape);
}

/** Checks a name, which becomes a column of files and of other programs. */
export function requireName(name: string): void {
  if (!/^[^\s,.#"[\]]+$/.test(name) || name.endsWith("__"))
    fail(
      "usage",
      `"${name}" cannot be the name of a quantity`,
      "use letters, digits and _, without spaces, commas, dots and brackets",
    );
}

export function parameterSpace(parameters: Readonly<Record<string, Parameter>>): ParameterSpace {
  Object.keys(parameters).forEach(requireName);
  const parts = Object.entries(parameters).map(([name, parameter]) => partOf(name, parameter));
  if (parts.length === 0) fail("usage", "the model has no parameters", "give at least one by name");
  return {
    parts,
    dimension: parts.reduce((total, { free }) => total + free, 0),
    enter: (x, data) => {
      const values: Record<string, Tensor> = {};
      const dets: Tensor[] = [];
      let at = 0;
      for (const { name, free, enter } of parts) {
        const { value, logDet } = enter(slice(x, null, [at, at + free]), values, data);
        values[name] = value;
        dets.push(logDet);
        at += free;
      }
      return { values, logDet: addAll(dets) };
    },
  };
}
