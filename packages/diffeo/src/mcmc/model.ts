/**
 * Binds a model of constrained parameters to its data: the target of the chains in free
 * coordinates, and the parameters' values at their draws:
 *
 *   log p(x) = log p(φ(x), data) + log|det J_φ(x)|        x ↦ φ(x), and quantities derived from it
 */

import type { ParameterFault } from "../distribution/index.ts";
import { type CompileOptions, compile } from "../engine/index.ts";
import { constant, fail, type NdArray, type Shape, sizeOf, type Tensor } from "../graph/index.ts";
import { mapValues, moveOtherRows, requireIndependentRows } from "../host/index.ts";
import { callModel } from "./call-model.ts";
import type { ChainTarget } from "./chain-step.ts";
import type { Data, DataShapes } from "./data.ts";
import { derivedValues, freeLogDensity } from "./free-log-density.ts";
import {
  type Parameter,
  type ParameterSpace,
  parameterSpace,
  requireName,
  type Values,
} from "./parameters.ts";

/** Parameters of a model by name. */
export type Parameters = Readonly<Record<string, Parameter>>;
type Derived = Readonly<Record<string, (values: Values, data: Values) => Tensor>>;

/**
 * A model given by its parameters, with their domains, and a log-density. `model` makes one from
 * statements.
 */
export interface PosteriorModel {
  /** Parameters by name; a function of the data if sizes depend on them. */
  readonly parameters: Parameters | ((data: Data) => Parameters);
  /**
   * log p up to a constant, one number per chain, as a function of parameters [chains, …] and the
   * data.
   */
  readonly logDensity: (values: Values, data: Values) => Tensor;
  /** Other quantities to report, as functions of the parameters: [chains, …]. */
  readonly derived?: Derived | ((data: Data) => Derived);
  /** Names of the parameters without a prior; warnings name them if chains do not agree. */
  readonly flat?: (data: Data) => readonly string[];
  /** Describes what is wrong at values of the parameters, for errors; undefined if nothing is. */
  readonly fault?: (values: Values, data: Values) => ParameterFault | undefined;
  /** Shapes of the data, which are checked. Default: any. */
  readonly data?: DataShapes;
}

/**
 * A `PosteriorModel` whose parameters and derived quantities are typed by their names, also under
 * `noUncheckedIndexedAccess`.
 */
export interface NamedModel<P extends Parameters, D extends string = never>
  extends Pick<PosteriorModel, "data" | "flat"> {
  readonly parameters: P;
  readonly logDensity: (values: NamedValues<P>, data: Values) => Tensor;
  readonly derived?: Readonly<Record<D, (values: NamedValues<P>, data: Values) => Tensor>>;
}

/** Tensors by the names of parameters. */
export type NamedValues<P> = Readonly<Record<keyof P & string, Tensor>>;

/** Draws of one quantity, [chains, draws, …shape]. */
export interface PosteriorDraws {
  readonly shape: Shape;
  readonly data: Float64Array;
}

type DataArrays = Readonly<Record<string, NdArray>>;

export interface BoundModel {
  readonly space: ParameterSpace;
  readonly target: ChainTarget;
  readonly data: DataArrays;
  /** Parameters without a prior. */
  readonly flat: readonly string[];
  /** The data, if they are inputs of the graphs; empty if they are constants. */
  readonly inputs: DataArrays;
  /** Maps draws of free coordinates, one array per chain, to values by name. */
  readonly show: (chains: readonly Float64Array[]) => Promise<Record<string, PosteriorDraws>>;
  /** Describes what is wrong at a point of free coordinates, if the model knows. */
  readonly faultAt: (x: Float64Array) => Promise<ParameterFault | undefined>;
  /** The same model and graphs with other data of the same shapes. */
  readonly with: (data: DataArrays) => BoundModel;
  readonly dispose: () => Promise<void>;
}

interface BindOptions extends Pick<CompileOptions, "device" | "threads"> {
  /** The name of a row of points in errors. */
  readonly row?: "chain" | "draw";
}

/** Names of derived quantities must not be names of parameters. */
function requireDerivedNames(names: readonly string[], { parts }: ParameterSpace): void {
  for (const name of names) {
    requireName(name);
    if (parts.some((part) => part.name === name))
      fail("usage", `"${name}" is a parameter and a derived quantity`, "rename one of them");
  }
}

