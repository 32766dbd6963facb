/** Runs the statements of a model for one chain, and sums the terms of its log-density. */
import type { Distribution } from "../distribution/index.ts";
import type { Domain } from "../domain/index.ts";
import { addAll, constant, DiffeoError, fail, type Shape, sum, Tensor } from "../graph/index.ts";
import { asTensor, constantValue } from "../graph/tensor.ts";
import type {
  Declaration,
  DeclaredParameter,
  Limits,
  Observation,
  ParameterOptions,
  Program,
  Run,
  Size,
  Statements,
} from "./declarations.ts";
import { batchOfValue, requireObservable } from "./observed.ts";
import type { Values } from "./parameters.ts";

const isDistribution = (prior: object): prior is Distribution => "logDensity" in prior;
export const isDomain = (of: Domain | Limits): of is Domain => "map" in of;

/** Sizes as numbers; undefined if one of them is an input of the graph. */
function sizesOf(what: string, shape: Size | readonly Size[]): Shape | undefined {
  const list: readonly Size[] = Array.isArray(shape) ? shape : [shape as Size];
  const sizes = list.map((size) => {
    if (!(size instanceof Tensor)) return size;
    const known = constantValue(size);
    return known && Number(known.data[0]);
  });
  if (sizes.includes(undefined)) return undefined;
  const wrong = sizes.find((d) => !(Number.isSafeInteger(d) && (d as number) >= 1));
  if (wrong !== undefined)
    fail("usage", `${what}: a size is ${String(wrong)}`, "give sizes of at least 1");
  return sizes as number[];
}

/** Functions of plain numbers give float32, which would silently lose digits. */
function requireFloat64(what: string, tensors: readonly Tensor[]): void {
  if (tensors.some(({ dtype }) => dtype === "float32"))
    fail(
      "type",
      `${what}: a parameter of its distribution is float32`,
      "functions of plain numbers give float32: use Math.log and the like there",
    );
}

/** A model's data, with an error for a name that they do not have. */
const checkedData = (data: Values): Values =>
  new Proxy(data, {
    get: (target, name) => {
      if (typeof name === "string" && !Object.hasOwn(target, name)) {
        const names = Object.keys(target).join(", ");
        fail(
          "usage",
          `the model reads "${name}", which the data do not have`,
          names === "" ? "no data are given: give them" : `they are ${names}`,
        );
      }
      return Reflect.get(target, name);
    },
  });

/** The statements, with an error for a name that is not one of them. */
const knownOnly = (statements: Statements): Statements =>
  new Proxy(statements, {
    get: (target, name) => {
      if (typeof name === "string" && !Object.hasOwn(target, name))
        fail(
          "usage",
          `unknown statement \`${name}\``,
          `the statements are ${Object.keys(target).join(", ")}`,
        );
      return Reflect.get(target, name);
    },
  });

/** Adds the place to an error of the program. */
function located(error: unknown, last: string): unknown {
  const place = last === "" ? "at the beginning of the model" : `in the model, after ${last}`;
  if (error instanceof DiffeoError && !error.problem.includes('("')) {
    const mixed = /float32/.test(error.problem) && /float64/.test(error.problem);
    const remedy = mixed
      ? "functions of plain numbers give float32: use Math.exp and the like there, or cast"
      : error.remedy;
    return new DiffeoError(error.kind, `${place}: ${error.problem}`, remedy, { cause: error });
  }
  const early =
    error instanceof ReferenceError && /'(.+)' before initialization/.exec(error.message);
  if (early)
    return new DiffeoError(
      "usage",
      `${place}: "${early[1]}" is used before it is declared`,
      "write the statements in the order in which they depend on each other",
      { cause: error },
    );
  const unknown = error instanceof ReferenceError && /^(\S+) is not defined/.exec(error.message);
  if (unknown)
    return new DiffeoError(
      "usage",
      `${place}: "${unknown[1]}" is not defined`,
      `declare it, const ${unknown[1]} = parameter("${unknown[1]}", …), take it from the data, ` +
        "or import it",
      { cause: error },
    );
  return error;
}

/** The most statements of a model: each is several nodes of every graph. */
const MOST_STATEMENTS = 5000;

/** What the statements of one run have given so far. */
interface Collected {
  readonly parameters: DeclaredParameter[];
  readonly observations: Observation[];
  readonly derived: Record<string, Tensor>;
  readonly factors: string[];
  /** Terms of the log-density. */
  readonly terms: Tensor[];
  readonly names: Set<string>;
  /** The statement that was called last, for errors. */
  last: string;
}

/** Checks the name of a statement and makes it the last one; gives how errors call it. */
function begin(collected: Collected, kind: string, name: string): string {
  const { names } = collected;
  const what = `${kind}("${name}")`;
  if (typeof name !== "string")
    fail("usage", `${kind}: the name is missing`, "give a string as the first argument");
  if (names.has(name) && kind !== "factor")
    fail("usage", `${what}: the name is already used`, "give each statement its own name");
  names.add(name);
  if (names.size > MOST_STATEMENTS)
    fail(
      "usage",
      `the model has more than ${MOST_STATEMENTS.toLocaleString("en")} statements`,
      'declare vectors in place of loops: parameter("x", normal(0, 1), { shape: 10000 })',
    );
  collected.last = what;
  return what;
}

