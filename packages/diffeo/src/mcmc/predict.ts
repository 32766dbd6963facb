/**
 * What a model of statements predicts:
 *
 *   prior predictive       θ ~ p(θ),       y ~ p(y | θ)
 *   posterior predictive   θ ~ p(θ | y),   ỹ ~ p(ỹ | θ), at the same data or at others
 *   log-likelihood         log p(y_i | θ), one number per draw and independent observation
 */

import type { Distribution } from "../distribution/index.ts";
import type { Domain } from "../domain/index.ts";
import type { CompileOptions } from "../engine/index.ts";
import {
  constant,
  fail,
  input,
  reference,
  type Shape,
  sizeOf,
  type Tensor,
  topological,
} from "../graph/index.ts";
import { mapValues } from "../host/index.ts";
import { fold, type Key, type Keys, sampleKeys } from "../random/index.ts";
import { type Data, dataArrays } from "./data.ts";
import type { PosteriorDraws } from "./model.ts";
import type { StatementModel } from "./notation.ts";
import type { Values } from "./parameters.ts";
import { atRows, type Rows } from "./rows.ts";
import type { Posterior } from "./sample-posterior.ts";
import {
  type Declaration,
  isDomain,
  type Limits,
  type Observation,
  type Run,
  run,
} from "./statements.ts";

/** Where graphs of predictions run, and with which data. */
interface RunOptions extends Pick<CompileOptions, "device" | "threads"> {
  readonly data?: Data;
}

/** Options of `priorPredictive`. */
export interface PriorPredictiveOptions extends RunOptions {
  readonly key: Key;
  /** Default 1000. */
  readonly draws?: number;
}

/** Options of `posteriorPredictive`. */
export interface PosteriorPredictiveOptions extends RunOptions {
  readonly key: Key;
}

/** Draws by name, [chains, draws, …]. */
export type NamedDraws = Readonly<Record<string, PosteriorDraws>>;

/** Draws from the prior, as if of one chain. */
export interface PriorDraws {
  /** Parameters and derived quantities. */
  readonly prior: NamedDraws;
  /** Observations by the names of their statements. */
  readonly predictive: NamedDraws;
}

/** Data as tensors: those that the model names, where it does; observations may be missing. */
const tensorsOf = (model: StatementModel, data: Data): Values => {
  const { data: shapes } = model;
  const named = shapes
    ? Object.fromEntries(Object.entries(data).filter(([name]) => Object.hasOwn(shapes, name)))
    : data;
  return mapValues(dataArrays(named), (array) => constant(array, "float64"));
};

/** A run with a free value for every parameter. */
const freeRun = (model: StatementModel, data: Values): Run =>
  run(model.program, data, ({ name, shape }) => input(name, shape ?? [], "float64"), true);

const isFree = (t: Tensor): boolean => topological([t]).some((node) => node.op.name === "input");

/** Samples of a distribution whose parameters depend on rows of values. */
async function drawAt(
  distribution: Distribution,
  again: (one: Values) => Distribution,
  rows: Rows,
  keys: Keys,
  batch: Shape,
  options: RunOptions,
): Promise<(keys: Keys) => Float64Array> {
  const { parameters } = distribution;
  const free = parameters.map(isFree);
  const fixed = reference(
    parameters.filter((_, i) => !free[i]),
    new Map(),
  );
  const moved = free.includes(true)
    ? await atRows(
        (one) =>
          Object.fromEntries(
            again(one).parameters.flatMap((t, i) => (free[i] ? [[String(i), t] as const] : [])),
          ),
        rows,
        keys.count,
        options,
      )
    : {};
  let next = 0;
  const whole = free.map((moves) => (moves ? undefined : fixed[next++]));
  const numbers = (row: number): Float64Array[] =>
    free.map((_, i) => {
      const own = whole[i];
      if (own) return own;
      const { shape, data } = moved[String(i)];
      const size = sizeOf(shape.slice(1));
      return data.subarray(row * size, (row + 1) * size);
    });
  return (drawn) => distribution.drawFrom(drawn, numbers, batch);
}

/** Resamples until all values of a parameter are inside its domain. */
const TRIES = 10_000;

/** Which of the values, blocks of numbers, lie in a domain or within limits. */
async function insideOf(
  { name, domain, prior, shape = [] }: Declaration,
  again: (one: Values) => Limits,
  rows: Rows,
  count: number,
  options: RunOptions,
): Promise<
  { readonly size: number; inside(values: Float64Array, at: number): boolean } | undefined
