/** The functions and constants of typed expressions. */
import {
  abs,
  asinh,
  cos,
  cosh,
  div,
  exp,
  log,
  log1p,
  sigmoid,
  sin,
  sinh,
  softplus,
  sqrt,
  type Tensor,
  tanh,
} from "diffeo/graph";

/** Each function for tensors and for numbers. */
export const functions: Readonly<
  Record<string, readonly [(x: Tensor) => Tensor, (x: number) => number]>
> = {
  exp: [exp, Math.exp],
  log: [log, Math.log],
  log1p: [log1p, Math.log1p],
  sqrt: [sqrt, Math.sqrt],
  sin: [sin, Math.sin],
  cos: [cos, Math.cos],
  tan: [(x) => div(sin(x), cos(x)), Math.tan],
  sinh: [sinh, Math.sinh],
  cosh: [cosh, Math.cosh],
  tanh: [tanh, Math.tanh],
  asinh: [asinh, Math.asinh],
  sigmoid: [sigmoid, (x) => 1 / (1 + Math.exp(-x))],
  softplus: [softplus, (x) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)))],
  abs: [abs, Math.abs],
};

export const constants: Readonly<Record<string, number>> = { pi: Math.PI, e: Math.E };
