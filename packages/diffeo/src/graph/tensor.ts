/**
 * A tensor is an expression: an operation, its inputs, a static shape and an element type.
 *
 * A program builds a directed acyclic graph of tensors, without computing anything. The graph is
 * differentiated, simplified and written as ONNX, or evaluated in float64 by the reference. Each
 * primitive is one object with its shape rule, derivative, ONNX emission and reference evaluation.
 */
import type { Emitter, OnnxModel } from "./emitter.ts";
import { fail } from "./error.ts";
import {
  convert,
  convertExact,
  type DType,
  flattenNested,
  holds,
  isFloat,
  isNdArray,
  type NdArray,
  type Nested,
  type Shape,
  showShape,
  sizeOf,
} from "./ndarray.ts";
import { catchSlips } from "./slips.ts";

type AttributeValue = number | string | boolean | readonly number[] | NdArray;
/** The attributes of a node, in addition to its inputs. */
export type Attributes = Readonly<Record<string, AttributeValue>>;

/**
 * A tensor: a node of a graph, with a static shape and element type. It is a class for its
 * identity: two tensors are the same value only if they are the same node.
 */
export class Tensor<A extends Attributes = Attributes> {
  readonly op: Primitive;
  readonly inputs: readonly Tensor[];
  readonly attributes: A;
  readonly shape: Shape;
  readonly dtype: DType;

  constructor(op: Primitive, inputs: readonly Tensor[], attributes: A, shape: Shape, dtype: DType) {
    this.op = op;
    this.inputs = inputs;
    this.attributes = attributes;
    this.shape = shape;
    this.dtype = dtype;
  }

  /** JavaScript calls this in `a * b`. A tensor has no numbers yet, so the result would be NaN. */
  [Symbol.toPrimitive](hint: string): string {
    if (hint === "string") return `[tensor of shape ${showShape(this.shape)}]`;
    return fail(
      "usage",
      "a tensor is used as a plain number, with +, −, *, /, < or >, or in a function of " + "Math",
      "write add(a, b), mul(a, b), less(a, b), exp(a) and so on",
    );
  }
}

catchSlips(Tensor.prototype, (problem, remedy) => fail("usage", problem, remedy));

/** The kind of device for which a graph is optimised. */
export type Target = "cpu" | "gpu";

/** An operation: its shape rule, derivative, ONNX emission and reference evaluation. */
export interface Primitive<A extends Attributes = Attributes> {
  readonly name: string;
  /**
   * The shape and type of the result; throws an error with the operation, the shapes and the
   * remedy.
   */
  readonly infer: (
    inputs: readonly Tensor[],
    attributes: A,
  ) => { readonly shape: Shape; readonly dtype: DType };
  /**
   * The cotangent of input `i` given the cotangent `g` of the node, in primitives, so that it can
   * be differentiated again. Undefined means 0; a primitive without this rule is constant almost
   * everywhere.
   */
  readonly vjp?: (g: Tensor, node: Tensor<A>, i: number) => Tensor | undefined;
  /** Writes ONNX nodes and returns the name of the result. */
  readonly emit: (node: Tensor<A>, inputs: readonly string[], emitter: Emitter) => string;
  /**
   * The value in float64 (integers and booleans as float64 too), row-major. The oracle of the
   * tests.
   */
  readonly evaluate: (node: Tensor<A>, inputs: readonly Float64Array[]) => Float64Array;
  /** An equal and cheaper expression of the same shape and type, if there is one. */
  readonly simplify?: (node: Tensor<A>) => Tensor | undefined;
  /**
   * An equal expression in other primitives, for operations that ONNX or a target does not have.
   */
  readonly lower?: (node: Tensor<A>, target: Target) => Tensor | undefined;
  /**
   * The operation on a batch, for `vmap`: `mapped` inputs, at least one, have an additional first
   * axis of the same size, and so has the result. Default: one node per entry of the batch, which
   * is usually slow.
   */
  readonly batch?: (
    node: Tensor<A>,
    inputs: readonly Tensor[],
    mapped: readonly boolean[],
  ) => Tensor;
  /** The function outside of graphs that computes it; graphs are split there. */
  readonly outside?: Outside;
}

/** An opened function outside of graphs, which runs on arrays. */
export interface OutsideCall {
  run(inputs: readonly NdArray[]): Promise<NdArray>;
  dispose(): Promise<void>;
}

/** The device of the surrounding graphs, so that an ONNX file can run there, too. */
export interface Place {
  /** The name of the device and of all options that determine sessions. */
  readonly name: string;
  /** Starts a session of ONNX bytes there. */
  readonly start: (model: OnnxModel) => Promise<{
    run(feeds: Readonly<Record<string, NdArray>>): Promise<Record<string, NdArray>>;
    dispose(): Promise<void>;
  }>;
}

/** A function that is called between graphs. */
export interface Outside {
  readonly open: (place: Place) => Promise<OutsideCall>;
}

/** The constructor of a primitive's nodes, with the primitive. */
export interface Make<A extends Attributes = Attributes> {
  (inputs: readonly Tensor[], attributes: A): Tensor;
  readonly op: Primitive;
}

/**
 * Defines a primitive: shape rule, derivative, ONNX and evaluation in one object. Returns the
 * constructor of its nodes.
 */
export function primitive<A extends Attributes>(definition: Primitive<A>): Make<A> {
  const op = definition as unknown as Primitive;
  const make = (inputs: readonly Tensor[], attributes: A): Tensor => {
    const { shape, dtype } = definition.infer(inputs, attributes);
    return new Tensor(op, inputs, attributes, shape, dtype);
  };
  return Object.assign(make, { op });
}

