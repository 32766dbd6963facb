/**
 * Models as statements for one chain, in the shapes of their mathematical notation.
 *
 *     export default model(({ parameter, observe }, { sigma }) => {
 *       const mu = parameter("mu", normal(0, 5));
 *       const tau = parameter("tau", halfCauchy(5));
 *       const theta = parameter("theta", normal(mu, tau), { shape: 8, centred: false });
 *       observe("y", normal(theta, sigma));
 *     });
 *
 * Constraints follow from the support of each prior. `vmap` adds the axis of chains.
 */

import type { ParameterFault } from "../distribution/index.ts";
import { internal } from "../graph/error.ts";
import {
  constant,
  DiffeoError,
  expand,
  expandDims,
  fail,
  input,
  type Operand,
  reference,
  type Tensor,
  topological,
  vmap,
} from "../graph/index.ts";
import { asTensor } from "../graph/tensor.ts";
import { mapValues } from "../host/index.ts";
import { type Data, type DataShapes, dataArrays } from "./data.ts";
import type {
  Declaration,
  DeclaredParameter,
  Limits,
  Program,
  Run,
  Statements,
} from "./declarations.ts";
import type { PosteriorModel } from "./model.ts";
import type { Parameter, Values } from "./parameters.ts";
import { isDomain, run } from "./statements.ts";

/** A model written as statements; see `model`. */
export interface StatementModel extends PosteriorModel {
  readonly program: Program;
}

/** Thrown to stop a run of the program at a parameter. */
class Reached extends Error {
  readonly declaration: Declaration;
  constructor(declaration: Declaration) {
    super(`internal: reached ${declaration.name}`);
    this.declaration = declaration;
  }
}

/** Runs the program with a free value for every parameter. */
function survey(program: Program, raw: Data, shapes?: DataShapes): Run {
  const data = mapValues(dataArrays(raw, shapes), (array) => constant(array, "float64"));
  const found = run(program, data, ({ name, shape }) => input(name, shape ?? [], "float64"));
  const inDensity = new Set(topological([found.logDensity]));
  for (const { name, value, prior } of found.parameters)
    if (!prior && !inDensity.has(value))
      fail(
        "usage",
        `parameter("${name}") does not appear in the density: it has no prior, and no ` +
          "observation depends on it",
        "give it a prior, let an observation depend on it, or remove it",
      );
  return found;
}

/**
 * A property of one parameter's statement as a function of the parameters before it, over chains.
 * Its shape is that of the parameter's independent values.
 */
const saying =
  (
    program: Program,
    { name, batch }: DeclaredParameter,
    of: (declaration: Declaration) => Operand | undefined,
  ) =>
  (before: Values, data: Values): Tensor => {
    const found = (one: Values): Tensor => {
      try {
        run(program, data, (declaration) => {
          if (declaration.name === name) throw new Reached(declaration);
          return one[declaration.name];
        });
      } catch (error) {
        if (error instanceof Reached)
          return expand(asTensor(of(error.declaration) as Operand, "float64"), batch);
        throw error;
      }
      return internal(`${name} was not declared again`);
    };
    return Object.keys(before).length === 0 ? expandDims(found({}), 0) : vmap(found)(before);
  };

/** The first distribution of a run whose own parameters are out of range. */
function faultOf(runAtValues: () => Run): ParameterFault | undefined {
  try {
    const { parameters, observations } = runAtValues();
    const statements = [
      ...parameters.map(({ name, prior }) => [`parameter("${name}")`, prior] as const),
      ...observations.map(
        ({ name, distribution }) => [`observe("${name}")`, distribution] as const,
      ),
    ];
    for (const [what, distribution] of statements) {
      const found = distribution?.fault?.(reference(distribution.parameters, new Map()));
      if (found) return { ...found, problem: `in ${what} ${found.problem}` };
    }
  } catch (error) {
    if (error instanceof DiffeoError) return { problem: error.problem, remedy: error.remedy };
    throw error;
  }
  return undefined;
}

/** Converts a declared parameter to one of a `PosteriorModel`. */
function parameterOf(program: Program, declared: DeclaredParameter): Parameter {
  const { domain, affine, batch } = declared;
  const say = (of: (declaration: Declaration) => Operand | undefined) =>
    saying(program, declared, of);
  if (affine)
    return [
      { location: say((d) => d.affine?.location), scale: say((d) => d.affine?.scale) },
      ...batch,
    ];
  if (isDomain(domain)) return [domain, ...batch];
  const bound = (side: "above" | "below") =>
    domain[side] === undefined ? undefined : say((d) => (d.domain as Limits)[side]);
  return [{ above: bound("above"), below: bound("below") }, ...batch];
}

/**
 * Makes a model of statements. The program gets the statements `parameter`, `observe`, `derive` and
 * `factor`, and the data by name; it is written for one chain. The result is a model for
 * `samplePosterior`, `approximate` and `diffeo infer`.
 *
 * @example
 * import { halfNormal, normal } from "diffeo/distribution";
 * import { key } from "diffeo/random";
 *
 * const regression = model(({ parameter, observe }, { X }) => {
 *   const beta = parameter("beta", normal(0, 10), { shape: X.shape[1] });
 *   const sigma = parameter("sigma", halfNormal(10));
 *   observe("y", normal(matvec(X, beta), sigma));
 * });
 * const posterior = await samplePosterior(regression, {
 *   data: { X: rows, y: [1, 2, 3] },
 *   key: key(1),
 * });
 */
export function model(program: Program): StatementModel;
/**
 * Makes a model of statements that declares the shapes of its data. Data are checked against the
 * shapes, and TypeScript knows their names, also under `noUncheckedIndexedAccess`.
 *
 * @param data shapes by name; `[]` is a single number, and `null` stands for any size
 * @example
 * import { normal } from "diffeo/distribution";
 *
 * const line = model({ x: [null], y: [null] }, ({ parameter, observe }, data) => {
 *   const slope = parameter("slope", normal(0, 1));
 *   observe("y", normal(mul(slope, data.x), 1));
 * });
 */
export function model<Name extends string>(
  data: Readonly<Record<Name, readonly (number | null)[]>>,
  program: (statements: Statements, data: Readonly<Record<Name, Tensor>>) => void,
): StatementModel;
export function model(first: Program | DataShapes, second?: Program): StatementModel {
  const program = second ?? (first as Program);
  const shapes = second && (first as DataShapes);
  if (typeof program !== "function")
    fail(
      "usage",
      `model: the program is ${program === null ? "null" : `a ${typeof program}`}`,
      "give a function: model(({ parameter, observe }, data) => …)",
    );
  const runOf = (one: Values, data: Values): Run => run(program, data, ({ name }) => one[name]);
  return {
    program,
    ...(shapes && { data: shapes }),
    parameters: (raw) =>
      Object.fromEntries(
        survey(program, raw, shapes).parameters.map((declared) => [
          declared.name,
          parameterOf(program, declared),
        ]),
      ),
    flat: (raw) =>
      survey(program, raw, shapes)
        .parameters.filter(({ prior }) => !prior)
        .map(({ name }) => name),
    fault: (values, data) => faultOf(() => runOf(values, data)),
    logDensity: (values, data) => vmap((one: Values) => runOf(one, data).logDensity)(values),
    derived: (raw) =>
      Object.fromEntries(
        Object.keys(survey(program, raw, shapes).derived).map((name) => [
          name,
          (values: Values, data: Values) =>
            vmap((one: Values) => runOf(one, data).derived[name])(values),
        ]),
      ),
  };
}