> {
  if (isDomain(domain)) {
    if (domain === (prior?.support as Domain | undefined)) return undefined;
    const { cells, fault } = domain;
    return {
      size: cells,
      inside: (values, at) => fault(Array.from(values.subarray(at, at + cells))) === undefined,
    };
  }
  if (domain === (prior?.support as unknown)) return undefined;
  const sides = (["above", "below"] as const).filter((side) => domain[side] !== undefined);
  const size = sizeOf(shape);
  const limits = await atRows(
    (one) =>
      Object.fromEntries(
        sides.map((side) => {
          const bound = again(one)[side] as Tensor | number;
          return [side, typeof bound === "number" ? constant(bound, "float64") : bound];
        }),
      ),
    Object.keys(rows).length > 0
      ? rows
      : { [name]: { shape: [count], data: new Float64Array(count) } },
    count,
    options,
  );
  return {
    size: 1,
    inside: (values, at) =>
      sides.every((side) => {
        const { shape: own, data } = limits[side];
        const each = sizeOf(own.slice(1));
        const row = Math.floor(at / size);
        const bound = data[each === 1 ? row : row * each + ((at % size) % each)];
        return side === "above" ? values[at] > bound : values[at] < bound;
      }),
  };
}

/** A declaration of a run for values of the parameters before it. */
class Found extends Error {
  readonly declaration: Declaration;
  constructor(declaration: Declaration) {
    super(`internal: ${declaration.name}`);
    this.declaration = declaration;
  }
}

const declarationAt = (
  model: StatementModel,
  data: Values,
  name: string,
  one: Values,
): Declaration => {
  try {
    run(
      model.program,
      data,
      (declaration) => {
        if (declaration.name === name) throw new Found(declaration);
        return one[declaration.name];
      },
      true,
    );
  } catch (error) {
    if (error instanceof Found) return error.declaration;
    throw error;
  }
  return fail(
    "usage",
    `parameter("${name}") was not declared again`,
    "declare the same parameters in every run",
  );
};

/** Samples of one parameter's prior at rows of those before it. */
async function drawPrior(
  model: StatementModel,
  data: Values,
  declaration: Declaration,
  rows: Rows,
  keys: Keys,
  options: RunOptions,
): Promise<Float64Array> {
  const { name, prior, shape = [] } = declaration;
  if (!prior)
    return fail(
      "usage",
      `parameter("${name}") has a flat density, which cannot be sampled`,
      "give it a prior distribution, such as normal(0, 10)",
    );
  const at = (one: Values): Declaration => declarationAt(model, data, name, one);
  const batch = shape.slice(0, shape.length - prior.event.length);
  const draw = await drawAt(
    prior,
    (one) => at(one).prior as Distribution,
    rows,
    keys,
    batch,
    options,
  );
  const out = draw(fold(keys, name));
  const limits = await insideOf(
    declaration,
    (one) => at(one).domain as Limits,
    rows,
    keys.count,
    options,
  );
  if (!limits) return out;
  const { size, inside } = limits;
  for (let tried = 0; ; tried++) {
    const open: number[] = [];
    for (let i = 0; i < out.length; i += size) if (!inside(out, i)) open.push(i);
    if (open.length === 0) return out;
    if (tried === TRIES)
      fail(
        "numerical",
        `parameter("${name}"): ${TRIES} samples of its prior, and some never in its domain`,
        "give a prior that lies in the domain",
      );
    const again = draw(fold(fold(keys, name), tried));
    for (const i of open) out.set(again.subarray(i, i + size), i);
  }
}

/** Samples of all observations at rows of all parameters. */
async function drawObservations(
  model: StatementModel,
  data: Values,
  found: Run,
  rows: Rows,
  keys: Keys,
  options: RunOptions,
): Promise<Rows> {
  const out: Record<string, { shape: Shape; data: Float64Array }> = {};
  for (const [k, { name, distribution, batch }] of found.observations.entries()) {
    const again = (one: Values): Distribution =>
      run(model.program, data, (declaration) => one[declaration.name], true).observations[k]
        .distribution;
    const own = fold(keys, `observe ${name}`);
    const draw = await drawAt(distribution, again, rows, own, batch, options);
    out[name] = { shape: [keys.count, ...batch, ...distribution.event], data: draw(own) };
  }
  return out;
}

/** Rows as draws of so many chains. */
const asDraws = (rows: Rows, chains: number): NamedDraws =>
  mapValues(rows, ({ shape: [count, ...shape], data }) => ({
    shape: [chains, count / chains, ...shape],
    data,
  }));