/** The same operation on other inputs. */
export function rebuild(node: Tensor, inputs: readonly Tensor[]): Tensor {
  const { shape, dtype } = node.op.infer(inputs, node.attributes);
  return new Tensor(node.op, inputs, node.attributes, shape, dtype);
}

declare const matched: unique symbol;

/** Whether a node is of a primitive; narrows the type of its attributes. */
export const is = <A extends Attributes>(
  node: Tensor,
  make: Make<A>,
): node is Tensor<A> & { readonly [matched]: true } => node.op === make.op;

const inputNode = primitive<{ name: string; shape: Shape; dtype: DType }>({
  name: "input",
  infer: (_, { shape, dtype }) => ({ shape, dtype }),
  emit: ({ attributes }) => attributes.name,
  evaluate: ({ attributes }) =>
    fail("usage", `input "${attributes.name}" has no value`, "pass one to evaluate"),
});

/** An input of a graph. */
export function input(name: string, shape: Shape, dtype: DType = "float32"): Tensor {
  if (shape.some((d) => !Number.isInteger(d) || d < 0))
    fail(
      "shape",
      `input "${name}": ${showShape(shape)} is not a shape`,
      "give integers of at least 0",
    );
  return inputNode([], { name, shape, dtype });
}

export const isInput = (t: Tensor): t is Tensor<{ name: string; shape: Shape; dtype: DType }> =>
  is(t, inputNode);

const constantNode = primitive<{ value: NdArray }>({
  name: "constant",
  infer: (_, { value }) => value,
  emit: ({ attributes: { value } }, _, emitter) => emitter.constant(value),
  evaluate: ({ attributes: { value } }) => convert(value.data, "float64") as Float64Array,
});

/**
 * A constant tensor. Numbers and arrays in operations need no `constant`; they get the type of the
 * other operand.
 */
export function constant(
  value: Nested | NdArray | Float64Array | Float32Array,
  dtype: DType = "float32",
): Tensor {
  if (isNdArray(value) && value.dtype === dtype) return constantNode([], { value });
  const flat = value instanceof Float64Array || value instanceof Float32Array;
  const { shape, data } = flat
    ? { shape: [value.length], data: value }
    : isNdArray(value)
      ? value
      : flattenNested(value);
  return constantNode([], { value: { shape, dtype, data: convertExact(data, dtype, "constant") } });
}

export const constantValue = (t: Tensor): NdArray | undefined =>
  is(t, constantNode) ? t.attributes.value : undefined;

/**
 * The number of a constant whose elements are all equal, else undefined. Used by algebraic
 * identities.
 */
export function uniformValue(t: Tensor): number | undefined {
  const value = constantValue(t);
  if (value === undefined || value.data.length === 0) return undefined;
  const first = value.data[0];
  // Only small arrays are scanned, because large ones are rarely uniform.
  if (value.data.length > 4096) return undefined;
  for (const v of value.data) if (!Object.is(v, first)) return undefined;
  return Number(first);
}

/** A tensor of the given shape with one value everywhere. */
export const fill = (shape: Shape, value: number, dtype: DType): Tensor =>
  constantNode([], {
    value: { shape, dtype, data: convert(new Float64Array(sizeOf(shape)).fill(value), dtype) },
  });

/** Zeros with the shape and the type of a tensor. */
export const zerosLike = (t: Tensor): Tensor => fill(t.shape, 0, t.dtype);
/** Ones with the shape and the type of a tensor. */
export const onesLike = (t: Tensor): Tensor => fill(t.shape, 1, t.dtype);

/** An operand of an operation: a tensor, or numbers, which get the type of the other operand. */
export type Operand = Tensor | Nested | NdArray;

export function asTensor(value: Operand, like?: DType): Tensor {
  if (value instanceof Tensor) return value;
  return constant(value, like ?? (isNdArray(value) ? value.dtype : "float32"));
}

/**
 * Converts two operands to the same type. Tensors of different types are an error. An array gets
 * the type of the other tensor if that type can represent all its numbers, and plain numbers get
 * the type of the other operand.
 */
export function asTensors(a: Operand, b: Operand, operation: string): [Tensor, Tensor] {
  const beside = (value: Operand, other: Operand): Tensor => {
    const typed = other instanceof Tensor || isNdArray(other) ? other.dtype : undefined;
    if (value instanceof Tensor || !isNdArray(value)) return asTensor(value, typed);
    return asTensor(
      value,
      other instanceof Tensor && holds(other.dtype, value.dtype) ? other.dtype : value.dtype,
    );
  };
  const pair: [Tensor, Tensor] = [beside(a, b), beside(b, a)];
  if (pair[0].dtype !== pair[1].dtype)
    fail(
      "type",
      `${operation}: operands are ${pair[0].dtype} and ${pair[1].dtype}`,
      "cast one of them",
    );
  return pair;
}

export function requireNumbers(t: Tensor, operation: string): void {
  if (t.dtype === "bool")
    fail(
      "type",
      `${operation}: the operand is bool, not a number`,
      "cast it to a float or an integer type",
    );
}

export function requireFloat(t: Tensor, operation: string): void {
  if (!isFloat(t.dtype))
    fail(
      "type",
      `${operation}: the operand is ${t.dtype}, not a float type`,
      "cast it to float32 or float64",
    );
}
