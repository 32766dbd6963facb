/**
 * Parses typed expressions such as `−(x1^2 + x2^2)/2` or `x1 + tanh(2 x2)`. A parsed expression
 * builds a tensor, which can be differentiated and compiled, or computes a number. Typed text is
 * never run as a program.
 *
 *   sum     = product (("+" | "-") product)*
 *   product = signed (("*" | "/")? signed)*        adjacent factors are multiplied: 2 x1
 *   signed  = "-" signed | power
 *   power   = atom ("^" signed)?
 *   atom    = number | name | function "(" sum ")" | "(" sum ")"
 */
import {
  abs,
  add,
  asinh,
  cos,
  cosh,
  div,
  exp,
  log,
  log1p,
  mul,
  neg,
  pow,
  sigmoid,
  sin,
  sinh,
  softplus,
  sqrt,
  sub,
  type Tensor,
  tanh,
} from "diffeo/graph";

type Node =
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "call"; readonly name: string; readonly of: Node }
  | { readonly kind: "+" | "-" | "*" | "/" | "^"; readonly left: Node; readonly right: Node };

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

const functions: Readonly<Record<string, readonly [(x: Tensor) => Tensor, (x: number) => number]>> =
  {
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
const constants: Readonly<Record<string, number>> = { pi: Math.PI, e: Math.E };

/** Limits of length and nesting: the text may come from the address of a link. */
const LONGEST = 400;
const DEEPEST = 60;

/** Replaces mathematical characters that people paste. */
const plain = (text: string): string =>
  text
    .replaceAll("−", "-")
    .replaceAll(/[·×]/g, "*")
    .replaceAll("÷", "/")
    .replaceAll("₁", "1")
    .replaceAll("₂", "2");

class NotRead extends Error {
  readonly at: number;
  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

interface Token {
  readonly kind: "number" | "name" | "sign" | "end";
  readonly text: string;
  readonly at: number;
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  const pattern = /\s*(?:(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)|([A-Za-z_]\w*)|([-+*/^()]))/y;
  let at = 0;
  while (text.slice(at).trim() !== "") {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (!found) {
      const place = at + text.slice(at).search(/\S/);
      throw new NotRead(`“${text[place]}” cannot be used in an expression`, place);
    }
    const [whole, number, name, sign] = found;
    const word = number ?? name ?? sign;
    const kind = number !== undefined ? "number" : name !== undefined ? "name" : "sign";
    tokens.push({ kind, text: word, at: at + whole.length - word.length });
    at += whole.length;
  }
  return [...tokens, { kind: "end", text: "", at: text.trimEnd().length }];
}

function nodeOf(tokens: readonly Token[], names: readonly string[]): Node {
  let next = 0;
  let depth = 0;
  const peek = (): Token => tokens[next];
  const taken = (signs: string): Token | undefined =>
    peek().kind === "sign" && signs.includes(peek().text) ? tokens[next++] : undefined;
  const shown = ({ kind, text }: Token): string =>
    kind === "end" ? "the expression ends" : `found “${text}”`;

  const sum = (): Node => {
    if (++depth > DEEPEST) throw new NotRead(`more than ${DEEPEST} levels of nesting`, peek().at);
    let left = product();
    for (let sign = taken("+-"); sign; sign = taken("+-"))
      left = { kind: sign.text as "+" | "-", left, right: product() };
    depth--;
    return left;
  };
  const product = (): Node => {
    let left = signed();
    for (;;) {
      const sign = taken("*/");
      const beside = peek().kind === "number" || peek().kind === "name" || peek().text === "(";
      if (!sign && !beside) return left;
      left = { kind: (sign?.text ?? "*") as "*" | "/", left, right: signed() };
    }
  };
  const signed = (): Node => {
    if (++depth > DEEPEST) throw new NotRead(`more than ${DEEPEST} levels of nesting`, peek().at);
    const node: Node = taken("-")
      ? { kind: "*", left: { kind: "number", value: -1 }, right: signed() }
      : taken("+")
        ? signed()
        : power();
    depth--;
    return node;
  };
  const power = (): Node => {
    const left = atom();
    return taken("^") ? { kind: "^", left, right: signed() } : left;
  };
  const closed = (open: Token): Node => {
    const inner = sum();
    if (!taken(")"))
      throw new NotRead(
        `the bracket at character ${open.at + 1} is not closed: ${shown(peek())}`,
        peek().at,
      );
    return inner;
  };
  const atom = (): Node => {
    const token = peek();
    if (token.kind === "number") {
      next++;
      return { kind: "number", value: Number(token.text) };
    }
    const open = taken("(");
    if (open) return closed(open);
    if (token.kind !== "name")
      throw new NotRead(`expected a number, a name or a bracket, but ${shown(token)}`, token.at);
    next++;
    if (Object.hasOwn(functions, token.text)) {
      const bracket = taken("(");
      if (!bracket)
        throw new NotRead(
          `${token.text} needs brackets, as in ${token.text}(${names[0]})`,
          peek().at,
        );
      return { kind: "call", name: token.text, of: closed(bracket) };
    }
    if (names.includes(token.text)) return { kind: "name", name: token.text };
    if (Object.hasOwn(constants, token.text))
      return { kind: "number", value: constants[token.text] };
    throw new NotRead(
      `unknown name “${token.text}”; use ${names.join(", ")}, pi, e and ${Object.keys(functions).join(", ")}`,
      token.at,
    );
  };

  const node = sum();
  if (peek().kind !== "end")
    throw new NotRead(`expected the end of the expression, but ${shown(peek())}`, peek().at);
  return node;
}

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
    const node = nodeOf(tokensOf(text), names);
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
