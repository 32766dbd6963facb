/**
 * Typed expressions such as `−(x1^2 + x2^2)/2` or `x1 + tanh(2 x2)`. An expression builds a tensor,
 * which can be differentiated and compiled, or computes a number. Typed text is never run as a
 * program.
 */
import { add, div, mul, neg, pow, sub, type Tensor } from "diffeo/graph";
import { functions } from "./functions.ts";
import { type Node, NotRead, parseNode } from "./parser.ts";

/** An error, and the index of its character. */
export interface Misread {
  readonly message: string;
  readonly at: number;
}

export interface Expression {
  /** Its value for tensors of one shape. */
  readonly build: (names: Readonly<Record<string, Tensor>>) => Tensor;
  /** Its value for numbers. */
  readonly value: (names: Readonly<Record<string, number>>) => number;
}

/** The most characters: the text may come from the address of a link. */
const LONGEST = 400;

/** Replaces mathematical characters that people paste. */
const plain = (text: string): string =>
  text
    .replaceAll("−", "-")
    .replaceAll(/[·×]/g, "*")
    .replaceAll("÷", "/")
    .replaceAll("₁", "1")
    .replaceAll("₂", "2");

/** A tensor, or a number if the part contains no variable. */
type Part = Tensor | number;
const isNumber = (part: Part): part is number => typeof part === "number";

/** aⁿ: integer powers as products, which are defined for negative bases too. */
function powerOf(base: Part, exponent: Part): Part {
  if (isNumber(base) && isNumber(exponent)) return base ** exponent;
  if (
    !isNumber(exponent) ||
    isNumber(base) ||
    !Number.isInteger(exponent) ||
    Math.abs(exponent) > 16
  )
    return pow(base, exponent);
  if (exponent === 0) return 1;
  let product: Tensor = base;
  for (let k = 1; k < Math.abs(exponent); k++) product = mul(product, base);
  return exponent < 0 ? div(1, product) : product;
}

function built(node: Node, names: Readonly<Record<string, Tensor>>): Part {
  if (node.kind === "number") return node.value;
  if (node.kind === "name") return names[node.name];
  if (node.kind === "call") {
    const inner = built(node.of, names);
    const [ofTensor, ofNumber] = functions[node.name];
    return isNumber(inner) ? ofNumber(inner) : ofTensor(inner);
  }
  const [left, right] = [built(node.left, names), built(node.right, names)];
  if (node.kind === "^") return powerOf(left, right);
  if (isNumber(left) && isNumber(right))
    return numberOf({ ...node, left: literal(left), right: literal(right) }, {});
  if (node.kind === "*" && left === -1) return neg(right as Tensor);
  return { "+": add, "-": sub, "*": mul, "/": div }[node.kind](left, right);
}
const literal = (value: number): Node => ({ kind: "number", value });

function numberOf(node: Node, names: Readonly<Record<string, number>>): number {
  if (node.kind === "number") return node.value;
  if (node.kind === "name") return names[node.name];
  if (node.kind === "call") return functions[node.name][1](numberOf(node.of, names));
  const [left, right] = [numberOf(node.left, names), numberOf(node.right, names)];
  if (node.kind === "+") return left + right;
  if (node.kind === "-") return left - right;
  if (node.kind === "*") return left * right;
  return node.kind === "/" ? left / right : left ** right;
}

/** Parses an expression in the given names; returns the error if it cannot be read. */
export function parseExpression(typed: string, names: readonly string[]): Expression | Misread {
  const text = plain(typed);
  if (text.trim() === "")
    return { message: `Type an expression in ${names.join(" and ")}.`, at: 0 };
  if (text.length > LONGEST)
    return {
      message: `The expression has ${text.length} characters; the limit is ${LONGEST}.`,
      at: LONGEST,
    };
  try {
    const node = parseNode(text, names);
    return {
      build: (given) => {
        const part = built(node, given);
        // A constant takes the shape of the variables.
        return isNumber(part) ? add(mul(Object.values(given)[0], 0), part) : part;
      },
      value: (given) => numberOf(node, given),
    };
  } catch (error) {
    if (!(error instanceof NotRead)) throw error;
    return { message: `Character ${error.at + 1}: ${error.message}.`, at: error.at };
  }
}

export const isMisread = (parsed: Expression | Misread): parsed is Misread => "message" in parsed;
