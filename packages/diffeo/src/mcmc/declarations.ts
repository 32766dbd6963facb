/** A model in statements: what a program may call, and what its run declares. */
import type { Distribution } from "../distribution/index.ts";
import type { Domain } from "../domain/index.ts";
import type { Operand, Shape, Tensor } from "../graph/index.ts";
import type { Values } from "./parameters.ts";

/** A size: a number, or a number among the data. */
export type Size = number | Tensor;

/** The shape of a parameter. */
export interface ParameterOptions {
  /**
   * The shape of its independent values, which the parameters of the distribution broadcast to.
   * Default theirs.
   */
  readonly shape?: Size | readonly Size[];
  /** Where it lives, in place of the distribution's support. The density is not renormalised. */
  readonly domain?: Domain | Limits;
  /**
   * Whether chains move in its own coordinates (default), or in those of (value − location)/scale,
   * which suits groups of which the data say little.
   */
  readonly centred?: boolean;
}

/** Bounds of numbers, which may depend on the parameters before. */
export interface Limits {
  readonly above?: Operand;
  readonly below?: Operand;
}

/** What a model is written in. */
export interface Statements {
  /**
   * An unknown with its prior distribution; of a domain or bounds alone, with a flat density.
   *
   * @returns its value, for one chain
   */
  readonly parameter: (
    name: string,
    prior: Distribution | Domain | Limits,
    options?: ParameterOptions,
  ) => Tensor;
  /** What was observed, and its distribution. Default the data of this name. */
  readonly observe: (name: string, distribution: Distribution, value?: Operand) => void;
  /** A quantity to report besides the parameters. */
  readonly derive: (name: string, value: Operand) => Tensor;
  /** Any other term of the log-density; all its entries are added. */
  readonly factor: (name: string, logDensity: Operand) => void;
}

/** A model as it is written: statements on the data, for one chain. */
export type Program = (statements: Statements, data: Values) => void;

export interface Declaration {
  readonly name: string;
  /** Of the independent values. */
  readonly batch: Shape;
  /** Of the whole value; not known where it depends on data that are inputs of a graph. */
  readonly shape?: Shape;
  readonly domain: Domain | Limits;
  /** Where chains move in other coordinates. */
  readonly affine?: { readonly location: Tensor; readonly scale: Tensor };
  readonly prior?: Distribution;
}

export interface DeclaredParameter extends Declaration {
  readonly value: Tensor;
}

export interface Observation {
  readonly name: string;
  readonly distribution: Distribution;
  /** Absent where a run predicts at data that do not have it. */
  readonly value?: Tensor;
  /** The shape of the independent values. */
  readonly batch: Shape;
}

/** What a run of a program declared. */
export interface Run {
  readonly parameters: readonly DeclaredParameter[];
  readonly observations: readonly Observation[];
  readonly derived: Readonly<Record<string, Tensor>>;
  /** The names of other terms. */
  readonly factors: readonly string[];
  readonly logDensity: Tensor;
}