/** The statements of one run, which add to what it has collected. */
function statementsOf(
  collected: Collected,
  data: Values,
  at: (declaration: Declaration) => Tensor,
  predicts: boolean,
): Statements {
  const { parameters, observations, derived, factors, terms } = collected;
  return {
    parameter: (name, prior, options = {}) => {
      const what = begin(collected, "parameter", name);
      const declaration = declare(what, name, prior, options);
      const value = at(declaration);
      parameters.push({ ...declaration, value });
      if (declaration.prior) terms.push(sum(declaration.prior.logDensity(value)));
      return value;
    },
    observe: (name, distribution, given) => {
      const what = begin(collected, "observe", name);
      if (!(typeof distribution === "object" && "logDensity" in distribution))
        fail(
          "usage",
          `${what}: the distribution is missing`,
          "give it before the value: observe(name, normal(mu, sigma), value)",
        );
      requireFloat64(what, distribution.parameters);
      if (predicts && given === undefined && !Object.hasOwn(data, name))
        return void observations.push({ name, distribution, batch: distribution.batch });
      const value = asTensor(given ?? checkedData(data)[name], "float64");
      requireObservable(what, name, value, distribution);
      const batch = value.shape.slice(0, value.shape.length - distribution.event.length);
      observations.push({ name, distribution, value, batch });
      terms.push(sum(distribution.logDensity(value)));
    },
    derive: (name, value) => {
      begin(collected, "derive", name);
      derived[name] = asTensor(value, "float64");
      return derived[name];
    },
    factor: (name, logDensity) => {
      const what = begin(collected, "factor", name);
      const term = asTensor(logDensity, "float64");
      if (term.dtype !== "float64")
        fail(
          "type",
          `${what}: the term is ${term.dtype}`,
          "functions of plain numbers give float32: use Math.log and the like there",
        );
      factors.push(name);
      terms.push(sum(term));
    },
  };
}

/**
 * Runs a program once.
 *
 * @param at returns the value of a parameter
 * @param predicts whether observations may be missing from the data
 */
export function run(
  program: Program,
  data: Values,
  at: (declaration: Declaration) => Tensor,
  predicts = false,
): Run {
  const collected: Collected = {
    parameters: [],
    observations: [],
    derived: {},
    factors: [],
    terms: [],
    names: new Set(),
    last: "",
  };
  const statements = statementsOf(collected, data, at, predicts);
  try {
    const returned: unknown = program(knownOnly(statements), checkedData(data));
    if (returned instanceof Promise) {
      returned.catch(() => undefined); // code after the first `await` is not part of it
      fail("usage", "the function of the model is async", "write it without async and await");
    }
  } catch (error) {
    throw located(error, collected.last);
  }
  const { parameters, observations, derived, factors, terms } = collected;
  if (terms.length === 0 && !predicts)
    fail("usage", "the model has no density", "add a parameter with a prior, or an observation");
  return {
    parameters,
    observations,
    derived,
    factors,
    logDensity: addAll(terms.length > 0 ? terms : [constant(0, "float64")]),
  };
}

/** Declares a parameter: its shape and its coordinates. */
function declare(
  what: string,
  name: string,
  prior: Distribution | Domain | Limits,
  { shape, domain, centred = true }: ParameterOptions,
): Declaration {
  if (typeof prior !== "object" || prior === null)
    fail(
      "usage",
      `${what}: the prior is ${String(prior)}`,
      "give a distribution such as normal(0, 1)",
    );
  const sizes = shape === undefined ? undefined : sizesOf(what, shape);
  const known = shape === undefined || sizes !== undefined;
  if (!isDistribution(prior)) {
    const own = domain ?? prior;
    const batch = sizes ?? [];
    return { name, batch, shape: known ? [...batch, ...eventOf(own)] : undefined, domain: own };
  }
  requireFloat64(what, prior.parameters);
  const { support, affine, event } = prior;
  const integers = "integer" in support && support.integer === true;
  if (prior.discrete || integers || support.kind === "integer")
    fail(
      "usage",
      `${what}: ${prior.name} is discrete, and chains need gradients`,
      "sum it out of the density, for example with mixture",
    );
  // One value of a domain of vectors has several numbers of the distribution.
  const wide = domain ? eventOf(domain) : [];
  const whole = sizes ? [...sizes, ...wide] : prior.batch.length === 0 ? wide : prior.batch;
  if (known) batchOfValue(`${what}: its value`, [...whole, ...event], prior);
  const declaration: Declaration = {
    name,
    batch: whole.slice(0, whole.length - wide.length),
    shape: known ? [...whole, ...event] : undefined,
    domain: domain ?? (support as Domain | Limits),
    prior,
  };
  if (centred) return declaration;
  if (!affine || domain)
    fail(
      "usage",
      `${what}: \`centred\` is false, but ` +
        `${domain ? "`domain` is set" : `${prior.name} has no location and scale`}`,
      "leave `centred` out, or write value = f(standard value) yourself",
    );
  return { ...declaration, affine };
}

/** The shape of one value of a domain. */
function eventOf(domain: Domain | Limits): Shape {
  if (!isDomain(domain)) return [];
  const { values, size } = domain;
  const zero = constant([Array<number>(size).fill(0)], "float64");
  const event = values ? values(zero).shape.slice(1) : [size];
  return event.length === 1 && event[0] === 1 ? [] : event;
}