/** @param asInputs whether data are inputs or constants of the graphs */
export function boundModel(
  model: PosteriorModel,
  raw: Data,
  data: DataArrays,
  asInputs: boolean,
  { device, threads = 1, row = "chain" }: BindOptions,
): BoundModel {
  const { parameters, derived: reported = {} } = model;
  const derived = typeof reported === "function" ? reported(raw) : reported;
  const space = parameterSpace(typeof parameters === "function" ? parameters(raw) : parameters);
  requireDerivedNames(Object.keys(derived), space);
  const flat = model.flat?.(raw) ?? [];
  const constants = (): Values => mapValues(data, (array) => constant(array, "float64"));
  const seen = (inputs: Values): Values => (asInputs ? inputs : constants());
  const shapes = asInputs ? mapValues(data, ({ shape }) => shape.map(() => null)) : {};
  const logDensity: ChainTarget["logDensity"] = (x, inputs) => {
    const ownRows = Object.values(inputs).some(({ shape }) => shape[0] === x.shape[0]);
    const ofValues = (values: Values): Tensor =>
      callModel("the log-density", model.logDensity, values, seen(inputs));
    return freeLogDensity(space, ofValues, seen(inputs), row, ownRows)(x);
  };
  const shown = compile(
    (inputs: Values, x: Tensor) => {
      const quantities = mapValues(
        derived,
        (f, name) => (values: Values) => callModel(`derived "${name}"`, f, values, seen(inputs)),
      );
      return derivedValues(space, quantities, x, seen(inputs));
    },
    [shapes, [null, space.dimension]],
    { type: "float64", threads, device },
  );
  const withData = (now: DataArrays): BoundModel => {
    const inputs = asInputs ? now : {};
    const valuesAt = (x: Float64Array): Promise<DataArrays> => shown(inputs, x);
    return {
      space,
      target: { size: space.dimension, logDensity, inputs: shapes },
      data: now,
      flat,
      inputs,
      show: (chains) => drawsOf(chains, Object.keys(derived), valuesAt),
      faultAt: async (x) => faultOf(model, await valuesAt(x), now),
      with: withData,
      dispose: () => shown.dispose(),
    };
  };
  return withData(data);
}

/** Maps draws of free coordinates, one array per chain, to values by name. */
async function drawsOf(
  chains: readonly Float64Array[],
  derived: readonly string[],
  valuesAt: (x: Float64Array) => Promise<DataArrays>,
): Promise<Record<string, PosteriorDraws>> {
  const found: Record<string, PosteriorDraws> = {};
  for (const [c, x] of chains.entries()) {
    const values = await valuesAt(x);
    for (const [name, { shape, data }] of Object.entries(values)) {
      const size = sizeOf(shape);
      found[name] ??= {
        shape: [chains.length, ...shape],
        data: new Float64Array(chains.length * size),
      };
      found[name].data.set(data as Float64Array, c * size);
    }
    if (c === 0) await requireOwnDraws(x, values, derived, valuesAt);
  }
  return found;
}

/** What a model finds wrong at values of one chain. */
function faultOf(
  { fault }: PosteriorModel,
  values: DataArrays,
  data: DataArrays,
): ParameterFault | undefined {
  const ofChain = ({ shape, data: numbers }: NdArray): Tensor =>
    constant({ shape: shape.slice(1), dtype: "float64", data: numbers }, "float64");
  return fault?.(
    mapValues(values, ofChain),
    mapValues(data, (array) => constant(array, "float64")),
  );
}

/** Derived quantities of a draw must not depend on other draws of the chain. */
async function requireOwnDraws(
  rows: Float64Array,
  values: DataArrays,
  derived: readonly string[],
  shown: (rows: Float64Array) => Promise<DataArrays>,
): Promise<void> {
  if (derived.length === 0) return;
  const said = (found: DataArrays) =>
    Object.fromEntries(
      derived.map((name) => [`derived "${name}"`, found[name].data as Float64Array]),
    );
  const draws = Object.values(values)[0].shape[0];
  const [some, others] = moveOtherRows(rows, rows.length / draws);
  requireIndependentRows(
    said(values),
    [said(await shown(some)), said(await shown(others))],
    draws,
    "draw",
  );
}

/** How many numbers of an array errors show. */
const SHOWN = 4;

/** The parameters' values at a point of free coordinates, as text. */
export async function placeInWords(model: BoundModel, x: Float64Array): Promise<string> {
  const values = await model.show([x]);
  const number = (v: number): string => String(Number(v.toPrecision(6)));
  return model.space.parts
    .map(({ name }) => {
      const { shape, data } = values[name];
      const numbers = Array.from(data.subarray(0, SHOWN), number);
      const more = data.length > SHOWN ? ", …" : "";
      return `${name} = ${shape.length > 2 ? `[${numbers.join(", ")}${more}]` : numbers[0]}`;
    })
    .join(", ");
}
