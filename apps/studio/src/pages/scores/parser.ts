/**
 * Parses an expression into a tree.
 *
 *   sum     = product (("+" | "-") product)*
 *   product = signed (("*" | "/")? signed)*        adjacent factors are multiplied: 2 x1
 *   signed  = "-" signed | power
 *   power   = atom ("^" signed)?
 *   atom    = number | name | function "(" sum ")" | "(" sum ")"
 */
import { constants, functions } from "./functions.ts";

export type Node =
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "call"; readonly name: string; readonly of: Node }
  | { readonly kind: "+" | "-" | "*" | "/" | "^"; readonly left: Node; readonly right: Node };

/** The deepest nesting: the text may come from the address of a link. */
const DEEPEST = 60;

/** A syntax error and the index of its character. */
export class NotRead extends Error {
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

/** The tokens of an expression, and the place of the parser in them. */
interface Cursor {
  readonly tokens: readonly Token[];
  /** The names of variables. */
  readonly names: readonly string[];
  next: number;
  depth: number;
}

const peek = ({ tokens, next }: Cursor): Token => tokens[next];

/** The next token if it is one of these signs; the cursor moves past it. */
function takeSign(c: Cursor, signs: string): Token | undefined {
  const token = peek(c);
  if (token.kind !== "sign" || !signs.includes(token.text)) return undefined;
  c.next++;
  return token;
}

const shown = ({ kind, text }: Token): string =>
  kind === "end" ? "the expression ends" : `found “${text}”`;

function enter(c: Cursor): void {
  if (++c.depth > DEEPEST) throw new NotRead(`more than ${DEEPEST} levels of nesting`, peek(c).at);
}

function parseSum(c: Cursor): Node {
  enter(c);
  let left = parseProduct(c);
  for (let sign = takeSign(c, "+-"); sign; sign = takeSign(c, "+-"))
    left = { kind: sign.text as "+" | "-", left, right: parseProduct(c) };
  c.depth--;
  return left;
}

function parseProduct(c: Cursor): Node {
  let left = parseSigned(c);
  for (;;) {
    const sign = takeSign(c, "*/");
    const { kind, text } = peek(c);
    const isFactor = kind === "number" || kind === "name" || text === "(";
    if (!sign && !isFactor) return left;
    left = { kind: (sign?.text ?? "*") as "*" | "/", left, right: parseSigned(c) };
  }
}

function parseSigned(c: Cursor): Node {
  enter(c);
  const node: Node = takeSign(c, "-")
    ? { kind: "*", left: { kind: "number", value: -1 }, right: parseSigned(c) }
    : takeSign(c, "+")
      ? parseSigned(c)
      : parsePower(c);
  c.depth--;
  return node;
}

function parsePower(c: Cursor): Node {
  const left = parseAtom(c);
  return takeSign(c, "^") ? { kind: "^", left, right: parseSigned(c) } : left;
}

/** The rest of a bracket that `open` opened. */
function parseBracket(c: Cursor, open: Token): Node {
  const inner = parseSum(c);
  if (!takeSign(c, ")"))
    throw new NotRead(
      `the bracket at character ${open.at + 1} is not closed: ${shown(peek(c))}`,
      peek(c).at,
    );
  return inner;
}

function parseAtom(c: Cursor): Node {
  const token = peek(c);
  const { kind, text, at: place } = token;
  if (kind === "number") {
    c.next++;
    return { kind: "number", value: Number(text) };
  }
  const open = takeSign(c, "(");
  if (open) return parseBracket(c, open);
  if (kind !== "name")
    throw new NotRead(`expected a number, a name or a bracket, but ${shown(token)}`, place);
  c.next++;
  if (Object.hasOwn(functions, text)) {
    const bracket = takeSign(c, "(");
    if (!bracket)
      throw new NotRead(`${text} needs brackets, as in ${text}(${c.names[0]})`, peek(c).at);
    return { kind: "call", name: text, of: parseBracket(c, bracket) };
  }
  if (c.names.includes(text)) return { kind: "name", name: text };
  if (Object.hasOwn(constants, text)) return { kind: "number", value: constants[text] };
  throw new NotRead(
    `unknown name “${text}”; use ${c.names.join(", ")}, pi, e and ` +
      `${Object.keys(functions).join(", ")}`,
    place,
  );
}

/**
 * Parses a text with the given names of variables.
 * @throws {NotRead} if the text is not an expression
 */
export function parseNode(text: string, names: readonly string[]): Node {
  const c: Cursor = { tokens: tokensOf(text), names, next: 0, depth: 0 };
  const node = parseSum(c);
  if (peek(c).kind !== "end")
    throw new NotRead(`expected the end of the expression, but ${shown(peek(c))}`, peek(c).at);
  return node;
}