/** Draws of the parameters of a model, of all chains one after the other. */
const rowsOf = (
  posterior: Posterior,
  parameters: readonly Declaration[],
): [Rows, number, number] => {
  const chains = posterior.chains.length;
  const [{ shape }] = Object.values(posterior.draws);
  const rows = Object.fromEntries(
    parameters.map(({ name }) => {
      const draws =
        posterior.draws[name] ??
        fail("usage", `the posterior has no parameter "${name}"`, "give draws of this model");
      return [name, { shape: [shape[0] * shape[1], ...draws.shape.slice(2)], data: draws.data }];
    }),
  );
  return [rows, shape[0] * shape[1], chains];
};

function requireStatements(model: StatementModel): void {
  if (!("program" in model))
    fail(
      "usage",
      "predictions need a model of statements: this one has parameters and a log-density",
      "write it as model(({ parameter, observe }, data) => …)",
    );
}

const dataOf = (posterior: Posterior): Data => posterior.data;

/** No term of the density may be missing from what is sampled. */
function requireNoFactors({ factors }: Run): void {
  if (factors.length > 0)
    fail(
      "usage",
      `factor("${factors[0]}") is a term of the density that cannot be sampled`,
      "write it as the prior of a parameter, or as an observation",
    );
}

/**
 * Draws of parameters, derived quantities and observations from the prior. Observations need not be
 * among the data; their shapes are then those of their distributions.
 *
 * @throws where a parameter has a flat density, or the model has a `factor`
 * @example
 * import { normal } from "diffeo/distribution";
 * import { key } from "diffeo/random";
 *
 * const m = model(({ parameter, observe }) => {
 *   const mu = parameter("mu", normal(0, 10));
 *   observe("y", normal(mu, 1));
 * });
 * const { prior, predictive } = await priorPredictive(m, { key: key(1) });
 */
export async function priorPredictive(
  model: StatementModel,
  options: PriorPredictiveOptions,
): Promise<PriorDraws> {
  requireStatements(model);
  const { draws = 1000, key } = options;
  const data = tensorsOf(model, options.data ?? {});
  const found = freeRun(model, data);
  requireNoFactors(found);
  const keys = sampleKeys(key, draws);
  const rows: Record<string, { shape: Shape; data: Float64Array }> = {};
  for (const declared of found.parameters) {
    const values = await drawPrior(model, data, declared, rows, keys, options);
    rows[declared.name] = { shape: [draws, ...(declared.shape ?? [])], data: values };
  }
  const derived =
    Object.keys(found.derived).length > 0
      ? await atRows(
          (one) => run(model.program, data, ({ name }) => one[name], true).derived,
          rows,
          draws,
          options,
        )
      : {};
  const predictive = await drawObservations(model, data, found, rows, keys, options);
  return { prior: asDraws({ ...rows, ...derived }, 1), predictive: asDraws(predictive, 1) };
}

/**
 * Draws of new observations, one set per draw of the posterior.
 *
 * @param options.data other data to predict at, without the observations. Default the posterior's
 * @returns draws by the names of `observe` statements, [chains, draws, …]
 */
export async function posteriorPredictive(
  model: StatementModel,
  posterior: Posterior,
  options: PosteriorPredictiveOptions,
): Promise<NamedDraws> {
  requireStatements(model);
  const data = tensorsOf(model, options.data ?? dataOf(posterior));
  const found = freeRun(model, data);
  const [rows, count, chains] = rowsOf(posterior, found.parameters);
  requireShapes(found, rows);
  const keys = sampleKeys(options.key, count);
  return asDraws(await drawObservations(model, data, found, rows, keys, options), chains);
}

/** Parameters have the sizes that the data say. */
function requireShapes({ parameters }: Run, rows: Rows): void {
  for (const { name, shape = [] } of parameters) {
    const own = rows[name].shape.slice(1);
    if (own.join() !== shape.join())
      fail(
        "shape",
        `parameter("${name}") has shape [${shape}] at these data, and [${own}] in the posterior`,
        "give data with the same groups",
      );
  }
}

/**
 * The log-density of each independent observation, per draw of the posterior: what `loo` takes.
 *
 * @returns by the names of `observe` statements, [chains, draws, …]
 */
export async function logLikelihood(
  model: StatementModel,
  posterior: Posterior,
  options: Omit<RunOptions, "data"> = {},
): Promise<NamedDraws> {
  requireStatements(model);
  const data = tensorsOf(model, dataOf(posterior));
  const found = freeRun(model, data);
  const [rows, count, chains] = rowsOf(posterior, found.parameters);
  const seen = (one: Values): readonly Observation[] =>
    run(model.program, data, ({ name }) => one[name]).observations;
  const each = await atRows(
    (one) =>
      Object.fromEntries(
        seen(one).map(({ name, distribution, value }) => [
          name,
          distribution.logDensity(value as Tensor),
        ]),
      ),
    rows,
    count,
    options,
  );
  return asDraws(each, chains);
}
