/** Statements of a model: the functions that a program may call, and the results of a run. */
import type { Distribution } from "../distribution/index.ts";
import type { Domain } from "../domain/index.ts";
import type { Operand, Shape, Tensor } from "../graph/index.ts";
import type { Values } from "./parameters.ts";

/** A size: an integer, or a number from the data. */
export type Size = number | Tensor;

/** Options of `parameter`: its shape, domain and parameterisation. */
export interface ParameterOptions {
  /**
   * The shape of the independent values, to which the parameters of the distribution broadcast.
   * Default: the shape of these parameters.
   */
  readonly shape?: Size | readonly Size[];
  /** A domain that replaces the support of the distribution. The density is not renormalised. */
  readonly domain?: Domain | Limits;
  /**
   * Whether chains use the parameter's own coordinates (default). With `false` they use (value −
   * location)/scale, the non-centred parameterisation, which is better for groups with few data.
   */
  readonly centred?: boolean;
}

/** Bounds of a parameter, which may depend on the parameters declared before. */
export interface Limits {
  readonly above?: Operand;
  readonly below?: Operand;
}

/** The statements of a model. */
export interface Statements {
  /**
   * Declares a parameter with its prior distribution. A domain or bounds instead of a distribution
   * mean a flat density on them.
   *
   * @returns its value, for one chain
   */
  readonly parameter: (
    name: string,
    prior: Distribution | Domain | Limits,
    options?: ParameterOptions,
  ) => Tensor;
  /** Adds the likelihood of observed values. The default of `value` is the data of this name. */
  readonly observe: (name: string, distribution: Distribution, value?: Operand) => void;
  /** Reports a quantity in addition to the parameters. */
  readonly derive: (name: string, value: Operand) => Tensor;
  /** Adds any other term to the log-density; its entries are summed. */
  readonly factor: (name: string, logDensity: Operand) => void;
}

/** The function of a model: it calls statements and gets the data by name, for one chain. */
export type Program = (statements: Statements, data: Values) => void;

export interface Declaration {
  readonly name: string;
  /** The shape of the independent values. */
  readonly batch: Shape;
  /** The shape of the whole value; undefined if it depends on data that are inputs of a graph. */
  readonly shape?: Shape;
  readonly domain: Domain | Limits;
  /** Set if chains use standardised coordinates. */
  readonly affine?: { readonly location: Tensor; readonly scale: Tensor };
  readonly prior?: Distribution;
}

export interface DeclaredParameter extends Declaration {
  readonly value: Tensor;
}

export interface Observation {
  readonly name: string;
  readonly distribution: Distribution;
  /** Undefined if a run predicts it and the data do not have it. */
  readonly value?: Tensor;
  /** The shape of the independent values. */
  readonly batch: Shape;
}

/** The result of a run of a program. */
export interface Run {
  readonly parameters: readonly DeclaredParameter[];
  readonly observations: readonly Observation[];
  readonly derived: Readonly<Record<string, Tensor>>;
  /** The names of the `factor` statements. */
  readonly factors: readonly string[];
  readonly logDensity: Tensor;
}
